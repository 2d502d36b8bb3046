// The running stack that the tests use: where it is, who asks, and what its logs hold.
import { readFile } from 'node:fs/promises'

/** The addresses that `steadfast dev --info` wrote. */
export const there = process.env.STEADFAST_INFO ? JSON.parse(await readFile(process.env.STEADFAST_INFO)) : {}

/** A token of a user of the development pool. */
export async function token(user = 'ada') {
  const response = await fetch(`${there.http}/_dev/token?user=${user}`, { method: 'POST' })
  return (await response.json()).token
}

/** The turns of a session as its log tells them. */
export async function stored(session, jwt) {
  const response = await fetch(`${there.http}/agent/sessions/${session}/events`, { headers: { authorization: `Bearer ${jwt}` } })
  if (!response.ok) throw new Error(`events: ${response.status} ${await response.text()}`)
  const turns = new Map()
  for (const line of (await response.text()).split('\n').filter(Boolean)) {
    const { type, turnId, data } = JSON.parse(line)
    if (!turnId) continue
    if (!turns.has(turnId)) turns.set(turnId, { asked: [], text: '', tools: [], status: 'running', pieces: '' })
    tell(turns.get(turnId), type, data)
  }
  return [...turns.values()].map(({ pieces, ...turn }) => turn)
}

function tell(turn, type, data) {
  switch (type) {
    case 'message.received': return turn.asked.push(data.text)
    case 'step.started': return turn.pieces = ''
    case 'message.appended': return turn.pieces += data.delta
    case 'message.completed': return [turn.text, turn.pieces] = [turn.text + data.text, '']
    case 'actions.requested': return turn.tools.push(...data.calls.map(c => c.name))
    case 'turn.completed': return turn.status = 'complete'
    case 'turn.failed': return [turn.text, turn.status] = [turn.text + turn.pieces, 'failed']
  }
}

/** Kills the workers in the middle of what they do, and lets an hour pass for the session. */
export async function kill(session) {
  await fetch(`${there.http}/_dev/kill?function=run-turn`, { method: 'POST' })
  const then = Date.now() - 3600e3
  await aws('/', {
    TableName: there.table,
    Key: { pk: { S: `SESSION#${session}` }, sk: { S: 'STATE' } },
    UpdateExpression: 'SET #l = :l, #d = :d',
    ExpressionAttributeNames: { '#l': 'leaseUntil', '#d': 'dueSk' },
    ExpressionAttributeValues: { ':l': { N: String(then) }, ':d': { S: String(then).padStart(13, '0') } },
  }, { 'x-amz-target': 'DynamoDB_20120810.UpdateItem', 'content-type': 'application/x-amz-json-1.0' })
}

/** Runs the recovery sweep now. */
export const sweep = () => aws('/2015-03-31/functions/recover/invocations', {})

async function aws(path, body, headers) {
  const authorization = `AWS4-HMAC-SHA256 Credential=outside/20260101/${there.region}/dynamodb/aws4_request, SignedHeaders=host, Signature=00`
  const response = await fetch(there.aws + path, { method: 'POST', headers: { authorization, ...headers }, body: JSON.stringify(body) })
  const said = await response.text()
  if (!response.ok || said.includes('errorMessage')) throw new Error(`${path}: ${response.status} ${said}`)
}

export const words = n => Array.from({ length: n }, (_, i) => `word${i + 1}`).join(' ')
