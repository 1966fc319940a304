/** Pages as the quick starts of their packages write them, but for the address (contract section 25). */
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest'
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

const said = (text: string) => ({ role: 'assistant', text, tools: [] })
const asked = (text: string) => ({ role: 'user', text, tools: [] })

describe.each([
  {
    file: 'use-chat-quick-start',
    name: '`useChat` of the quick start',
    packages: ['@ai-sdk/react', 'ai'],
    setUp: '`useChat({ transport: new DefaultChatTransport({ api }) })`',
  },
  {
    file: 'use-chat-runtime',
    name: 'assistant-ui: `useChatRuntime`',
    packages: ['@assistant-ui/react', '@assistant-ui/react-ai-sdk'],
    setUp: '`useChatRuntime({ transport: new AssistantChatTransport({ api }) })`',
  },
])('$file', ({ file, name, packages, setUp }) => {
  const cells: Partial<Record<UiRow, string>> = { setUp }

  verifies(
    ['contract-25.ids-of-front-ends', 'contract-25.busy', 'contract-12.clients'],
    `${file}: the first message, stop, the next message, and another reply`,
    async () => {
      const base = `/api/v1/agents/${scene.agentId}/deploy`
      await using client = await openUiClient(browser, script, file, { origin: scene.app.url, base, id: '' })
      const status = () => expect.poll(async () => (await client.shown()).status)
      const messages = () => expect.poll(async () => (await client.shown()).messages)
      await status().toBe('ready')
      const { promise: first, resolve } = Promise.withResolvers<UpstreamCall>()
      scene.up.next(resolve)
      await client.send('go')
      const call = await first
      await call.text('Hel')
      await messages().toEqual([asked('go'), said('Hel')])
      cells.stream = 'yes'

      await client.stop()
      await status().toBe('ready')
      scene.up.next(async (next) => {
        await next.text('Now')
        await next.finish()
      })
      await client.send('and now?')
      await messages().toEqual([asked('go'), said('Hel'), asked('and now?'), said('Now')])
      await status().toBe('ready')
      await expect.poll(() => call.abandoned).toBe(true)
      cells.stop = 'leaves the stream, the reply goes on; the next message cancels it and is answered'

      scene.up.next(async (next) => {
        await next.text('Again')
        await next.finish()
      })
      await client.evaluate('client.regenerate()')
      await messages().toEqual([asked('go'), said('Hel'), asked('and now?'), said('Again')])
      await status().toBe('ready')
      cells.again = 'yes'
      // One session, found by the id that the page chose by itself.
      const list = await (await fetch(`${scene.app.url}${base}/sessions`)).json()
      expect(Object(list).sessions[0]).toMatchObject({ external_id: expect.any(String) })
    },
  )

  verifies(
    ['contract-25.ids-of-front-ends', 'contract-12.clients'],
    `${file}: a reload, a second tab, and a model that fails`,
    async () => {
      const base = `/api/v1/agents/${scene.agentId}/deploy`
      const open = () => openUiClient(browser, script, file, { origin: scene.app.url, base, id: '' })
      await using client = await open()
      await using other = await open()
      const status = (one: typeof client) => expect.poll(async () => (await one.shown()).status)
      const messages = (one: typeof client) => expect.poll(async () => (await one.shown()).messages)
      const plays = async (one: typeof client, text: string) => {
        await status(one).toBe('ready')
        const { promise, resolve } = Promise.withResolvers<UpstreamCall>()
        scene.up.next(resolve)
        await one.send(text)
        return await promise
      }
      const first = await plays(client, 'go')
      await first.text('Hel')
      await messages(client).toEqual([asked('go'), said('Hel')])
      const second = await plays(other, 'me too')
      await second.text('Yes')
      await second.finish()
      await messages(other).toEqual([asked('me too'), said('Yes')])
      expect(first.abandoned).toBe(false)
      await first.text('lo')
      await first.finish()
      await messages(client).toEqual([asked('go'), said('Hello')])
      cells.busy = 'another tab is another chat: both are answered'

      await status(client).toBe('ready')
      await client.reload()
      await status(client).toBe('ready')
      expect((await client.shown()).messages).toEqual([])
      cells.reload = 'a new chat, as it keeps no id; the old one is stored'

      const failing = await plays(client, 'again')
      await failing.text('half')
      await messages(client).toEqual([asked('again'), said('half')])
      failing.reset()
      await expect.poll(async () => (await client.shown()).error).not.toBeNull()
      expect((await client.shown()).messages).toEqual([asked('again'), said('half')])
      scene.up.next(async (next) => {
        await next.text('Now')
        await next.finish()
      })
      await client.send('and now?')
      await messages(client).toEqual([asked('again'), said('half'), asked('and now?'), said('Now')])
      cells.failed = 'an error; keeps what there was, and the next message is answered'
    },
  )

  const versions: string[] = []
  beforeAll(async () => {
    for (const one of packages) versions.push(await versionOf(one))
  })
  compareRecorded(file, () => ({
    client: `${name} (${packages.join(' + ')})`,
    version: versions.join(' + '),
    cells: { page: cells },
  }))
})
