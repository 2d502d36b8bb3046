// A stack that says what a test tells it to: HTTP answers by path, and one script for each connection in turn.
import { createServer } from 'node:http'
import { once } from 'node:events'
import { WebSocket as Socket, WebSocketServer } from 'ws'
import { Chat } from '../../../../docs/client/steadfast.js'

const SCHEME = 'base64UrlBearerAuthorization'
export const SESSION = 's-1'

/** Node's own (since 22; in 20 with --experimental-websocket), or one that is given to the client. */
export const WebSocket = process.env.STEADFAST_WEBSOCKET === 'own' ? globalThis.WebSocket : Socket

/** What a peer of a script has: next() message of the client, say() one to it, drop() the connection. */
class Peer {
  #heard = []
  #waiting = []
  constructor(socket, request) {
    this.socket = socket
    this.url = new URL(request.url, 'http://stage')
    this.protocols = request.headers['sec-websocket-protocol']?.split(/, */) ?? []
    socket.on('message', data => {
      const message = JSON.parse(data)
      if (this.#waiting.length) this.#waiting.shift()(message)
      else this.#heard.push(message)
    })
  }
  next() {
    return this.#heard.length ? Promise.resolve(this.#heard.shift()) : new Promise(resolve => this.#waiting.push(resolve))
  }
  say(...messages) {
    for (const m of messages) this.socket.send(JSON.stringify(m))
  }
  drop() {
    this.socket.terminate()
  }
  /** Answers the subscribe that opens every connection. */
  async subscribed(index = 0, status = 'waiting', ...told) {
    const asked = await this.next()
    this.say(...told, { type: 'subscribed', session_id: SESSION, index, status })
    return asked
  }
}

/** Starts a stack. The scripts' errors fail the test. */
export async function stage(t, { http = {}, protocol = SCHEME } = {}, ...scripts) {
  const failures = []
  const calls = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    const call = { token: request.headers.authorization?.replace('Bearer ', ''), body: body && JSON.parse(body), nth: 0, url: request.url }
    const name = `${request.method} ${request.url.split('?')[0]}`
    call.nth = calls.filter(c => c.name === name).length
    calls.push({ ...call, name })
    const base = `ws://127.0.0.1:${server.address().port}/ws`
    const answer = http[name]?.(call) ?? (name === 'POST /agent/connect' ? { json: { wsUrl: base, sessionId: call.body.sessionId ?? SESSION } } : { status: 404 })
    response.writeHead(answer.status ?? 200, answer.headers)
    response.end(answer.text ?? JSON.stringify(answer.json ?? { message: 'no', code: 'not_found' }))
  })
  const sockets = new WebSocketServer({ server, handleProtocols: () => protocol })
  sockets.on('connection', (socket, request) => {
    const script = scripts.shift()
    if (!script) return socket.terminate()
    script(new Peer(socket, request)).catch(error => {
      failures.push(error)
      console.error(error) // the test may wait for what the script does not say now
      socket.terminate()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}`
  t.after(async () => {
    for (const socket of sockets.clients) socket.terminate()
    sockets.close()
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
    if (failures.length) throw failures[0]
  })
  return { url, calls }
}

/** A chat with a stage that notes what its listeners are told. */
export function chatting(t, { url }, options = {}) {
  const story = []
  const on = {
    turn: turn => story.push(`turn ${turn.id}`),
    text: (turn, piece) => story.push(`+${piece}`),
    reset: turn => story.push(`=${turn.text}`),
    tool: (turn, tool) => story.push(`tool ${tool.name}`),
    approval: (turn, a) => story.push(`${a.name} ${a.status}`),
    end: turn => story.push(`end ${turn.status}${turn.error && ' ' + turn.error}`),
    state: state => story.push(`[${state}]`),
    error: error => story.push(`error ${error.code}`),
  }
  const { times, ...others } = options
  const chat = new Chat({ url, token: 'jwt', sessionId: SESSION, WebSocket, on, times: { backoff: 1, slowest: 5, ...times }, ...others })
  t.after(() => chat.close())
  return { chat, story, said: () => story.filter(line => !line.startsWith('[')) }
}

/** Messages of a turn by its owner, numbered from seq on. */
export function owner({ turn = 'turn_1', fence = 1, seq = 0 } = {}) {
  const next = event => ({ type: 'stream_event', event, turn_id: turn, fence, seq: seq++ })
  return {
    init: index => ({ ...next({ init_event_loop: true }), index }),
    text: (data, offset, index) => ({ ...next({ data }), offset, index }),
    tool: (name, id) => next({ current_tool_use: { name, tool_use_id: id } }),
    approval: (action_id, status, more) => ({ type: 'stream_event', event: { approval: { action_id, name: 'pay', status, ...more } }, turn_id: turn, fence }),
    reset: offset => ({ ...next({ reset: { attempt: 2 } }), offset }),
    complete: (delivery_id, index) => ({ type: 'complete', session_id: SESSION, turn_id: turn, fence, seq: seq++, index, delivery_id }),
    fail: (error, delivery_id) => ({ type: 'error', error, message: `it was ${error}`, turn_id: turn, fence, seq: seq++, delivery_id }),
    lose: () => { seq++ },
  }
}

/** The same messages as they are told again. */
export function again(...messages) {
  return messages.map(({ seq, fence, ...m }) => m)
}
