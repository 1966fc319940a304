/** Clients for pages, unmodified, in Chromium (contract section 12). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest'
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

function byHand(): Promise<UpstreamCall> {
  const { promise, resolve } = Promise.withResolvers<UpstreamCall>()
  scene.up.next(resolve)
  return promise
}

const base = () => `/api/v1/agents/${scene.agentId}/deploy`
const said = (text: string, tools: unknown[] = []) => ({ role: 'assistant', text, tools })
const asked = (text: string) => ({ role: 'user', text, tools: [] })

describe.each([
  {
    file: 'use-chat',
    name: '`useChat`',
    packages: ['@ai-sdk/react', 'ai'],
    setUp: '`useChat({ id, messages, resume: true, transport })`',
    back: '`resumeStream()`',
  },
  {
    file: 'use-chat-6',
    name: '`useChat`',
    packages: ['ai-sdk-react-6', 'ai-6'],
    names: ['@ai-sdk/react', 'ai'],
    setUp: '`useChat({ id, messages, resume: true, transport })`',
    // `resumeStream()` of this version adds the whole reply to the part that the page has.
    back: 'a reload',
    isReloaded: true,
  },
  {
    file: 'assistant-ui',
    name: 'assistant-ui: `useAISDKRuntime`',
    packages: ['@assistant-ui/react', '@assistant-ui/react-ai-sdk'],
    setUp: '`useAISDKRuntime(useChat({ id, messages, resume: true, transport }))`',
    back: '`resumeStream()` of its `useChat`',
  },
  {
    file: 'ag-ui',
    name: 'AG-UI: `HttpAgent`',
    packages: ['@ag-ui/client'],
    setUp: '`new HttpAgent({ url, threadId, initialMessages })`',
    back: 'the run sent again',
  },
])('$file', ({ file, name, packages, names = packages, setUp, back, isReloaded = false }) => {
  const cells: Partial<Record<UiRow, string>> = { setUp }
  const isAgUi = file === 'ag-ui'
  const open = (origin = scene.app.url, id = randomUUID()) =>
    openUiClient(browser, script, file, { origin, base: base(), id })
  const messages = (client: Awaited<ReturnType<typeof open>>) =>
    expect.poll(async () => (await client.shown()).messages)
  const status = (client: Awaited<ReturnType<typeof open>>) => expect.poll(async () => (await client.shown()).status)

  verifies('contract-12.clients', `${file}: streams, and shows the agent's tools`, async () => {
    await using client = await open()
    const next = byHand()
    await client.send('go')
    const call = await next
    await call.text('Hel')
    await messages(client).toEqual([asked('go'), said('Hel')])
    await call.text('lo')
    await call.toolCall({ name: 'no_such_tool', arguments: '{}', id: 'c1' })
    scene.up.next(async (after) => {
      await after.text('!')
      await after.finish()
    })
    await call.finish('tool_calls')
    await status(client).toBe('ready')
    const { messages: all } = await client.shown()
    expect(all.at(-1)).toMatchObject({ text: 'Hello!', tools: [['no_such_tool', expect.anything()]] })
    cells.stream = 'yes'
    cells.tools = 'shown as they run, with their results'
  })

  verifies(['contract-12.clients', 'contract-12.one-log'], `${file}: reloaded in the middle of a reply`, async () => {
    await using client = await open()
    const next = byHand()
    await client.send('go')
    const call = await next
    await call.text('Hel')
    await messages(client).toEqual([asked('go'), said('Hel')])
    await client.reload()
    await messages(client).toEqual([asked('go'), said('Hel')])
    await call.text('lo')
    await messages(client).toEqual([asked('go'), said('Hello')])
    await call.finish()
    await status(client).toBe('ready')
    expect((await client.shown()).messages).toEqual([asked('go'), said('Hello')])
    cells.reload = isAgUi ? 'the page sends the same `runId` again' : '`messages` from `GET …/messages`, `resume: true`'
  })

  verifies(['contract-12.clients', 'contract-12.one-log'], `${file}: the connection is lost`, async () => {
    await using proxy = await startProxy(scene.app.url)
    await using client = await open(proxy.url)
    const next = byHand()
    await client.send('go')
    const call = await next
    await call.text('Hel')
    await messages(client).toEqual([asked('go'), said('Hel')])
    proxy.drop()
    await status(client).toBe('error')
    await call.text('lo')
    await (isReloaded ? client.reload() : client.comeBack())
    await messages(client).toEqual([asked('go'), said('Hello')])
    await call.finish()
    await status(client).toBe('ready')
    cells.lost = `an error; ${back} shows all of it`
  })

  verifies(['contract-12.clients', 'contract-25.busy'], `${file}: stopped by the page, and asked again`, async () => {
    await using client = await open()
    const next = byHand()
    await client.send('go')
    const call = await next
    await call.text('Hel')
    await messages(client).toEqual([asked('go'), said('Hel')])
    await client.stop()
    await expect.poll(async () => (await client.shown()).status).not.toBe('streaming')
    expect(call.abandoned).toBe(false)
    const second = byHand()
    await client.send('and now?')
    const answer = await second
    await answer.text('Now')
    await answer.finish()
    await status(client).toBe('ready')
    expect((await client.shown()).messages.slice(-2)).toMatchObject([asked('and now?'), said('Now')])
    await expect.poll(() => call.abandoned).toBe(true)
    cells.stop = 'leaves the stream, the reply goes on; the next message cancels it and is answered'
  })

  verifies(['contract-12.clients', 'contract-25.busy'], `${file}: two tabs, and a model that fails`, async () => {
    const id = randomUUID()
    await using client = await open(scene.app.url, id)
    await using other = await open(scene.app.url, id)
    const first = byHand()
    await client.send('go')
    const stopped = await first
    await stopped.text('to be stopped')
    await messages(client).toContainEqual(said('to be stopped'))
    const next = byHand()
    await other.send('me too')
    const call = await next
    await status(client).toBe('ready')
    expect((await client.shown()).error ?? null).toBeNull()
    await expect.poll(() => stopped.abandoned).toBe(true)
    cells.busy = 'cancels it, which ends in its tab as it is, and is answered'
    await call.text('half')
    // A reset discards what the server has not read yet, and a call without an answer is made again.
    await expect.poll(async () => (await other.shown()).messages.at(-1)).toMatchObject(said('half'))
    call.reset()
    await status(other).toBe('error')
    const { error, messages: all } = await other.shown()
    expect(all.at(-1)).toMatchObject(said('half'))
    cells.failed = `\`${error?.name}\`${error?.code === undefined ? '' : `, code \`${error.code}\``}; keeps what there was`
  })

  verifies(
    [isAgUi ? 'contract-25.regenerate-run' : 'contract-14.ai-sdk', 'contract-12.clients'],
    `${file}: another reply, and an edited message`,
    async () => {
      const id = randomUUID()
      await using client = await open(scene.app.url, id)
      const does = async (what: string, text: string) => {
        scene.up.next(async (call) => {
          await call.text(text)
          await call.finish()
        })
        await client.evaluate(what)
        await messages(client).toContainEqual(said(text))
        await status(client).toBe('ready')
      }
      await does('client.send("go")', 'One.')
      await does('client.regenerate()', 'Two.')
      expect((await client.shown()).messages).toEqual([asked('go'), said('Two.')])
      if (file === 'assistant-ui') {
        await expect.poll(() => client.evaluate('client.branch()')).toEqual([2, 2])
        await client.evaluate('client.turnBack()')
        await messages(client).toEqual([asked('go'), said('One.')])
        await does('client.send("more")', 'More.')
        expect((await client.shown()).messages.map(({ text }) => text)).toEqual(['go', 'One.', 'more', 'More.'])
      }
      await does('client.edit("else")', 'Three.')
      const shown = (await client.shown()).messages
      expect(shown.slice(-2)).toEqual([asked('else'), said('Three.')])
      // Nothing is lost, and the page reads after a reload what it showed.
      await client.reload()
      await messages(client).toEqual(shown)
      const all = await (await fetch(`${scene.app.url}${base()}/sessions/${id}/messages?branches=all`)).json()
      const texts = Object(all).messages.map(({ content }: { content: string }) => content)
      expect(texts).toEqual(expect.arrayContaining(['One.', 'Two.', 'else', 'Three.']))
      expect(texts.filter((text: string) => text === 'go')).toEqual(['go'])
      if (!isAgUi) {
        cells.again = 'yes'
        return
      }
      const path = (await scene.stored(`${base()}/sessions/${id}`)).map(({ content }) => content)
      expect(path).toEqual(['go', 'Two.', 'else', 'Three.'])
      cells.again =
        'another reply: yes, when it runs again with its list cut; an edited message comes after the last one'
    },
  )

  const versions: string[] = []
  beforeAll(async () => {
    for (const one of packages) versions.push(await versionOf(one))
  })
  compareRecorded(file, () => ({
    client: `${name} (${names.join(' + ')})`,
    version: versions.join(' + '),
    cells: { page: cells },
  }))
})
