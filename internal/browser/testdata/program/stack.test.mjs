// The client in Node against a running stack (STEADFAST_INFO), with sockets that break and workers that die.
import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { WebSocket } from 'ws'
import { Chat } from '../../../../docs/client/steadfast.js'
import { door } from './door.mjs'
import { kill, stored, sweep, there, token as signIn, words } from './there.mjs'

let way, token

before(async () => {
  way = await door(there.http)
  token = await signIn()
})
after(() => way?.close())

function chatting(t, options = {}) {
  const chat = new Chat({ url: way.url, token, WebSocket, times: { backoff: 50, slowest: 200 }, ...options })
  t.after(() => chat.close())
  return chat
}

const seen = chat => [...chat.turns.values()].map(({ text, tools, status }) => ({ text, tools: tools.map(tool => tool.name), status }))
const logged = async chat => (await stored(chat.sessionId, token)).map(({ text, tools, status }) => ({ text, tools, status }))
const pause = ms => new Promise(resolve => setTimeout(resolve, ms))

/** Waits until the last turn shows a word. */
async function shows(chat, word) {
  while (![...chat.turns.values()].at(-1)?.text.includes(word)) await pause(10)
}

test('sockets that drop again and again: no gap, no repeat', async t => {
  let pieces = ''
  const chat = chatting(t, { on: { text: (_, piece) => { pieces += piece }, reset: turn => assert.fail(`cut back to ${turn.text}`) } })
  const send = chat.send('say 120 words slow 40 ms')
  let dropped = 0
  const storm = setInterval(() => { dropped += way.drop() }, 400)
  const turn = await send.finally(() => clearInterval(storm))
  assert.equal(turn.text, words(120))
  assert.equal(pieces, turn.text)
  assert.ok(dropped >= 3, `${dropped} sockets were dropped`)
  assert.deepEqual(seen(chat), await logged(chat))
})

test('a message to an absent stack is answered once it is back', async t => {
  const chat = chatting(t)
  await chat.connect()
  way.drop(1_000)
  const [one, two] = await Promise.all([chat.send('say "one"', { admission: 'coalesce' }), chat.send('say "two"', { admission: 'coalesce' })])
  assert.ok(one.ended && two.ended)
  assert.equal(new Set([...one.deliveries, ...two.deliveries]).size, 2)
  assert.deepEqual(seen(chat), await logged(chat))
})

test('P14 a worker dies in mid-answer', async t => {
  const chat = chatting(t)
  const send = chat.send('say 60 words slow 40 ms')
  await shows(chat, 'word9')
  await kill(chat.sessionId)
  await sweep()
  const turn = await send
  assert.deepEqual([turn.status, turn.text], ['complete', words(60)])
  assert.deepEqual((await logged(chat)).map(t => t.text), [words(60)])
})

test('P14 a worker dies in mid-answer while the socket is away', async t => {
  const chat = chatting(t)
  const send = chat.send('say 60 words slow 40 ms')
  await shows(chat, 'word9')
  way.drop(1_500)
  await kill(chat.sessionId)
  await sweep()
  const turn = await send
  assert.deepEqual([turn.status, turn.text], ['complete', words(60)])
})

test('a stop that is said at once', async t => {
  const chat = chatting(t)
  await chat.connect()
  const send = chat.send('say 200 words slow 40 ms')
  chat.stop()
  const turn = await send
  assert.deepEqual([turn.status, turn.error], ['failed', 'cancelled'])
  assert.deepEqual(seen(chat), await logged(chat))
})

test('many messages in mid-answer: each one ends, and all is as stored', async t => {
  const chat = chatting(t)
  const sends = []
  for (let i = 0; i < 12; i++) {
    sends.push(chat.send(`say ${20 + i} words slow 20 ms`, { admission: i % 3 ? 'coalesce' : 'preempt' }))
    await pause(150)
    if (i % 4 === 2) way.drop()
  }
  const turns = await Promise.all(sends)
  assert.ok(turns.every(turn => turn.ended))
  assert.equal(new Set([...chat.turns.values()].flatMap(turn => [...turn.deliveries])).size, sends.length)
  assert.deepEqual(seen(chat), await logged(chat))
  const late = chatting(t, { sessionId: chat.sessionId, startIndex: 0 }) // who comes later is told the same
  await late.connect()
  assert.deepEqual(seen(late), seen(chat))
})

test('refusals are told, and end nothing else', async t => {
  const chat = chatting(t)
  await assert.rejects(chatting(t, { token: 'nonsense' }).connect(), { status: 401 })
  await assert.rejects(chatting(t, { sessionId: 'task-1' }).send('hi'), { status: 400 })
  assert.equal((await chat.send('say "well"')).text, 'well')
})
