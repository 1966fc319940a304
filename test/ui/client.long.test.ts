/** The client in a browser: the packed files, in a page of the server's own origin, over a network that breaks. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PlaygroundMessage, ReplyEvent } from '../../packages/client/src/index.ts'
import { createAgent, startTestApp } from '../support/app.ts'
import { startProxy } from '../support/network/proxy.ts'
import { startUpstream } from '../support/network/upstream.ts'
import { openBrowser } from './browser.ts'

const root = new URL('../../', import.meta.url)
const app = await startTestApp({ settings: { AUTH_CREDENTIALS: 'anna:secret-word' } })
const up = await startUpstream()
const browser = await openBrowser()
const proxy = await startProxy(app.url)
beforeAll(() => promisify(execFile)(process.execPath, [fileURLToPath(new URL('scripts/build-client.ts', root))]))
afterAll(async () => {
  await browser.close()
  await proxy[Symbol.asyncDispose]()
  await up.close()
  await app[Symbol.asyncDispose]()
})

interface Seen {
  events: ReplyEvent[]
  states: string[]
  message: PlaygroundMessage
  me: { username: string | null }
}

/** Runs in the page. The cookie is the browser's affair. */
const conversation = `async (agentId) => {
  const { createClient } = await import('/client/index.js')
  const states = []
  const client = createClient({ baseUrl: '', reconnect: { firstWaitMs: 20 } })
  await client.POST('/api/auth/login', { body: { username: 'anna', password: 'secret-word' } })
  const session = client.playground(agentId).session()
  const reply = session.send('Count', { onConnection: (state) => states.push(state) })
  const events = []
  for await (const event of reply) {
    events.push(event)
    if (event.type === 'text') await cutAndGoOn()
  }
  return { events, states, message: await reply.message(), me: await client.GET('/api/auth/me') }
}`

test('a reply over a connection that is cut at every word, with a login', async () => {
  const { agentId } = await createAgent(app, { type: 'openai-compatible', baseUrl: up.url })
  const words = ['1', ' 2', ' 3', ' 4', ' 5', ' 6', ' 7', ' 8']
  up.next((call) => call.text(words[0] ?? ''))
  let said = 1
  await using page = await browser.page(proxy.url)
  await page.route('**/client/**', async (route) => {
    const name = new URL(route.request().url()).pathname.replace('/client/', '')
    const body = await readFile(new URL(`packages/client/dist/${name}`, root), 'utf8')
    await route.fulfill({ contentType: 'text/javascript', body })
  })
  // Each word is said once the one before has been read, and its connection cut.
  await page.exposeFunction('cutAndGoOn', async () => {
    proxy.drop()
    const next = words[said++]
    const call = up.calls.at(-1)
    await (next === undefined ? call?.finish() : call?.text(next))
  })
  await page.goto('/')
  const { events, states, message, me } = await page.evaluate<Seen>(`(${conversation})(${JSON.stringify(agentId)})`)
  expect(me).toEqual({ username: 'anna', role: 'admin', method: 'password' })
  const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('')
  expect(text).toBe(message.content)
  expect(text).toBe('1 2 3 4 5 6 7 8')
  expect(events.map(({ type }) => type)).toEqual(['started', ...events.slice(1, -1).map(() => 'text'), 'finished'])
  expect(states.filter((state) => state === 'open').length).toBeGreaterThanOrEqual(words.length)
})
