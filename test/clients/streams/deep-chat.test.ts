/** deep-chat, unmodified, in Chromium (contract section 12): it speaks chat completions, not a format for pages. */
import { afterAll, beforeAll, expect } from 'vitest'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { openBrowser } from '../../ui/browser.ts'
import { verifies } from '../../verifies.ts'
import { compareRecorded } from '../matrix.ts'
import type { UiRow } from '../rows.ts'
import { openScene, type Scene } from '../scene.ts'
import { bundleUiClients, openUiClient, versionOf } from '../ui-bundle.ts'

const browser = await openBrowser()
const script = await bundleUiClients()
const version = await versionOf('deep-chat')

let scene: Scene
beforeAll(async () => {
  scene = await openScene({ PUBLIC_API_KEY: '' })
})
afterAll(async () => {
  await browser.close()
  await scene?.close()
})

const said = (text: string) => ({ role: 'assistant', text, tools: [] })
const asked = (text: string) => ({ role: 'user', text, tools: [] })
const cells: Partial<Record<UiRow, string>> = {
  setUp:
    '`directConnection: { openAI: { key, completions: true } }, connect: { url, stream: true }`, the URL of a session',
}

verifies('contract-12.clients', 'deep-chat: the first message, the next one, and a model that fails', async () => {
  const base = `/api/v1/agents/${scene.agentId}/deploy`
  await using client = await openUiClient(browser, script, 'deep-chat', { origin: scene.app.url, base, id: '' })
  const status = () => expect.poll(async () => (await client.shown()).status)
  const messages = () => expect.poll(async () => (await client.shown()).messages)
  await status().toBe('ready')
  const { promise: first, resolve } = Promise.withResolvers<UpstreamCall>()
  scene.up.next(resolve)
  await client.send('go')
  const call = await first
  await call.text('Hel')
  await messages().toEqual([asked('go'), said('Hel')])
  await call.text('lo')
  await call.finish()
  await messages().toEqual([asked('go'), said('Hello')])
  await status().toBe('ready')
  cells.stream = 'yes'

  scene.says('Now')
  await client.send('and now?')
  await messages().toEqual([asked('go'), said('Hello'), asked('and now?'), said('Now')])
  await status().toBe('ready')
  // What it repeats of earlier turns is stored once.
  const { sessions } = Object(await (await fetch(`${scene.app.url}${base}/sessions`)).json())
  const stored = await scene.stored(`${base}/sessions/${sessions[0].id}`)
  expect(stored.map(({ content }) => content)).toEqual(['go', 'Hello', 'and now?', 'Now'])

  scene.up.next((next) => next.error(400))
  await client.send('once more')
  await expect.poll(async () => (await client.shown()).error).not.toBeNull()
  cells.failed = 'an error; the next message is answered'
  await status().toBe('ready')
  scene.says('Again')
  await client.send('and again')
  await expect.poll(async () => (await client.shown()).messages.at(-1)).toEqual(said('Again'))
})

compareRecorded('deep-chat', () => ({ client: '`deep-chat`', version, cells: { page: cells } }))
