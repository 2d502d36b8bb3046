// The example page in headless Chromium, against a running stack (STEADFAST_INFO). What is shown has to be what is stored.
import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { door } from './door.mjs'
import { stored, there, token as signIn, words } from './there.mjs'

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']
const PATIENCE = 90_000 // a function may have to be started on a busy machine

let way, profile, browser, token

before(async () => {
  way = await door(there.http)
  profile = await mkdtemp(join(tmpdir(), 'steadfast-browser-'))
  browser = await chromium.launchPersistentContext(profile, { executablePath: process.env.STEADFAST_CHROMIUM, args: FLAGS, headless: true })
  browser.setDefaultTimeout(PATIENCE)
  token = await signIn()
})

after(async () => {
  await browser?.close()
  await way?.close()
  if (profile) await rm(profile, { recursive: true, force: true, maxRetries: 5 })
})

/** A page with a session of its own. */
async function talking(t, session) {
  const page = await browser.newPage()
  const wrong = []
  page.on('pageerror', error => wrong.push(error))
  t.after(async () => {
    await page.close()
    assert.deepEqual(wrong, [])
  })
  await page.goto(`${way.url}/client/example.html#${new URLSearchParams({ url: way.url, token, ...(session && { session }) })}`)
  await page.waitForSelector('#composer:not([hidden])')
  return page
}

async function say(page, text) {
  await page.fill('#message', text)
  await page.click('#send')
}

const session = page => new URLSearchParams(new URL(page.url()).hash.slice(1)).get('session')

/** Waits until turn number n (from 0) ended so. */
const ends = (page, n, status) => page.locator('article.turn').nth(n).and(page.locator(`[data-status=${status}]`)).waitFor({ timeout: PATIENCE })

/** Waits until the last turn shows a word. */
const shows = (page, word) => page.locator('article.turn .text').last().filter({ hasText: word }).waitFor({ timeout: PATIENCE })

/** What the page shows: for each turn what was said before it, its text and its status. */
const shown = page => page.evaluate(() => {
  const all = []
  let asked = []
  for (const e of document.querySelectorAll('#talk > *')) {
    if (e.classList.contains('said')) asked.push(e.textContent)
    if (!e.matches('article.turn')) continue
    const tools = [...e.querySelectorAll('.tools span')].map(s => s.textContent)
    all.push({ asked, text: e.querySelector('.text').textContent, tools, status: e.dataset.status })
    asked = []
  }
  return all
})

async function same(page) {
  const seen = await shown(page)
  assert.deepEqual(seen, await stored(session(page), token))
  return seen
}

test('a conversation, and a reload', async t => {
  const page = await talking(t)
  await say(page, 'call get_current_time')
  await ends(page, 0, 'complete')
  await say(page, 'say "😀 <b>bold</b>\n & more"')
  await ends(page, 1, 'complete')
  const before = await same(page)
  assert.deepEqual(before[0].tools, ['get_current_time'])
  await page.reload()
  await ends(page, 1, 'complete')
  assert.deepEqual(await same(page), before)
})

test('P13 the socket drops in mid-answer', async t => {
  const page = await talking(t)
  await say(page, 'say 80 words slow 40 ms')
  await shows(page, 'word5')
  assert.equal(way.drop(300), 1)
  await page.waitForSelector('#state:not([data-state=open])')
  await ends(page, 0, 'complete')
  const [turn] = await same(page)
  assert.equal(turn.text, words(80))
  await page.waitForSelector('#state[data-state=open]')
})

test('P13 the answer ends while the socket is away', async t => {
  const page = await talking(t)
  await say(page, 'say 30 words slow 40 ms')
  await shows(page, 'word5')
  assert.equal(way.drop(4_000), 1)
  await ends(page, 0, 'complete')
  assert.equal((await same(page))[0].text, words(30))
})

test('P01 a second message in mid-answer', async t => {
  const page = await talking(t)
  await say(page, 'say 200 words slow 40 ms')
  await shows(page, 'word5')
  await say(page, 'say "that is enough"')
  await ends(page, 1, 'complete')
  const seen = await same(page)
  assert.deepEqual(seen.map(turn => turn.status), ['failed', 'complete'])
  assert.equal(seen[1].text, 'that is enough')
})

test('a stop', async t => {
  const page = await talking(t)
  await say(page, 'say 200 words slow 40 ms')
  await shows(page, 'word5')
  await page.click('#stop')
  await ends(page, 0, 'failed')
  const [turn] = await same(page)
  assert.match(turn.text, /^word1 word2 /)
  await say(page, 'say "go on"')
  await ends(page, 1, 'complete')
  await same(page)
})

test('a reload in mid-answer', async t => {
  const page = await talking(t)
  await say(page, 'say 80 words slow 40 ms')
  await shows(page, 'word5')
  await page.reload()
  await ends(page, 0, 'complete')
  assert.equal((await same(page))[0].text, words(80))
})

test('a message that is longer than a frame, and one that is too long', async t => {
  const page = await talking(t)
  await say(page, 'say 3 words ' + 'x'.repeat(40_000)) // begins the session
  await ends(page, 0, 'complete')
  await say(page, 'say "hello"')
  await ends(page, 1, 'complete')
  await say(page, 'say 4 words ' + 'x'.repeat(120_000))
  await ends(page, 2, 'complete')
  assert.equal((await same(page))[2].text, words(4))
  await say(page, 'x'.repeat(140_000))
  await page.locator('.said.refused', { hasText: 'the limit is 131072 (128 KB)' }).waitFor()
})

test('what keeps the page from connecting stands where it can be mended', async t => {
  const page = await browser.newPage()
  t.after(() => page.close())
  await page.goto(`${way.url}/client/example.html`)
  const connect = async (url, token) => {
    await page.fill('input[name=url]', url)
    await page.fill('input[name=token]', token)
    await page.click('#sign-in button')
  }
  await connect(way.url, 'nonsense')
  await page.locator('#refused', { hasText: 'The token was refused' }).waitFor()
  await connect('http://127.0.0.1:8', token) // nobody is there, and the page goes on trying
  await page.locator('#refused', { hasText: 'Nothing answers' }).waitFor()
  await connect(way.url, token)
  await page.waitForSelector('#composer:not([hidden])')
  await say(page, 'say 3 words')
  await ends(page, 0, 'complete')
  assert.equal(await page.locator('.said.waits').count(), 0)
  assert.equal(await page.locator('#sign-in').isVisible(), false)
})

test('a call waits for a person: one tab approves, the other is too late', async t => {
  const made = await fetch(`${there.http}/agent/sessions`, {
    method: 'POST', headers: { authorization: `Bearer ${token}` }, body: JSON.stringify({ tools: ['publish_note'] }),
  })
  const { sessionId } = await made.json()
  const [one, two] = [await talking(t, sessionId), await talking(t, sessionId)]
  await say(one, 'call publish_note with {"text":"hello"}')
  const waits = page => page.locator('.approval[data-status=pending] button', { hasText: 'Approve' }).waitFor({ timeout: PATIENCE })
  await Promise.all([waits(one), waits(two)])
  assert.match(await two.locator('.approval pre').innerText(), /"text": "hello"/)
  // The other tab has not heard of the decision yet when its person decides.
  const answers = []
  two.on('response', r => { if (r.url().includes('/approvals/') && r.request().method() === 'POST') answers.push(r.status()) })
  way.drop(8_000)
  await one.evaluate(() => document.querySelector('.approval button.first').click())
  await one.locator('.approval[data-status=approved]').waitFor({ timeout: PATIENCE })
  await two.locator('.approval button', { hasText: 'Deny' }).click()
  await two.locator('.approval .note', { hasText: 'Somebody was faster' }).waitFor({ timeout: PATIENCE })
  assert.deepEqual(answers, [409])
  for (const page of [one, two]) {
    await ends(page, 0, 'complete')
    assert.equal((await shown(page))[0].text, 'publish_note answered: published: hello')
    assert.equal(await page.locator('.approval .verdict').innerText(), 'Approved')
  }
  await same(one)
  await two.reload()
  await ends(two, 0, 'complete')
  await same(two)
  assert.equal(await two.locator('.approval .verdict').innerText(), 'Approved')
})
