import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Chat, MAX_FRAME_BYTES, MAX_MESSAGE_BYTES, SteadfastError } from '../../../../docs/client/steadfast.js'
import { SESSION, WebSocket, again, chatting, owner, stage } from './stage.mjs'

const ended = (turn, status, text) => assert.deepEqual([turn.status, turn.text], [status, text])

test('a message and its answer', async t => {
  const there = await stage(t, {}, async peer => {
    assert.deepEqual(peer.protocols, ['base64UrlBearerAuthorization', 'base64UrlBearerAuthorization.a8O8PT8'])
    assert.equal(peer.url.searchParams.get('features'), 'reset,approvals')
    assert.deepEqual(await peer.subscribed(7), { action: 'subscribe', session_id: SESSION })
    const asked = await peer.next()
    assert.deepEqual(asked, { request: 'What time is it?', session_id: SESSION, admission: 'coalesce', delivery_id: 'd-1' })
    const o = owner()
    peer.say(o.init(8), o.tool('clock', 'c1'), o.text('It is ', 0), o.text('1 o’clock 🕐.', 6, 12), o.text(' Bye.', 18, 12),
      { type: 'pong' }, { ...o.complete('d-1', 15), usage: { inputTokens: 3 } })
  })
  const { chat, story } = chatting(t, there, { token: 'kü=?' })
  const turn = await chat.send('What time is it?', { admission: 'coalesce', deliveryId: 'd-1' })
  ended(turn, 'complete', 'It is 1 o’clock 🕐. Bye.')
  assert.deepEqual(turn.usage, { inputTokens: 3 })
  assert.deepEqual(turn.tools, [{ id: 'c1', name: 'clock', at: 0 }])
  assert.deepEqual([...turn.deliveries], ['d-1'])
  assert.equal(chat.nextIndex, 16)
  assert.deepEqual(story, ['[connecting]', '[open]', 'turn turn_1', 'tool clock', '+It is ', '+1 o’clock 🕐.', '+ Bye.', 'end complete'])
  assert.deepEqual(there.calls.map(c => [c.name, c.token, c.body]), [['POST /agent/connect', 'kü=?', { sessionId: SESSION }]])
})

test('P15 a message over 128 KB is refused before it is sent, naming the limit', async t => {
  const { chat, story } = chatting(t, { url: 'http://127.0.0.1:9' })
  await assert.rejects(chat.send('é'.repeat(MAX_MESSAGE_BYTES / 2)), { code: 'limit', message: /has 1311\d\d bytes, the limit is 131072 \(128 KB\)/ })
  assert.deepEqual(story, [])
})

test('P13 a socket that drops in mid-answer is opened again, from the turn’s first index, without gap or repeat', async t => {
  const o = owner()
  const [init, one] = [o.init(3), o.text('Hellö ', 0, 5)]
  const there = await stage(t, {},
    async peer => {
      await peer.subscribed(2)
      await peer.next()
      peer.say(init, one)
      setTimeout(() => peer.drop(), 20)
    },
    async peer => {
      assert.equal((await peer.next()).start_index, 3)
      peer.say({ type: 'subscribed', session_id: SESSION, index: 3, status: 'running' })
      assert.deepEqual((await peer.next()).delivery_id, 'd-1') // nobody knows whether it arrived
      peer.say(...again(init, { ...one, event: { data: 'Hellö w😀' } }), o.text('rld', 8), o.complete('d-1', 9))
    })
  const { chat, story } = chatting(t, there)
  ended(await chat.send('hi', { deliveryId: 'd-1' }), 'complete', 'Hellö w😀rld')
  assert.deepEqual(story, ['[connecting]', '[open]', 'turn turn_1', '+Hellö ', '[waiting]', '[connecting]', '[open]', '+w😀', '+rld', 'end complete'])
})

test('a turn that ended while nobody was connected is told to its end', async t => {
  const o = owner()
  const there = await stage(t, {},
    async peer => {
      await peer.subscribed(0)
      await peer.next()
      peer.say(o.init(1), o.text('wrong beg', 0))
      setTimeout(() => peer.drop(), 20)
    },
    async peer => {
      const l = owner()
      await peer.subscribed(9, 'waiting', ...again(l.init(1), l.text('wrote', 0, 4), l.complete('d-1', 7)))
    })
  const { chat, said } = chatting(t, there)
  ended(await chat.send('hi', { deliveryId: 'd-1' }), 'complete', 'wrote')
  assert.deepEqual(said(), ['turn turn_1', '+wrong beg', '=', '+wrote', 'end complete'])
})

test('what was shown and is not stored goes when the turn is told to its end', async t => {
  const o = owner()
  const there = await stage(t, {},
    async peer => {
      await peer.subscribed(0)
      await peer.next()
      peer.say(o.init(1), o.text('kept and never stored', 0))
      setTimeout(() => peer.drop(), 20)
    },
    async peer => {
      const l = owner()
      await peer.subscribed(9, 'waiting', ...again(l.init(1), l.text('kept', 0, 4), l.fail('cancelled', 'd-1')))
    })
  const { chat } = chatting(t, there)
  const turn = await chat.send('hi', { deliveryId: 'd-1' })
  ended(turn, 'failed', 'kept')
  assert.deepEqual([turn.error, turn.message], ['cancelled', 'it was cancelled'])
})

test('a message that never arrived is sent again, as the same delivery', async t => {
  const there = await stage(t, {},
    async peer => {
      await peer.subscribed(4)
      peer.drop()
    },
    async peer => {
      assert.equal((await peer.subscribed(4)).start_index, 4)
      assert.equal((await peer.next()).delivery_id, 'd-1')
      const o = owner()
      peer.say(o.init(5), o.complete('d-1', 6))
    })
  const { chat } = chatting(t, there)
  ended(await chat.send('hi', { deliveryId: 'd-1' }), 'complete', '')
})

test('P14 a reset takes back the text of the call that broke off, and its tools', async t => {
  const there = await stage(t, {}, async peer => {
    await peer.subscribed(0)
    await peer.next()
    const o = owner()
    peer.say(o.init(1), o.text('😀 kept', 0), o.text(' and not', 6), o.tool('look', 'c1'), o.reset(6), o.text('!', 6), o.complete('d-1', 9))
  })
  const { chat, said } = chatting(t, there)
  const turn = await chat.send('hi', { deliveryId: 'd-1' })
  ended(turn, 'complete', '😀 kept!')
  assert.deepEqual(turn.tools, [])
  assert.deepEqual(said().slice(1), ['+😀 kept', '+ and not', 'tool look', '=😀 kept', '+!', 'end complete'])
})

test('a message that was lost on the way has the turn told again', async t => {
  for (const lost of ['reset', 'text', 'fell_behind']) {
    await t.test(lost, async t => {
      const there = await stage(t, {}, async peer => {
        await peer.subscribed(0)
        await peer.next()
        const o = owner()
        peer.say(o.init(1), o.text('bad', 0))
        if (lost === 'fell_behind') peer.say(o.fail('fell_behind'))
        if (lost === 'reset') o.lose()
        if (lost === 'text') peer.say({ ...o.text('missing', 9), seq: undefined })
        else peer.say(o.text('d', 0))
        const l = owner()
        assert.equal((await peer.subscribed(1, 'running')).start_index, 1)
        peer.say(...again(l.init(1), l.reset(0), l.text('good', 0)), o.text(' end', 4), o.complete('d-1', 9))
      })
      const { chat } = chatting(t, there)
      ended(await chat.send('hi', { deliveryId: 'd-1' }), 'complete', 'good end')
    })
  }
})

test('a loss before the end keeps the turn open until it is told again', async t => {
  const there = await stage(t, {}, async peer => {
    await peer.subscribed(0)
    await peer.next()
    const o = owner()
    peer.say(o.init(1), o.tool('look', 'c1'), o.text('a', 0))
    o.lose()
    peer.say(o.text('c', 2))
    o.lose()
    peer.say(o.complete('d-1', 9))
    const l = owner()
    await peer.subscribed(9, 'waiting', ...again(l.init(1), l.tool('look', 'c1'), l.text('abc', 0, 8), l.complete('d-1', 9)))
    assert.equal((await peer.next()).delivery_id, 'd-2') // it was asked for once
    peer.say({ type: 'error', error: 'denied', delivery_id: 'd-2' })
  })
  const { chat, said } = chatting(t, there)
  const turn = await chat.send('hi', { deliveryId: 'd-1' })
  ended(turn, 'complete', 'abc')
  assert.deepEqual(said(), ['turn turn_1', 'tool look', '+a', '+bc', 'end complete'])
  await assert.rejects(chat.send('ho', { deliveryId: 'd-2' }), { code: 'denied' })
})

test('a telling from the beginning in mid-answer changes nothing that was right', async t => {
  const there = await stage(t, {}, async peer => {
    await peer.subscribed(0)
    await peer.next()
    const o = owner()
    const told = [o.init(1), o.text('one ', 0), o.tool('look', 'c1')]
    peer.say(...told, o.text('two ', 4), ...again(...told), o.text('three', 8), o.complete('d-1', 9))
  })
  const { chat, said } = chatting(t, there)
  ended(await chat.send('hi', { deliveryId: 'd-1' }), 'complete', 'one two three')
  assert.deepEqual(said(), ['turn turn_1', '+one ', 'tool look', '+two ', '+three', 'end complete'])
})

test('what comes twice, late or from an owner that lost the turn changes nothing', async t => {
  const there = await stage(t, {}, async peer => {
    await peer.subscribed(0)
    await peer.next()
    const [old, o] = [owner({ fence: 1 }), owner({ fence: 2 })]
    const [first, back] = [old.text('one', 0), o.reset(0)]
    peer.say(first, first, back, o.text('two', 0), back, old.text(' more', 3), old.fail('interrupted'), o.complete('d-1', 9), o.text('late', 3),
      ...again(o.init(1), o.text('two', 0), o.complete('d-1', 9)))
  })
  const { chat, said } = chatting(t, there)
  ended(await chat.send('hi', { deliveryId: 'd-1' }), 'complete', 'two')
  assert.deepEqual(said(), ['turn turn_1', '+one', '=', '+two', 'end complete'])
})

test('a second message interrupts, and each send ends with its own turn', async t => {
  const there = await stage(t, {}, async peer => {
    await peer.subscribed(0)
    await peer.next()
    const [a, b] = [owner(), owner({ turn: 'turn_2', fence: 2 })]
    peer.say(a.init(1), a.text('lo', 0))
    await peer.next()
    peer.say(a.fail('interrupted', 'd-1'), b.init(5), b.text('short', 0), b.complete('d-2', 9), b.complete('d-3', 9))
  })
  const { chat, story } = chatting(t, there)
  const first = chat.send('long', { deliveryId: 'd-1' })
  while (!story.includes('+lo')) await new Promise(resolve => setTimeout(resolve, 2))
  const [one, two, three] = await Promise.all([first, chat.send('x', { deliveryId: 'd-2' }), chat.send('y', { deliveryId: 'd-3' })])
  ended(one, 'failed', 'lo')
  ended(two, 'complete', 'short')
  assert.equal(three, two)
  assert.deepEqual(story.filter(line => line.startsWith('end')), ['end failed interrupted', 'end complete'])
})

test('a stop is sent, and sent again when it was ahead of its message', async t => {
  const there = await stage(t, {}, async peer => {
    await peer.subscribed(0)
    await peer.next()
    assert.deepEqual(await peer.next(), { action: 'stop', session_id: SESSION, clear: true })
    const o = owner()
    peer.say(o.init(1))
    assert.deepEqual(await peer.next(), { action: 'stop', session_id: SESSION })
    peer.say(o.fail('cancelled', 'd-1'))
  })
  const { chat } = chatting(t, there)
  await chat.connect()
  const turn = chat.send('hi', { deliveryId: 'd-1' })
  chat.stop({ clear: true })
  assert.equal((await turn).error, 'cancelled')
})

test('refusals reject what they refuse', async t => {
  const there = await stage(t, {}, async peer => {
    await peer.subscribed(0)
    await peer.next()
    peer.say({ type: 'error', error: 'session_busy', message: 'a turn runs', delivery_id: 'd-1' })
    await peer.next()
    peer.say({ type: 'error', error: 'invalid', message: 'stop what?' })
  })
  const { chat, story } = chatting(t, there)
  await assert.rejects(chat.send('hi', { deliveryId: 'd-1', admission: 'reject' }), { code: 'session_busy', message: 'a turn runs' })
  chat.stop()
  while (!story.includes('error invalid')) await new Promise(resolve => setTimeout(resolve, 2))
})

test('somebody else’s session ends the chat', async t => {
  const there = await stage(t, { http: { 'POST /agent/connect': () => ({ status: 403, json: { code: 'denied', message: 'not your session' } }) } })
  const { chat, story } = chatting(t, there)
  const send = chat.send('hi')
  await assert.rejects(chat.connect(), { code: 'denied', status: 403, message: 'not your session' })
  await assert.rejects(send, SteadfastError)
  assert.equal(story.at(-1), '[closed]')
})

test('a refused token is asked for again, once', async t => {
  const denied = { status: 401, json: { message: 'Unauthorized' } }
  const there = await stage(t, { http: { 'POST /agent/connect': ({ token }) => token === 'new' ? undefined : denied } }, peer => peer.subscribed(0))
  await assert.rejects(chatting(t, there, { token: 'old' }).chat.connect(), { status: 401 })
  await assert.rejects(chatting(t, there, { token: () => 'old' }).chat.connect(), { status: 401 })
  there.calls.length = 0
  const { chat } = chatting(t, there, { token: stale => stale ? 'new' : 'old' })
  await chat.connect()
  assert.deepEqual(there.calls.map(c => c.token), ['old', 'new'])
})

test('patience ends', async t => {
  const there = await stage(t, {}) // every connection is dropped
  const { chat, story } = chatting(t, there, { times: { patience: 50 } })
  await assert.rejects(chat.send('hi'), { code: 'connection_lost' })
  assert.equal(story.at(-1), '[closed]')
})

test('more is asked for until all is told', async t => {
  const there = await stage(t, {}, async peer => {
    const a = owner()
    assert.equal((await peer.next()).start_index, 0)
    peer.say(...again(a.init(1), a.text('first', 0), a.complete('d-0', 4)), { type: 'subscribed', session_id: SESSION, index: 5, more: true, status: 'waiting' })
    const b = owner({ turn: 'turn_2' })
    assert.equal((await peer.subscribed(9, 'waiting', ...again(b.init(5), b.text('second', 0), b.complete('d-1', 8)))).start_index, 5)
  })
  const { chat } = chatting(t, there, { startIndex: 0 })
  await chat.connect()
  assert.deepEqual([...chat.turns.values()].map(turn => [turn.id, turn.status, turn.text]), [['turn_1', 'complete', 'first'], ['turn_2', 'complete', 'second']])
  assert.equal(chat.nextIndex, 9)
})

test('silence: a running turn is asked for, a dead connection given up, an idle one kept by pings', async t => {
  const there = await stage(t, {},
    async peer => {
      await peer.subscribed(0)
      await peer.next()
      const o = owner()
      peer.say(o.init(1), o.text('so', 0))
      assert.deepEqual(await peer.next(), { action: 'subscribe', session_id: SESSION, start_index: 1 })
      // and nothing is answered
    },
    async peer => {
      const l = owner()
      await peer.subscribed(9, 'waiting', ...again(l.init(1), l.text('so long', 0), l.complete('d-1', 8)))
      assert.deepEqual(await peer.next(), { action: 'ping' })
      peer.say({ type: 'pong' })
      assert.deepEqual(await peer.next(), { action: 'ping' })
      peer.say({ type: 'error', error: 'seen' })
    })
  const { chat, story } = chatting(t, there, { times: { quiet: 60, answer: 1_500, ping: 100 } })
  ended(await chat.send('hi', { deliveryId: 'd-1' }), 'complete', 'so long')
  while (!story.includes('error seen')) await new Promise(resolve => setTimeout(resolve, 5))
  assert.equal(story.filter(line => line === '[connecting]').length, 2)
})

test('a message whose turn waits in line is waited for, however long nothing is said of it', async t => {
  const there = await stage(t, {}, async peer => {
    await peer.subscribed(0)
    assert.equal((await peer.next()).delivery_id, 'd-1')
    for (let i = 0; i < 8; i++) await peer.subscribed(2, 'running') // turn.queued has index 1
    const o = owner()
    peer.say(o.init(3), o.text('at last', 0), o.complete('d-1', 9))
  })
  const { chat, story } = chatting(t, there, { times: { quiet: 10, ping: 40 } })
  ended(await chat.send('hi', { deliveryId: 'd-1' }), 'complete', 'at last')
  assert.deepEqual(story, ['[connecting]', '[open]', 'turn turn_1', '+at last', 'end complete'])
})

test('a message that came to nothing is sent again on the same connection, not without end', async t => {
  const there = await stage(t, {}, async peer => {
    await peer.subscribed(0)
    for (let i = 0; i < 5; i++) {
      assert.equal((await peer.next()).delivery_id, 'd-1')
      await peer.subscribed(0)
    }
  })
  const { chat } = chatting(t, there, { times: { quiet: 10 } })
  await assert.rejects(chat.send('hi', { deliveryId: 'd-1' }), { code: 'connection_lost', message: /sent 5 times/ })
})

test('a turn whose end nobody can tell is lost, not open for ever', async t => {
  const o = owner()
  const there = await stage(t, {},
    async peer => {
      await peer.subscribed(0)
      peer.say(o.init(1), o.text('so', 0))
      setTimeout(() => peer.drop(), 20)
    },
    async peer => { await peer.subscribed(0) })
  const { chat, story } = chatting(t, there)
  await chat.connect()
  while (!story.includes('end lost')) await new Promise(resolve => setTimeout(resolve, 5))
  assert.equal(chat.turns.get('turn_1').ended, false)
})

test('a function that fails is tried again, a message not without end', async t => {
  const failing = async peer => {
    await peer.subscribed(0)
    await peer.next()
    peer.say({ message: 'Internal server error', connectionId: 'c', requestId: 'r' })
  }
  const there = await stage(t, {}, ...Array(5).fill(failing))
  const { chat } = chatting(t, there)
  await assert.rejects(chat.send('hi'), { code: 'connection_lost', message: /sent 5 times/ })
})

test('what is longer than a frame goes over HTTP', async t => {
  const long = 'x'.repeat(MAX_FRAME_BYTES)
  const session = `/agent/sessions/${SESSION}`
  const http = {
    [`GET ${session}`]: ({ nth }) => ({ json: { continuationToken: `token-${nth}` } }),
    [`POST ${session}/messages`]: ({ nth }) => nth === 0 ? { status: 409, json: { code: 'stale_token', message: 'stale' } } : { status: 202, json: {} },
  }
  const there = await stage(t, { http }, async peer => {
    await peer.subscribed(0)
    const o = owner()
    while (there.calls.filter(c => c.name.endsWith('/messages')).length < 2) await new Promise(resolve => setTimeout(resolve, 5))
    peer.say(o.init(1), o.complete('d-1', 3))
  })
  const { chat } = chatting(t, there)
  ended(await chat.send(long, { deliveryId: 'd-1' }), 'complete', '')
  const posts = there.calls.filter(c => c.name.endsWith('/messages')).map(c => c.body)
  assert.deepEqual(posts.map(p => [p.continuationToken, p.deliveryId, p.message.length]), [['token-0', 'd-1', long.length], ['token-1', 'd-1', long.length]])
})

test('what is longer than a frame may begin a session', async t => {
  const long = 'x'.repeat(MAX_FRAME_BYTES)
  const session = `/agent/sessions/${SESSION}`
  const http = {
    [`GET ${session}`]: ({ nth }) => nth === 0 ? { status: 404, json: { code: 'not_found', message: 'no such session' } } : { json: { continuationToken: 'token-1' } },
    [`POST ${session}/messages`]: ({ nth }) => nth === 0 ? { status: 400, json: { code: 'invalid', message: 'continuationToken: must not be empty' } } : { status: 202, json: {} },
  }
  const there = await stage(t, { http }, async peer => {
    await peer.subscribed(0)
    const o = owner()
    while (there.calls.filter(c => c.name.endsWith('/messages')).length < 2) await new Promise(resolve => setTimeout(resolve, 5))
    peer.say(o.init(1), o.complete('d-1', 3))
  })
  const { chat } = chatting(t, there)
  ended(await chat.send(long, { deliveryId: 'd-1' }), 'complete', '')
  const posts = there.calls.filter(c => c.name.endsWith('/messages')).map(c => c.body)
  assert.deepEqual(posts.map(p => [p.continuationToken, p.deliveryId]), [[undefined, 'd-1'], ['token-1', 'd-1']])
})

test('a long message that is refused rejects', async t => {
  const session = `/agent/sessions/${SESSION}`
  const http = {
    [`GET ${session}`]: () => ({ json: { continuationToken: 'token' } }),
    [`POST ${session}/messages`]: () => ({ status: 409, json: { code: 'session_busy', message: 'a turn is running' } }),
  }
  const there = await stage(t, { http }, peer => peer.subscribed(0))
  const { chat } = chatting(t, there)
  await assert.rejects(chat.send('x'.repeat(MAX_FRAME_BYTES)), { code: 'session_busy', status: 409 })
})

test('events come page by page', async t => {
  const event = index => JSON.stringify({ type: 'message.received', index })
  const http = {
    [`GET /agent/sessions/${SESSION}/events`]: ({ url }) => url.endsWith('startIndex=1')
      ? { headers: { 'x-next-index': '3' }, text: `${event(1)}\n${event(2)}\n` } : { text: `${event(3)}\n` },
  }
  const there = await stage(t, { http })
  const { chat } = chatting(t, { url: there.url + '/' })
  const seen = []
  for await (const e of chat.events({ startIndex: 1 })) seen.push(e.index)
  assert.deepEqual(seen, [1, 2, 3])
})

test('close leaves, and connect comes back', async t => {
  const there = await stage(t, {}, peer => peer.subscribed(3), async peer => {
    assert.equal((await peer.subscribed(3)).start_index, 3)
  })
  const { chat, story } = chatting(t, there)
  await chat.connect()
  const send = chat.send('hi')
  chat.close()
  await assert.rejects(send, { code: 'closed' })
  await chat.connect()
  assert.deepEqual(story, ['[connecting]', '[open]', '[closed]', '[connecting]', '[open]'])
})

test('close ends a connection that is not there yet', async t => {
  let connections = 0
  const there = await stage(t, {}, async () => { connections++ })
  const { chat, story } = chatting(t, there)
  const through = chat.connect()
  chat.close()
  await assert.rejects(through, { code: 'closed' })
  while (!there.calls.length) await new Promise(resolve => setTimeout(resolve, 2))
  await new Promise(resolve => setTimeout(resolve, 50)) // nothing comes after it
  assert.equal(connections, 0)
  assert.deepEqual(story, ['[connecting]', '[closed]'])
})

test('options that cannot work are refused', () => {
  assert.throws(() => new Chat({ token: 'jwt', WebSocket }), TypeError)
  assert.throws(() => new Chat({ wsUrl: 'ws://127.0.0.1', WebSocket }), TypeError)
})

test('a call waits, is approved over HTTP, and the turn goes on; who decides later is told that it is too late', async t => {
  const o = owner()
  const at = `POST /agent/sessions/${SESSION}/approvals/c1`
  const http = {
    [at]: ({ nth, body }) => [
      { status: 503, json: { message: 'later', code: 'unavailable' } },
      { json: { actionId: 'c1', status: 'approved', by: 'user-1' } },
    ][nth] ?? { status: 409, json: { message: `the call is approved already, not ${body.decision}`, code: 'already_decided' } },
  }
  let go
  const decided = new Promise(resolve => { go = resolve })
  const there = await stage(t, { http }, async peer => {
    await peer.subscribed(0)
    await peer.next()
    peer.say(o.init(1), o.tool('pay', 'c1'), { ...o.approval('c1', 'pending', { input: { cents: 5 }, expires_at: '2026-03-02T10:00:00.000Z' }), index: 4 })
    await decided
    const l = owner({ fence: 2 })
    peer.say({ ...l.approval('c1', 'approved', { by: 'user-1' }), index: 5 }, l.text('Paid.', 0), l.complete('d-1', 9))
  })
  const { chat, said } = chatting(t, there)
  const send = chat.send('pay', { deliveryId: 'd-1' })
  while (!said().includes('pay pending')) await new Promise(resolve => setTimeout(resolve, 1))
  const [turn] = chat.turns.values()
  assert.deepEqual([turn.waits, turn.approvals], [true, [{ id: 'c1', name: 'pay', input: { cents: 5 }, expiresAt: '2026-03-02T10:00:00.000Z', status: 'pending', by: undefined, reason: undefined }]])
  assert.equal((await chat.decide('c1', 'approve', { reason: 'Fine.' })).status, 'approved')
  assert.equal(turn.waits, false)
  await assert.rejects(chat.decide('c1', 'deny'), { code: 'already_decided', status: 409, message: /already, not deny/ })
  go()
  ended(await send, 'complete', 'Paid.')
  assert.deepEqual(said(), ['turn turn_1', 'tool pay', 'pay pending', 'pay approved', '+Paid.', 'end complete'])
  assert.deepEqual(there.calls.filter(c => c.name === at).map(c => c.body), [
    { decision: 'approve', reason: 'Fine.' }, { decision: 'approve', reason: 'Fine.' }, { decision: 'deny' },
  ])
})

test('a decision over the socket outlives it, and is refused by name', async t => {
  const o = owner()
  const told = [o.init(1), o.approval('c1', 'pending'), o.approval('c2', 'pending')]
  const script = async (peer, answer) => {
    await peer.subscribed(1, 'waiting_approval', ...again(...told))
    answer(peer, await peer.next())
  }
  const there = await stage(t, {},
    peer => script(peer, (_, m) => {
      assert.deepEqual(m, { action: 'decide', session_id: SESSION, action_id: 'c1', decision: 'deny', reason: 'No.' })
      peer.drop()
    }),
    peer => script(peer, async (_, m) => {
      peer.say({ type: 'decided', session_id: SESSION, action_id: m.action_id, status: 'denied' })
      const second = await peer.next()
      peer.say({ type: 'error', error: 'already_decided', message: 'too late', session_id: SESSION, action_id: second.action_id })
    }))
  const wsUrl = there.url.replace('http', 'ws') + '/ws'
  const { chat, said } = chatting(t, there, { url: undefined, wsUrl, startIndex: 0 })
  await chat.connect()
  assert.deepEqual(await chat.decide('c1', 'deny', { reason: 'No.' }), { actionId: 'c1', status: 'denied' })
  await assert.rejects(chat.decide('c2', 'approve'), { code: 'already_decided', message: 'too late' })
  assert.deepEqual(said(), ['turn turn_1', 'pay pending', 'pay pending', 'pay denied'])
})

test('what nobody decided about ends with its turn', async t => {
  const o = owner()
  const there = await stage(t, {}, async peer => {
    await peer.subscribed(0)
    await peer.next()
    peer.say(o.init(1), o.approval('c1', 'pending'), o.fail('cancelled', 'd-1'))
  })
  const { chat, said } = chatting(t, there)
  ended(await chat.send('pay', { deliveryId: 'd-1' }), 'failed', '')
  assert.deepEqual(said(), ['turn turn_1', 'pay pending', 'pay void', 'end failed cancelled'])
})
