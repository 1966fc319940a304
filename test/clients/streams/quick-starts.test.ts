/** Pages as the quick starts of their packages write them, but for the address (contract section 25). */
import { afterAll, beforeAll, describe, expect } from 'vitest'
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
