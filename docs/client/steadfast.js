// A chat with an agent: one session, followed over a WebSocket that may break at any time. Runs in browsers, in Node 22 and later,
// and in Node 20 with a WebSocket given to it. No dependencies.
//
//   const chat = new Chat({ url: 'https://...', token, on: { text: (turn, piece) => show(piece) } })
//   const turn = await chat.send('What time is it?')      // turn.text is what the stack has stored
//
// What it promises: a text shows no gap and no repeat; every send comes to an end, even if the connection was away meanwhile; a
// lost connection is opened again, and what was missed is asked for by the index of the last event seen; the same message is never
// answered twice. It keeps no copy of the conversation beyond this page: give startIndex 0 to be told all of it again.

/** The most bytes of a message as JSON, in UTF-8. */
export const MAX_MESSAGE_BYTES = 128 * 1024
/**
 * The most bytes of a WebSocket frame that the gateway takes. A browser puts a message into one frame or into frames of its own
 * choice, so what is longer goes over HTTP instead.
 */
export const MAX_FRAME_BYTES = 32 * 1024

const SCHEME = 'base64UrlBearerAuthorization'
const TIMES = {
  ping: 5 * 60e3, // an idle connection is closed after 10 minutes
  quiet: 20e3, // without a word from a running turn, until it is asked for again; doubles each time
  answer: 20e3, // for an answer, until the connection counts as lost
  backoff: 500, // before the first new connection; doubles up to slowest
  slowest: 30e3,
  patience: 5 * 60e3, // without any connection, until sends fail
}
const TRIES = 5 // of a message that comes to nothing though its connection holds

/** What went wrong. code is a word for programs, status that of HTTP if there was one. */
export class SteadfastError extends Error {
  constructor(code, message, status) {
    super(message || code)
    this.name = 'SteadfastError'
    this.code = code
    this.status = status
  }
}

/** One turn of the agent. */
export class Turn {
  status = 'running' // then complete, failed, or lost: it ended while nobody could tell
  text = '' // the answer so far
  tools = [] // {id, name, at}: called when the text had so many characters
  deliveries = new Set() // ids of the sends it answered; known at its end
  error = '' // of one that failed: a word, such as cancelled or interrupted
  message = '' // the same as a sentence
  usage = undefined // {inputTokens, outputTokens, ...} of one that is complete
  approvals = [] // {id, name, input, expiresAt, status, by, reason}: calls that a person is asked about. status is pending, then
  // approved, denied, expired (nobody decided in time) or void (the turn ended before)

  // What follows is the client's own.
  length = 0 // of text in characters (code points)
  first = undefined // lowest event index seen
  fence = 0 // of the owner that speaks
  seq = undefined // of its last message on this connection
  retold = undefined // where a telling from the beginning stands
  hole = false // something was lost: it has to be told again

  constructor(id) {
    this.id = id
  }

  /** Whether its end was told. */
  get ended() {
    return this.status === 'complete' || this.status === 'failed'
  }

  /** Whether it waits for a person: see decide. */
  get waits() {
    return this.approvals.some(a => a.status === 'pending')
  }
}

/**
 * A conversation.
 *
 * Options: url of the HTTP API, or wsUrl of the socket with a sessionId (then nothing goes over HTTP); token, a string or a function
 * that gives one, called with true after one was refused; sessionId to go on with a session; startIndex to be told every turn that
 * has an event from there on; WebSocket and fetch, where there is no global one; times, to change TIMES; and on, functions that are
 * called as things happen:
 *
 *   turn(turn)         a turn became known
 *   text(turn, piece)  its text grew by piece
 *   reset(turn)        its text was cut back to turn.text: a call of the model broke off and is repeated
 *   tool(turn, tool)   it calls a tool
 *   approval(turn, a)  a call waits for a person, or something became of that: see a.status, and decide
 *   end(turn)          it ended: see turn.status
 *   state(state)       connecting, open, waiting (to connect again) or closed
 *   error(error)       something failed that no call waits for
 */
export class Chat {
  sessionId
  state = 'closed'
  turns = new Map() // by id, in the order in which they became known

  #options
  #on
  #times
  #socket // the open connection
  #drop = () => {} // gives it up
  #through = false // all that was missed has been told on this connection
  #asked = [] // turns that were open when it was last asked for
  #next // the index up to which everything has been told; undefined: not known
  #sends = new Map() // by delivery id, until they end
  #stops = [] // to be sent
  #decisions = new Map() // by action id: what is to be sent, or sent and not answered
  #stale = false // the token was refused
  #loop // what keeps a connection; undefined: nothing does
  #waiters = []
  #wake = () => {}
  #timer
  #patient = 0 // how often a quiet turn was asked for

  constructor(options) {
    if (!options?.url && !(options?.wsUrl && options?.sessionId)) throw new TypeError('Chat needs url, or wsUrl and sessionId')
    this.#options = options
    this.#on = options.on ?? {}
    this.#times = { ...TIMES, ...options.times }
    this.#next = options.startIndex
    this.sessionId = options.sessionId
  }

  /** The index to name when following again from somewhere else, undefined when nothing is known. */
  get nextIndex() {
    const begun = [...this.turns.values()].filter(t => !t.ended && t.first !== undefined).map(t => t.first)
    return this.#next === undefined && !begun.length ? undefined : Math.min(this.#next ?? Infinity, ...begun)
  }

  /** Connects and stays connected until close. Resolves when what was missed has been told; rejects when refused or out of patience. */
  connect() {
    if (this.#through) return Promise.resolve()
    const through = new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }))
    if (!this.#loop) this.#run()
    this.#wake()
    return through
  }

  /**
   * Says something. Resolves to the turn that answers, at its end, good or bad; rejects with a SteadfastError if the message was
   * refused or cannot be known to have arrived. admission is preempt (interrupts a running turn), coalesce (waits) or reject. The
   * same deliveryId is one message, however often it is sent.
   */
  send(text, { admission, deliveryId = crypto.randomUUID() } = {}) {
    const wire = JSON.stringify({ request: text, session_id: this.sessionId ?? crypto.randomUUID(), admission, delivery_id: deliveryId })
    const size = bytes(wire)
    if (size > MAX_MESSAGE_BYTES) {
      return Promise.reject(new SteadfastError('limit', `the message has ${size} bytes, the limit is ${MAX_MESSAGE_BYTES} (128 KB)`))
    }
    return new Promise((resolve, reject) => {
      const send = { id: deliveryId, text, admission, size, resolve, reject, failures: 0, socket: undefined, at: 0, stop: false }
      this.#sends.set(deliveryId, send)
      if (this.#through) this.#post(send)
      else this.connect().catch(() => {}) // every send is told by itself
    })
  }

  /** Ends the running turn, whose end is told as any other; clear also cancels what waits. */
  stop({ clear = false } = {}) {
    for (const s of this.#sends.values()) s.stop = s.stop || s.at > 0 // a stop may overtake the message that it means
    this.#stops.push(clear)
    if (this.#through) this.#flushStops()
    else this.connect().catch(() => {})
  }

  /**
   * Says approve or deny about a call that waits. Resolves to what is recorded; the same again is answered the same. Rejects with the
   * code already_decided (409) when somebody else was faster, or the time is over.
   */
  decide(actionId, decision, { reason } = {}) {
    if (this.#options.url) return this.#decide(actionId, { decision, reason })
    return new Promise((resolve, reject) => {
      const message = { action: 'decide', session_id: this.sessionId, action_id: actionId, decision, reason }
      this.#decisions.get(actionId)?.reject(new SteadfastError('closed', 'another decision about the same call was sent'))
      this.#decisions.set(actionId, { message, resolve, reject })
      if (this.#through) this.#write(message)
      else this.connect().catch(() => {})
    })
  }

  async #decide(actionId, body) {
    const path = `/agent/sessions/${encodeURIComponent(this.sessionId)}/approvals/${encodeURIComponent(actionId)}`
    for (let tries = 1; ; tries++) {
      try {
        const approval = await (await this.#http('POST', path, body)).json()
        this.#decided(approval.actionId, approval)
        return approval
      } catch (error) {
        if (error.final || tries === TRIES) throw error // else the answer may be lost: it is recorded once
        await new Promise(resolve => setTimeout(resolve, this.#times.backoff * tries))
      }
    }
  }

  /** The calls of the session that people were asked about, over HTTP, with their whole input. */
  async approvals() {
    const response = await this.#http('GET', `/agent/sessions/${encodeURIComponent(this.sessionId)}/approvals`)
    return (await response.json()).approvals
  }

  /** Reads the session's events over HTTP, from startIndex to the last one there is. */
  async *events({ startIndex = 0 } = {}) {
    for (let next = startIndex; next !== null;) {
      const response = await this.#http('GET', `/agent/sessions/${encodeURIComponent(this.sessionId)}/events?startIndex=${next}`)
      for (const line of (await response.text()).split('\n')) if (line) yield JSON.parse(line)
      next = response.headers.get('x-next-index')
    }
  }

  /** Leaves. The turn goes on; sends that wait reject with the code closed. */
  close() {
    this.#give(new SteadfastError('closed', 'the chat was closed'))
  }

  // ---- The connection.

  async #run() {
    const run = this.#loop = {}
    for (let failures = 0, since = Date.now(); this.#loop === run; failures++) {
      this.#become('connecting')
      try {
        if (await this.#once(run)) [failures, since] = [0, Date.now()]
      } catch (error) {
        if (error.final && this.#loop === run) return this.#give(error)
      }
      if (this.#loop !== run) return
      if (Date.now() - since > this.#times.patience) return this.#give(new SteadfastError('connection_lost', 'no connection to the stack'))
      this.#become('waiting')
      const most = Math.min(this.#times.slowest, this.#times.backoff * 2 ** failures)
      await new Promise(resolve => {
        this.#wake = resolve
        setTimeout(resolve, most * (0.5 + Math.random() / 2)) // not all at the same moment
      })
      this.#wake = () => {}
    }
  }

  /** Ends all: the loop, the connection, and whoever waits. */
  #give(error) {
    this.#loop = undefined
    this.#drop()
    this.#wake()
    clearTimeout(this.#timer)
    for (const send of this.#sends.values()) send.reject(error)
    for (const waiter of this.#waiters) waiter.reject(error)
    for (const decision of this.#decisions.values()) decision.reject(error)
    this.#sends.clear()
    this.#decisions.clear()
    this.#waiters = []
    this.#stops = []
    this.#become('closed')
  }

  /** One connection, to its end. Reports whether it ever was through. */
  async #once(run) {
    const token = await this.#token()
    const at = new URL(await this.#address())
    if (this.#loop !== run) return false
    at.searchParams.set('features', 'reset,approvals')
    const Socket = this.#options.WebSocket ?? globalThis.WebSocket
    const socket = new Socket(at.href, [SCHEME, `${SCHEME}.${base64url(token)}`])
    return new Promise(resolve => {
      let opened = false // a browser does not tell why a handshake was refused
      this.#socket = socket
      this.#drop = () => {
        socket.onopen = socket.onmessage = socket.onclose = null
        const through = this.#through
        this.#through = false
        this.#socket = undefined
        this.#drop = () => {}
        clearTimeout(this.#timer)
        try { socket.close() } catch { /* it never opened */ }
        resolve(through)
      }
      socket.onerror = () => {} // its close follows
      socket.onclose = ({ code }) => {
        this.#stale = this.#stale || !opened || code === 1008 || code === 4401
        this.#drop()
      }
      socket.onmessage = ({ data }) => this.#hear(data)
      socket.onopen = () => {
        opened = true
        this.#subscribe()
      }
      this.#deadline()
    })
  }

  async #token(stale = this.#stale) {
    const { token } = this.#options
    const given = typeof token === 'function' ? await token(stale) : token
    this.#stale = false
    return given
  }

  /** Where the socket is; a session without a name gets one. */
  async #address() {
    const { wsUrl } = this.#options
    if (wsUrl) return wsUrl
    const response = await this.#http('POST', '/agent/connect', { sessionId: this.sessionId })
    const there = await response.json()
    if (!this.sessionId) this.#next ??= 0 // nothing was said in it
    this.sessionId = there.sessionId
    return there.wsUrl
  }

  async #http(method, path, body, again = true) {
    const token = await this.#token()
    const fetch = this.#options.fetch ?? globalThis.fetch
    const response = await fetch(this.#options.url.replace(/\/+$/, '') + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(this.#times.answer),
    })
    if (response.ok) return response
    if (response.status === 401 && again && typeof this.#options.token === 'function') {
      this.#stale = true
      return this.#http(method, path, body, false)
    }
    const told = await response.json().catch(() => ({}))
    const error = new SteadfastError(told.code ?? String(response.status), told.message ?? response.statusText, response.status)
    error.final = response.status < 500 && response.status !== 429
    throw error
  }

  #become(state) {
    if (this.state === state) return
    this.state = state
    this.#on.state?.(state)
  }

  // ---- What is sent.

  #subscribe() {
    this.#asked = [...this.turns.values()].filter(t => !t.ended)
    this.#write({ action: 'subscribe', session_id: this.sessionId, start_index: this.nextIndex })
  }

  #write(message) {
    this.#socket?.send(JSON.stringify(message))
    this.#deadline()
  }

  #post(send) {
    send.socket = this.#socket
    send.at = Date.now()
    if (send.size > MAX_FRAME_BYTES) return void this.#postLong(send)
    this.#socket.send(JSON.stringify({ request: send.text, session_id: this.sessionId, admission: send.admission, delivery_id: send.id }))
    this.#listen()
  }

  /** Sends what is too long for a frame over HTTP; its answer comes over the socket. */
  async #postLong(send) {
    const path = `/agent/sessions/${encodeURIComponent(this.sessionId)}`
    for (let again = true; ; again = false) {
      try {
        if (!this.#options.url) throw new SteadfastError('limit', `the message has ${send.size} bytes: over 32 KB (one frame) it goes over HTTP, which needs url`)
        await this.#http('POST', path + '/messages', {
          message: send.text, continuationToken: await this.#continuation(path), admission: send.admission, deliveryId: send.id,
        })
        return
      } catch (error) {
        if ((error.code === 'stale_token' || error.code === 'invalid') && again) continue // somebody else has spoken meanwhile
        if (error.final === false || !(error instanceof SteadfastError)) return // it is sent again when nothing comes of it
        this.#sends.delete(send.id)
        return send.reject(error)
      }
    }
  }

  /** The token that a message over HTTP needs; undefined for the first one of a session. */
  async #continuation(path) {
    try {
      return (await (await this.#http('GET', path)).json()).continuationToken
    } catch (error) {
      if (error.status === 404) return undefined
      throw error
    }
  }

  #flushStops() {
    for (const clear of this.#stops.splice(0)) this.#write({ action: 'stop', session_id: this.sessionId, clear: clear || undefined })
  }

  // ---- Silence.

  /** Waits for a word: while something runs it is asked for again, else a ping keeps the connection. */
  #listen() {
    clearTimeout(this.#timer)
    const busy = this.#sends.size > 0 || [...this.turns.values()].some(t => t.status === 'running')
    const wait = busy ? Math.min(this.#times.quiet * 2 ** this.#patient, this.#times.ping) : this.#times.ping
    this.#timer = setTimeout(() => {
      if (!busy) return this.#write({ action: 'ping' })
      this.#patient++
      this.#subscribe()
    }, wait)
  }

  /** Gives the connection up if no word comes. */
  #deadline() {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#drop(), this.#times.answer)
  }

  // ---- What is heard.

  #hear(data) {
    let message
    try { message = JSON.parse(data) } catch { return }
    if (message.seq !== undefined) this.#patient = 0
    this.#take(message)
    if (this.#socket) this.#listen()
  }

  #take(m) {
    switch (m.type) {
      case 'stream_event': return this.#event(m)
      case 'complete': return this.#end(m)
      case 'error': return m.turn_id ? this.#end(m) : this.#refused(m)
      case 'subscribed': return this.#subscribed(m)
      case 'decided': return this.#answered(m)
      case undefined: if (m.message) return this.#failed()
    }
  }

  /** The gateway's own words: the function behind it failed, nobody says for which message. */
  #failed() {
    for (const send of [...this.#sends.values()]) if (send.socket === this.#socket) this.#vain(send)
    this.#drop()
  }

  /** Notes that a message came to nothing. Reports whether to send it again. */
  #vain(send) {
    if (++send.failures < TRIES) return true
    this.#sends.delete(send.id)
    send.reject(new SteadfastError('connection_lost', `the message was sent ${TRIES} times, and nothing came of it`))
    return false
  }

  #subscribed(m) {
    this.#next = Math.max(this.#next ?? 0, m.index)
    if (m.more) return this.#write({ action: 'subscribe', session_id: this.sessionId, start_index: m.index })
    const idle = m.status !== 'running' && m.status !== 'waiting_approval'
    if (idle) for (const turn of this.#asked) if (!turn.ended) this.#finish(turn, 'lost', {})
    const first = !this.#through
    this.#through = true
    if (first) this.#become('open')
    for (const waiter of this.#waiters.splice(0)) waiter.resolve()
    this.#flushStops()
    if (first) for (const { message } of this.#decisions.values()) this.#write(message)
    for (const send of [...this.#sends.values()]) {
      if (send.socket !== this.#socket || idle && Date.now() - send.at > this.#times.quiet / 2 && this.#vain(send)) this.#post(send)
    }
  }

  #refused(m) {
    const error = new SteadfastError(m.error, m.message)
    const send = this.#sends.get(m.delivery_id)
    if (send) {
      this.#sends.delete(send.id)
      return send.reject(error)
    }
    const decision = this.#decisions.get(m.action_id)
    if (decision) {
      this.#decisions.delete(m.action_id)
      return decision.reject(error)
    }
    if (this.#through) return this.#on.error?.(error)
    if (m.error === 'unavailable' || m.error === 'internal') return this.#drop()
    this.#give(error)
  }

  /** A decision that was sent over the socket is recorded. */
  #answered({ action_id: id, status }) {
    this.#decided(id, { status })
    this.#decisions.get(id)?.resolve({ actionId: id, status })
    this.#decisions.delete(id)
  }

  /** Notes what became of a call that waits, whatever the turn has said of it so far. */
  #decided(id, { status, by, reason }) {
    for (const turn of this.turns.values()) {
      const known = turn.approvals.find(a => a.id === id)
      if (known) this.#approval(turn, { action_id: id, status, by, reason })
    }
  }

  #approval(turn, { action_id: id, name, input, expires_at: expiresAt, status, by, reason }) {
    let known = turn.approvals.find(a => a.id === id)
    if (!known) turn.approvals.push(known = { id, name, input, expiresAt })
    else if (status === 'pending' || known.status !== 'pending') return // it is told again
    Object.assign(known, { status: status === 'executing' ? 'approved' : status, by, reason })
    this.#on.approval?.(turn, known)
  }

  #turn(m) {
    let turn = this.turns.get(m.turn_id)
    if (!turn) {
      this.turns.set(m.turn_id, turn = new Turn(m.turn_id))
      this.#on.turn?.(turn)
      if ([...this.#sends.values()].some(s => s.stop)) this.#stops.push(false)
      if (this.#through) this.#flushStops()
    }
    if (m.index !== undefined) {
      this.#next = Math.max(this.#next ?? 0, m.index + 1)
      turn.first = Math.min(turn.first ?? Infinity, m.index)
    }
    return turn
  }

  /** Whether m is the next word of the turn's owner, or of a telling from the beginning, which has no seq. */
  #inOrder(turn, m) {
    if ((m.fence ?? 0) > turn.fence) [turn.fence, turn.seq] = [m.fence, undefined]
    if (m.seq === undefined) return true
    if (m.fence < turn.fence || m.seq <= turn.seq) return false
    if (m.seq > turn.seq + 1) this.#lost(turn)
    turn.seq = m.seq
    return !turn.hole
  }

  /** Has the turn told again from its beginning. */
  #lost(turn) {
    if (turn.hole) return
    turn.hole = true
    this.#subscribe()
  }

  #event(m) {
    const turn = this.#turn(m)
    if (turn.ended) return
    const { data, current_tool_use: tool, reset, init_event_loop: init, approval } = m.event
    if (init && m.seq === undefined) {
      Object.assign(turn, { hole: false, retold: 0, seq: undefined })
    }
    if (!this.#inOrder(turn, m)) return
    turn.status = 'running'
    if (data !== undefined) this.#text(turn, m.offset ?? turn.length, data, m.seq === undefined)
    else if (reset) this.#cut(turn, m.offset ?? 0)
    else if (approval) this.#approval(turn, approval)
    else if (tool && !turn.tools.some(t => t.id === tool.tool_use_id)) {
      const called = { id: tool.tool_use_id, name: tool.name, at: turn.length }
      turn.tools.push(called)
      this.#on.tool?.(turn, called)
    }
  }

  /** Puts a piece where it belongs. It is right where it differs from what was shown. */
  #text(turn, offset, piece, again) {
    if (offset > turn.length) return this.#lost(turn)
    if (again) turn.retold = offset + count(piece)
    const known = offset < turn.length ? after(turn.text, offset) : ''
    if (known.startsWith(piece)) return
    if (!piece.startsWith(known)) this.#cut(turn, offset)
    this.#grow(turn, after(piece, turn.length - offset))
  }

  #grow(turn, piece) {
    if (!piece) return
    turn.text += piece
    turn.length += count(piece)
    this.#on.text?.(turn, piece)
  }

  #cut(turn, length) {
    if (length >= turn.length) return
    turn.text = turn.text.slice(0, turn.text.length - after(turn.text, length).length)
    turn.length = length
    turn.tools = turn.tools.filter(t => t.at <= length)
    this.#on.reset?.(turn)
  }

  #end(m) {
    if (m.error === 'fell_behind' || m.error === 'delivery_failed' || m.error === 'answer_restarted') return this.#lost(this.#turn(m))
    const turn = this.#turn(m)
    if (!turn.ended) {
      if (!this.#inOrder(turn, m)) return
      if (m.seq === undefined && turn.retold !== undefined) this.#cut(turn, turn.retold)
      this.#finish(turn, m.type === 'complete' ? 'complete' : 'failed', m)
    }
    const send = this.#sends.get(m.delivery_id)
    if (!m.delivery_id) return
    turn.deliveries.add(m.delivery_id)
    this.#sends.delete(m.delivery_id)
    send?.resolve(turn)
  }

  #finish(turn, status, { error = '', message = '', usage }) {
    Object.assign(turn, { status, error, message, usage })
    for (const a of turn.approvals) if (a.status === 'pending') this.#approval(turn, { action_id: a.id, status: 'void' })
    this.#on.end?.(turn)
  }
}

function bytes(text) {
  return new TextEncoder().encode(text).length
}

function base64url(text) {
  const binary = Array.from(new TextEncoder().encode(text), b => String.fromCharCode(b)).join('')
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** The number of code points of text. */
function count(text) {
  let n = 0
  for (const _ of text) n++
  return n
}

/** What follows the first n code points of text. */
function after(text, n) {
  let i = 0
  for (; n > 0 && i < text.length; n--) i += text.codePointAt(i) > 0xffff ? 2 : 1
  return text.slice(i)
}
