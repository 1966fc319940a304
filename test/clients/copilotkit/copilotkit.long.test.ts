/** CopilotKit's client in Chromium and its runtime, unmodified, over AG-UI (contract sections 12 and 25). */
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { askSetUp } from '../../support/database.ts'
import { startProxy } from '../../support/network/proxy.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { freePort } from '../../support/programs/free-port.ts'
import { type Program, startProgram } from '../../support/programs/program.ts'
import { openBrowser } from '../../ui/browser.ts'
import { verifies } from '../../verifies.ts'
import { compareRecorded } from '../matrix.ts'
import type { UiRow } from '../rows.ts'
import { openScene, type Scene } from '../scene.ts'
import { bundlePage, openUiClient, type UiClient, versionOf } from '../ui-bundle.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const trouble = await askSetUp('copilotkit')
if (trouble !== '') throw new Error(trouble)
const packages = ['@copilotkit/core', '@copilotkit/runtime']
const versions = await Promise.all(packages.map((name) => versionOf(name, here)))
const browser = await openBrowser()
const script = await bundlePage(here, 'page.js')

let scene: Scene
let runtime: Program
let runtimeUrl = ''
const deploy = () => `/api/v1/agents/${scene.agentId}/deploy`
beforeAll(async () => {
  scene = await openScene({ PUBLIC_API_KEY: '' })
  const port = await freePort()
  runtimeUrl = `http://127.0.0.1:${port}`
  const env = [`PORT=${port}`, `AG_UI=${scene.app.url}${deploy()}/ag-ui`, 'COPILOTKIT_TELEMETRY_DISABLED=true']
  runtime = await startProgram('/usr/bin/env', [...env, process.execPath, 'runtime.js'], {
    cwd: here,
    ready: () =>
      fetch(`${runtimeUrl}/copilotkit/info`).then(
        ({ ok }) => ok,
        () => false,
      ),
  })
})
// Answers that a failed test has left are not given to the next one.
beforeEach(() => scene.up.forget())
afterAll(async () => {
  await browser.close()
  await runtime?.kill9()
  await scene?.close()
})

const said = (text: string, tools: unknown[] = []) => ({ role: 'assistant', text, tools })
const asked = (text: string) => ({ role: 'user', text, tools: [] })
const cells: Partial<Record<UiRow, string>> = {
  setUp:
    '`new CopilotRuntime({ agents: { default: new HttpAgent({ url }) }, runner: new InMemoryAgentRunner() })`, and ' +
    '`new CopilotKitCore({ runtimeUrl })`',
}

/** A thread's name, which is no UUID. */
const newThread = () => `thread of ${randomUUID()}`
const open = (id = newThread(), base = `${runtimeUrl}/copilotkit`) =>
  openUiClient(browser, script, 'copilotkit', { origin: scene.app.url, base, id })
const messages = (client: UiClient) => expect.poll(async () => (await client.shown()).messages)
const status = (client: UiClient) => expect.poll(async () => (await client.shown()).status)
const last = (client: UiClient) => expect.poll(async () => (await client.shown()).messages.at(-1))

/** What is stored of the thread, in the words of the path that its page goes on with. */
async function stored(id: string): Promise<string[]> {
  const list = await fetch(`${scene.app.url}${deploy()}/sessions?external_id=${encodeURIComponent(id)}`)
  const [session] = Object(await list.json()).sessions
  return (await scene.stored(`${deploy()}/sessions/${session.id}`)).map(({ content }) => content)
}

/** Does what makes the page ask the model, and resolves to the model's call. */
async function asks(act: () => Promise<unknown>): Promise<UpstreamCall> {
  const { promise, resolve } = Promise.withResolvers<UpstreamCall>()
  scene.up.next(resolve)
  await act()
  return await promise
}

/** Sends `text`, and resolves to the call once its first words are shown. */
async function begins(client: UiClient, text: string, words: string): Promise<UpstreamCall> {
  const call = await asks(() => client.send(text))
  await call.text(words)
  await last(client).toEqual(said(words))
  return call
}

/** `act` is answered with `words`. */
async function isAnswered(client: UiClient, act: () => Promise<unknown>, words: string): Promise<void> {
  const call = await asks(act)
  await call.text(words)
  await call.finish()
  await last(client).toEqual(said(words))
  await status(client).toBe('ready')
}

verifies(
  ['contract-12.clients', 'contract-25.ids-of-front-ends'],
  'the first message of a thread with a name, streamed, and the tools of the agent',
  async () => {
    await using client = await open()
    const call = await begins(client, 'go', 'Hel')
    await call.text('lo')
    await call.toolCall({ name: 'no_such_tool', arguments: '{}', id: 'c1' })
    scene.up.next(async (after) => {
      await after.text('!')
      await after.finish()
    })
    await call.finish('tool_calls')
    await status(client).toBe('ready')
    const { messages: all, error } = await client.shown()
    expect(error).toBeNull()
    expect(all[0]).toEqual(asked('go'))
    expect(all.map(({ text }) => text).join('')).toBe('goHello!')
    expect(all.flatMap(({ tools }) => tools)).toEqual([['no_such_tool', expect.anything()]])
    cells.stream = 'yes'
    cells.tools = 'shown as they run, with their results'
  },
)

verifies(['contract-12.clients', 'contract-25.busy'], 'stopped by the page, and asked again', async () => {
  const id = newThread()
  await using client = await open(id)
  const call = await begins(client, 'go', 'Hel')
  await client.stop()
  await status(client).toBe('ready')
  expect(call.abandoned).toBe(false)
  await isAnswered(client, () => client.send('and now?'), 'Now')
  expect((await client.shown()).messages).toEqual([asked('go'), said('Hel'), asked('and now?'), said('Now')])
  await expect.poll(() => call.abandoned).toBe(true)
  expect(await stored(id)).toEqual(['go', 'Hel', 'and now?', 'Now'])
  cells.stop = 'leaves the stream, the reply goes on; the next message cancels it and is answered'
})

verifies(['contract-12.clients', 'contract-25.regenerate-run'], 'another reply, and an edited message', async () => {
  const id = newThread()
  await using client = await open(id)
  await isAnswered(client, () => client.send('go'), 'One.')
  await isAnswered(client, () => client.evaluate('client.regenerate()'), 'Two.')
  expect((await client.shown()).messages).toEqual([asked('go'), said('Two.')])
  expect(await stored(id)).toEqual(['go', 'Two.'])
  await isAnswered(client, () => client.evaluate('client.edit("else")'), 'Three.')
  expect((await client.shown()).messages).toEqual([asked('else'), said('Three.')])
  expect(await stored(id)).toEqual(['go', 'Two.', 'else', 'Three.'])
  cells.again = 'another reply: yes; an edited message comes after the last one'
})

verifies('contract-12.clients', 'reloaded in the middle of a reply', async () => {
  await using client = await open()
  const call = await begins(client, 'go', 'Hel')
  await client.reload()
  await messages(client).toEqual([asked('go'), said('Hel')])
  await call.text('lo')
  await messages(client).toEqual([asked('go'), said('Hello')])
  await call.finish()
  await status(client).toBe('ready')
  await isAnswered(client, () => client.send('and now?'), 'Now')
  expect((await client.shown()).messages).toEqual([asked('go'), said('Hello'), asked('and now?'), said('Now')])
  cells.reload = '`connectAgent()`: its runtime repeats what it has in memory, and follows'
})

verifies('contract-12.clients', 'the page’s connection is lost', async () => {
  await using proxy = await startProxy(runtimeUrl)
  await using client = await open(newThread(), `${proxy.url}/copilotkit`)
  const call = await begins(client, 'go', 'Hel')
  proxy.drop()
  await status(client).toBe('error')
  await call.text('lo')
  await client.reload()
  await messages(client).toEqual([asked('go'), said('Hello')])
  await call.finish()
  await status(client).toBe('ready')
  cells.lost = 'an error; a reload shows all of it'
})

verifies(['contract-12.clients', 'contract-25.busy'], 'two tabs of a thread', async () => {
  const id = newThread()
  await using client = await open(id)
  const running = await begins(client, 'go', 'Hel')
  await using other = await open(id)
  await messages(other).toEqual([asked('go'), said('Hel')])
  await other.send('me too')
  await expect.poll(() => runtime.said()).toContain('Thread already running')
  expect(running.abandoned).toBe(false)
  await running.text('lo')
  await running.finish()
  await messages(client).toEqual([asked('go'), said('Hello')])
  await expect.poll(() => stored(id)).toEqual(['go', 'Hello'])
})

verifies(['contract-12.clients', 'contract-25.busy'], 'two tabs, where the runtime may replace a run', async () => {
  const id = newThread()
  const base = `${runtimeUrl}/superseding`
  await using client = await open(id, base)
  const stopped = await begins(client, 'go', 'to be stopped')
  await using other = await open(id, base)
  await messages(other).toEqual([asked('go'), said('to be stopped')])
  await isAnswered(other, () => other.send('me too'), 'For you')
  await status(client).toBe('ready')
  await expect.poll(() => stopped.abandoned).toBe(true)
  expect(await stored(id)).toEqual(['go', 'to be stopped', 'me too', 'For you'])
  cells.busy =
    'its runtime refuses it (“Thread already running”), and the reply goes on; with `onConcurrentRun: "supersede"` of ' +
    'the runner it cancels the reply and is answered'
})

verifies('contract-12.clients', 'a model that fails in the middle, and the next message', async () => {
  await using client = await open()
  const call = await begins(client, 'go', 'half')
  call.reset()
  await status(client).toBe('error')
  const { error, messages: all } = await client.shown()
  expect(all).toEqual([asked('go'), said('half')])
  await isAnswered(client, () => client.send('and now?'), 'Now')
  cells.failed = `\`onError\`, code \`${error?.code}\`; keeps what there was, the next message is answered`
})

compareRecorded('copilotkit', () => ({
  client: `CopilotKit: \`CopilotKitCore\` and its runtime (${packages.join(' + ')})`,
  version: versions.join(' + '),
  cells: { page: cells },
}))
