/** The AI SDK's and AG-UI's own clients among three instances, reloaded and killed from under (contract section 12). */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Message as AgUiMessage, HttpAgent } from '@ag-ui/client'
import { AbstractChat, type ChatInit, type ChatState, DefaultChatTransport, type UIMessage } from 'ai'
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import type { UpstreamCall } from '../support/network/upstream.ts'
import { deployUrl, postJson } from '../support/programs/product.ts'
import { seededRandom } from '../support/random.ts'
import { openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'
import { both, openScene, type Scene } from './scene.ts'

const RELOADS = { aiSdk: 25, agUi: 20 } // each with and without Redis

/** A model that thinks, calls a tool and goes on until it is told to end. */
function thinkingModel() {
  const { promise: told, resolve: end } = Promise.withResolvers<void>()
  let ended = false
  void told.then(() => {
    ended = true
  })
  const first = async (call: UpstreamCall) => {
    for (let n = 0; n < 20; n++) {
      await call.delta({ reasoning_content: `thought ${n} ` })
      await pause(5)
    }
    await call.text('I look. ')
    await call.toolCall({ id: 'call', name: 'current_time', arguments: '{"timeZone":"UTC"}' }, 4)
    await call.finish('tool_calls')
  }
  const second = async (call: UpstreamCall) => {
    for (let n = 0; !ended && !call.abandoned; n++) {
      await call.text(`${n} é🙂 `)
      await pause(20) // a page loaded anew shows all of it again: not so many that reloads become slow
    }
    await call.finish()
  }
  return { first, second, end }
}

/** What useChat is built on; React's part of it only shows these fields. */
class Chat extends AbstractChat<UIMessage> {
  constructor({ messages = [], ...init }: ChatInit<UIMessage>) {
    const state: ChatState<UIMessage> = {
      status: 'ready',
      error: undefined,
      messages,
      pushMessage: (message) => void state.messages.push(message),
      popMessage: () => void state.messages.pop(),
      replaceMessage(index, message) {
        state.messages[index] = structuredClone(message)
      },
      snapshot: (thing) => structuredClone(thing),
    }
    super({ ...init, state })
  }
}

/** As on the page: what a comparison looks at. */
const plain = (messages: readonly UIMessage[]) =>
  JSON.parse(JSON.stringify(messages)).map(({ role, parts }: UIMessage) => ({ role, parts }))

const textOf = (message: UIMessage | undefined): string =>
  (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')

describe.each(both)('$beside', ({ redis, beside }) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene({ redis })
    const { agent, cluster } = scene
    const tools = { builtInToolIds: ['current_time'] }
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${cluster.urls[0]}/api/v1/agents/${agent}/tools`, {
      method: 'PUT',
      headers,
      body: JSON.stringify(tools),
    })
    expect(answer.status).toBe(200)
  })
  afterAll(() => scene?.close())

  const aiSdkAt = (instance: number) => `${deployUrl(scene.cluster.urls[instance] ?? '', scene.agent)}/ai-sdk`
  async function storedAt(instance: number, id: string): Promise<UIMessage[]> {
    const answer = await fetch(`${aiSdkAt(instance)}/${id}/messages`)
    return Object(await answer.json()).messages
  }
  /** What a page does when it is loaded. */
  async function load(instance: number, id: string) {
    const transport = new DefaultChatTransport({ api: aiSdkAt(instance) })
    return new Chat({ id, messages: await storedAt(instance, id), transport })
  }
  const asked: AgUiMessage = { id: 'asked', role: 'user', content: 'Tell me.' }
  /** What a page of AG-UI does when it is loaded: it keeps both ids. */
  const agentAt = (instance: number, threadId: string) =>
    new HttpAgent({
      url: `${deployUrl(scene.cluster.urls[instance] ?? '', scene.agent)}/ag-ui`,
      threadId,
      initialMessages: [asked],
    })
  /** It is back for the next test, whatever becomes of this one. */
  const kill = async (instance: number) => {
    onTestFinished(async () => void (await scene.cluster.restart(instance)))
    await scene.cluster.kill9(instance)
  }
  const play = () => {
    const model = thinkingModel()
    scene.up.next(model.first)
    scene.up.next(model.second)
    return model
  }

  verifies(
    ['contract-12.ai-sdk-resume', 'contract-12.one-log', 'contract-12.ai-sdk-messages'],
    'useChat’s chat, reloaded at random moments on any instance, one of which dies: nothing lost, nothing doubled',
    async () => {
      const random = seededRandom(`useChat reloads, ${beside}`)
      const any = (list: readonly number[]) => list[Math.floor(random() * list.length)] ?? 0
      const owner = any([0, 1, 2])
      const victim = (owner + 1) % 3
      const id = randomUUID()
      const model = play()
      const first = await load(owner, id)
      void first.sendMessage({ text: 'Tell me.' })
      await expect.poll(() => storedAt(owner, id)).toHaveLength(2)
      let alive = [0, 1, 2]
      for (let reload = 0; reload < RELOADS.aiSdk; reload++) {
        if (reload === Math.floor(RELOADS.aiSdk / 2)) {
          await kill(victim)
          alive = alive.filter((one) => one !== victim)
        }
        const page = await load(any(alive), id)
        void page.resumeStream()
        await pause(random() * 120)
        await page.stop() // of the page alone: as a reload, it drops the connection
      }
      await first.stop()
      const last = await load(owner, id)
      const streams = await Promise.all(alive.map((instance) => openSse(`${aiSdkAt(instance)}/${id}/stream`)))
      const shown = last.resumeStream()
      await expect.poll(() => last.status).toBe('streaming')
      // With text of its second call: it takes longer than all reloads on a busy machine.
      await expect.poll(async () => (await storedAt(owner, id)).at(-1)?.parts.length).toBe(6)
      model.end()
      await shown
      await Promise.all(streams.map((stream) => stream.rest()))
      expect(new Set(streams.map((stream) => stream.raw())).size).toBe(1)
      for (const instance of alive) expect(plain(await storedAt(instance, id))).toEqual(plain(last.messages))
      const [, reply] = await storedAt(owner, id)
      expect(reply?.parts.map(({ type }) => type)).toEqual([
        'step-start',
        'reasoning',
        'text',
        'dynamic-tool',
        'step-start',
        'text',
      ])
      const words = reply?.parts.at(-1)
      const said = words?.type === 'text' ? words.text : ''
      const count = said.split('🙂 ').length - 1
      expect(said).toBe(Array.from({ length: count }, (_, n) => `${n} é🙂 `).join(''))
    },
  )

  verifies(
    ['contract-12.ai-sdk', 'contract-12.one-log'],
    'the owner dies: the chat ends with an error, has what is stored, and goes on',
    async () => {
      const random = seededRandom(`useChat owner, ${beside}`)
      const owner = Math.floor(random() * 3)
      const elsewhere = (owner + 1) % 3
      const id = randomUUID()
      const model = play()
      const first = await load(owner, id)
      void first.sendMessage({ text: 'Tell me.' })
      // The SDK shows nothing of a reply without a part.
      await expect.poll(async () => (await storedAt(elsewhere, id)).at(-1)?.parts.length).toBeGreaterThan(1)
      const page = await load(elsewhere, id)
      const shown = page.resumeStream()
      await expect.poll(() => page.status).toBe('streaming')
      await pause(random() * 700)
      await kill(owner)
      model.end()
      scene.up.forget()
      await shown
      expect(page.status).toBe('error')
      expect(plain(await storedAt(elsewhere, id))).toEqual(plain(page.messages))
      expect((await storedAt(elsewhere, id)).at(-1)?.metadata).toMatchObject({
        status: 'error',
        error: { code: expect.any(String) },
      })
      scene.up.next(async (call) => {
        await call.text('again')
        await call.finish()
      })
      await page.sendMessage({ text: 'Go on.' })
      expect(page.status).toBe('ready')
      expect(plain(await storedAt(elsewhere, id))).toEqual(plain(page.messages))
    },
  )

  verifies(
    ['contract-12.ag-ui', 'contract-12.ag-ui-input', 'contract-12.one-log'],
    'HttpAgent, reloaded at random moments on any instance, one of which dies: nothing lost, nothing doubled',
    async () => {
      const random = seededRandom(`HttpAgent reloads, ${beside}`)
      const any = (list: readonly number[]) => list[Math.floor(random() * list.length)] ?? 0
      const owner = any([0, 1, 2])
      const victim = (owner + 1) % 3
      const threadId = randomUUID()
      const model = play()
      let alive = [0, 1, 2]
      for (let reload = 0; reload < RELOADS.agUi; reload++) {
        if (reload === RELOADS.agUi / 2) {
          await kill(victim)
          alive = alive.filter((one) => one !== victim)
        }
        const page = agentAt(reload === 0 ? owner : any(alive), threadId)
        const ran = page.runAgent({ runId: 'the run' })
        if (reload === 0) await expect.poll(() => storedAt(owner, threadId)).toHaveLength(2)
        await pause(random() * 150)
        page.abortRun()
        await ran
      }
      const last = agentAt(any(alive), threadId)
      const ran = last.runAgent({ runId: 'the run' })
      model.end()
      await ran
      const [, reply, ...more] = await storedAt(owner, threadId)
      expect(more).toEqual([])
      const shown = last.messages.find(({ role }) => role === 'assistant')
      expect([shown?.id, shown?.content]).toEqual([reply?.id, textOf(reply)])
      expect(last.messages.filter(({ role }) => role === 'tool')).toHaveLength(1)
      // The run is one message, however often it was sent.
      const again = await postJson(`${deployUrl(scene.cluster.urls[owner] ?? '', scene.agent)}/ag-ui`, {
        threadId,
        runId: 'the run',
        messages: [{ ...asked, content: 'other' }],
      })
      expect(again.status).toBe(400)
    },
  )

  verifies(
    ['contract-12.ag-ui', 'contract-12.one-log'],
    'the owner of a run dies: RUN_ERROR, the run sent again shows what is stored, and the thread goes on',
    async () => {
      const random = seededRandom(`HttpAgent owner, ${beside}`)
      const owner = Math.floor(random() * 3)
      const elsewhere = (owner + 1) % 3
      const threadId = randomUUID()
      const model = play()
      const first = agentAt(owner, threadId)
      const started = first.runAgent({ runId: 'the run' })
      await expect.poll(async () => (await storedAt(elsewhere, threadId)).at(-1)?.parts.length).toBeGreaterThan(1)
      first.abortRun() // the page is loaded anew
      await started
      const errors: string[] = []
      const run = async (page: HttpAgent, runId: string) => {
        await page.runAgent({ runId }, { onRunErrorEvent: ({ event }) => void errors.push(String(event.code)) })
      }
      const following = run(agentAt(elsewhere, threadId), 'the run').catch(() => {})
      await pause(random() * 700)
      await kill(owner)
      model.end()
      scene.up.forget()
      await following
      const page = agentAt(elsewhere, threadId)
      await run(page, 'the run').catch(() => {})
      expect(errors).toEqual(['instance_lost', 'instance_lost'])
      const [, reply] = await storedAt(elsewhere, threadId)
      const shown = page.messages.filter(({ role }) => role === 'assistant')
      expect(shown.map(({ content }) => content ?? '').join('')).toBe(textOf(reply))
      scene.up.next(async (call) => {
        await call.text('again')
        await call.finish()
      })
      page.addMessage({ id: 'next', role: 'user', content: 'Go on.' })
      await run(page, 'another run')
      expect(page.messages.at(-1)?.content).toBe('again')
      expect(textOf((await storedAt(elsewhere, threadId)).at(-1))).toBe('again')
    },
  )
})
