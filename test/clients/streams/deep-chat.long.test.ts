/** deep-chat, unmodified, in Chromium (contract section 12): it speaks chat completions, not a format for pages. */
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { startProxy } from '../../support/network/proxy.ts'
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
// Answers that a failed test has left are not given to the next one.
beforeEach(() => scene.up.forget())
afterAll(async () => {
  await browser.close()
  await scene?.close()
})

const said = (text: string) => ({ role: 'assistant', text, tools: [] })
const asked = (text: string) => ({ role: 'user', text, tools: [] })
const cells: Partial<Record<UiRow, string>> = {
  setUp:
    '`directConnection: { openAI: { key, completions: true } }, connect: { url, stream: true, additionalBodyProps: ' +
    '{ on_busy: "interrupt" } }, history`, the URL of a session',
}
const base = () => `/api/v1/agents/${scene.agentId}/deploy`
const open = (id = '', origin = scene.app.url) =>
  openUiClient(browser, script, 'deep-chat', { origin, base: base(), id })
type Client = Awaited<ReturnType<typeof open>>
const status = (client: Client) => expect.poll(async () => (await client.shown()).status)
const messages = (client: Client) => expect.poll(async () => (await client.shown()).messages)

/** Names of what the component offers for another reply, or for an edited message. */
const ofAnotherReply = `
  (() => {
    const names = []
    let from = document.querySelector('deep-chat')
    for (; from !== HTMLElement.prototype; from = Object.getPrototypeOf(from)) names.push(...Object.getOwnPropertyNames(from))
    return names.filter((name) => /regenerat|retry|reload|edit/i.test(name))
  })()`

/** Sends `text`, and resolves to the call once its first words are shown. */
async function begins(client: Client, text: string, words: string): Promise<UpstreamCall> {
  const { promise, resolve } = Promise.withResolvers<UpstreamCall>()
  scene.up.next(resolve)
  await client.send(text)
  const call = await promise
  await call.text(words)
  await expect.poll(async () => (await client.shown()).messages.at(-1)).toEqual(said(words))
  return call
}

/**
 * The rest of the reply, and its end once the client shows it: words that arrive together with the end of the stream come too
 * late for deep-chat 2.4.2, which closes the message before it has read them.
 */
async function ends(client: Client, call: UpstreamCall, rest: string, whole: string): Promise<void> {
  await call.text(rest)
  await expect.poll(async () => (await client.shown()).messages.at(-1)).toEqual(said(whole))
  await call.finish()
}

/** Sends `text`, which is answered with `words`. */
async function isAnswered(client: Client, text: string, words: string): Promise<void> {
  const call = await begins(client, text, words)
  await call.finish()
  await status(client).toBe('ready')
}

verifies('contract-12.clients', 'deep-chat: the first message, the next one, and a model that fails', async () => {
  await using client = await open()
  await status(client).toBe('ready')
  const call = await begins(client, 'go', 'Hel')
  await ends(client, call, 'lo', 'Hello')
  await status(client).toBe('ready')
  expect((await client.shown()).messages).toEqual([asked('go'), said('Hello')])
  cells.stream = 'yes; words that arrive together with the end may be missing until a reload'

  await isAnswered(client, 'and now?', 'Now')
  expect((await client.shown()).messages).toEqual([asked('go'), said('Hello'), asked('and now?'), said('Now')])
  // What it repeats of earlier turns is stored once.
  const { sessions } = Object(await (await fetch(`${scene.app.url}${base()}/sessions`)).json())
  const stored = await scene.stored(`${base()}/sessions/${sessions[0].id}`)
  expect(stored.map(({ content }) => content)).toEqual(['go', 'Hello', 'and now?', 'Now'])

  await expect.poll(() => client.evaluate<string[]>(ofAnotherReply)).toEqual([])
  cells.again = 'it has neither'

  scene.up.next((next) => next.error(400))
  await client.send('once more')
  await expect.poll(async () => (await client.shown()).error).not.toBeNull()
  cells.failed = 'an error; the next message is answered'
  await status(client).toBe('ready')
  await isAnswered(client, 'and again', 'Again')
})

verifies(['contract-12.clients', 'contract-25.busy'], 'deep-chat: stopped by its button, and asked again', async () => {
  await using client = await open()
  await status(client).toBe('ready')
  const call = await begins(client, 'go', 'Hel')
  await client.stop()
  await status(client).toBe('ready')
  expect(call.abandoned).toBe(false)
  await isAnswered(client, 'and now?', 'Now')
  expect((await client.shown()).messages).toEqual([asked('go'), said('Hel'), asked('and now?'), said('Now')])
  await expect.poll(() => call.abandoned).toBe(true)
  cells.stop = 'leaves the stream, the reply goes on; the next message cancels it and is answered'
})

verifies('contract-12.clients', 'deep-chat: reloaded in the middle of a reply', async () => {
  await using client = await open()
  await status(client).toBe('ready')
  const call = await begins(client, 'go', 'Hel')
  await client.reload()
  await messages(client).toEqual([asked('go'), said('Hel')])
  await call.text('lo')
  await call.finish()
  const session = `${base()}/sessions/${await client.evaluate<string>('client.kept()')}`
  await expect.poll(async () => (await scene.stored(session)).at(-1)).toMatchObject({ status: 'complete' })
  expect((await client.shown()).messages).toEqual([asked('go'), said('Hel')])
  await client.reload()
  await messages(client).toEqual([asked('go'), said('Hello')])
  await isAnswered(client, 'and now?', 'Now')
  cells.reload = '`history` from `GET …/messages`: what there was then; the rest with the next reload'
})

verifies('contract-12.clients', 'deep-chat: the connection is lost', async () => {
  await using proxy = await startProxy(scene.app.url)
  await using client = await open('', proxy.url)
  await status(client).toBe('ready')
  const call = await begins(client, 'go', 'Hel')
  proxy.drop()
  await expect.poll(async () => (await client.shown()).error).not.toBeNull()
  await call.text('lo')
  await call.finish()
  const session = `${base()}/sessions/${await client.evaluate<string>('client.kept()')}`
  await expect.poll(async () => (await scene.stored(session)).at(-1)).toMatchObject({ status: 'complete' })
  await client.reload()
  await messages(client).toEqual([asked('go'), said('Hello')])
  cells.lost = 'an error; a reload shows all of it'
})

verifies(['contract-12.clients', 'contract-25.busy'], 'deep-chat: two tabs', async () => {
  await using client = await open()
  await status(client).toBe('ready')
  const stopped = await begins(client, 'go', 'to be stopped')
  await using other = await open(await client.evaluate<string>('client.kept()'))
  await messages(other).toEqual([asked('go'), said('to be stopped')])
  await status(other).toBe('ready')
  const call = await begins(other, 'me too', 'For')
  await status(client).toBe('ready')
  expect((await client.shown()).error).toBeNull()
  await expect.poll(() => stopped.abandoned).toBe(true)
  await ends(other, call, ' you', 'For you')
  await status(other).toBe('ready')
  const shown = [asked('go'), said('to be stopped'), asked('me too'), said('For you')]
  expect((await other.shown()).messages).toEqual(shown)
  cells.busy = 'cancels it, which ends in its tab as it is, and is answered'
})

compareRecorded('deep-chat', () => ({ client: '`deep-chat`', version, cells: { page: cells } }))
