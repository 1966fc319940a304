/**
 * The real `useChat` in Chromium among three instances behind nginx (contract section 12): reloaded in the middle of
 * reasoning, tool calls and text, while instances are killed; stopped from another tab. RELOADS=50 for a long run.
 */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { UIMessage } from 'ai'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, vi } from 'vitest'
import { openScene, type Scene } from '../../cluster/scene.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { deployUrl } from '../../support/programs/product.ts'
import { seededRandom } from '../../support/random.ts'
import { WAIT_MS } from '../../support/wait.ts'
import { openBrowser } from '../../ui/browser.ts'
import { verifies } from '../../verifies.ts'
import { bundleUiClients, openUiClient, type UiClient } from '../ui-bundle.ts'

const RELOADS = Number(process.env.RELOADS ?? 10)
vi.setConfig({ testTimeout: WAIT_MS + RELOADS * 15_000 })

const browser = await openBrowser()
const script = await bundleUiClients()

/** A tool that answers when it is told to. */
const answers: (() => void)[] = []
const toolServer = createServer((_request, response) => void answers.push(() => response.end('found')))

let scene: Scene
beforeAll(async () => {
  await new Promise<void>((listening) => void toolServer.listen(0, '127.0.0.1', listening))
  scene = await openScene({ redis: false })
  const { agent, cluster } = scene
  const { port } = toolServer.address() as AddressInfo
  const send = async (method: string, path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${cluster.urls[0]}${path}`, { method, headers, body: JSON.stringify(body) })
    return Object(await answer.json())
  }
  const tool = { name: 'look', description: 'Looks.', method: 'GET', url: `http://127.0.0.1:${port}/` }
  const { id } = await send('POST', '/api/v1/http-tools', tool)
  await send('PUT', `/api/v1/agents/${agent}/tools`, { httpToolIds: [id] })
})
afterEach(() => scene.up.forget())
afterAll(async () => {
  toolServer.closeAllConnections()
  toolServer.close()
  await browser.close()
  await scene?.close()
})

/** Each phase goes on until the next one is begun: thinking, a tool, thinking again, text, the end. */
function play() {
  const begun = [0, 1, 2, 3].map(() => ({ ...Promise.withResolvers<void>(), isBegun: false }))
  const until = (phase: number) => begun[phase]?.promise
  const say = async (call: UpstreamCall, phase: number, word: (n: number) => Promise<void>) => {
    for (let n = 0; !begun[phase]?.isBegun && !call.abandoned; n++) {
      await word(n)
      await pause(15)
    }
  }
  scene.up.next(async (call) => {
    await say(call, 0, (n) => call.delta({ reasoning_content: `thought ${n} ` }))
    await call.text('I look. ')
    await call.toolCall({ id: 'call', name: 'look', arguments: '{}' }, 4)
    await call.finish('tool_calls')
    await until(1)
    if (call.abandoned) return
    await vi.waitUntil(() => answers.length > 0, { timeout: WAIT_MS })
    for (const answer of answers.splice(0)) answer()
  })
  scene.up.next(async (call) => {
    await say(call, 2, (n) => call.delta({ reasoning_content: `again ${n} ` }))
    await say(call, 3, (n) => call.text(`${n} é🙂 `))
    await call.finish()
  })
  return {
    begin(phase: number) {
      const one = begun[phase]
      if (one) one.isBegun = true
      one?.resolve()
    },
    end() {
      for (const phase of begun.keys()) this.begin(phase)
    },
  }
}

const base = () => deployUrl('', scene.agent)
const open = (origin: string, id: string) => openUiClient(browser, script, 'use-chat', { origin, base: base(), id })
/** It is back for the next test, whatever becomes of this one. */
const kill = async (n: number) => {
  onTestFinished(async () => void (await scene.cluster.restart(n)))
  await scene.cluster.kill9(n)
}
const instance = (n: number) => scene.cluster.urls[n] ?? ''

async function stored(origin: string, id: string): Promise<UIMessage<{ status: string }>[]> {
  return Object(await (await fetch(`${origin}${base()}/ai-sdk/${id}/messages`)).json()).messages
}

/** What a comparison looks at: `metadata` is that of the moment in which the page was loaded. */
const plain = (messages: readonly UIMessage[]) =>
  JSON.parse(JSON.stringify(messages)).map(({ id, role, parts }: UIMessage) => ({
    id: role === 'user' || id,
    role,
    parts,
  }))
const whole = (client: UiClient) => client.evaluate<UIMessage[]>('client.whole()')
const status = (client: UiClient) => expect.poll(async () => (await client.shown()).status)

/** `thought 0 thought 1 …`: nothing lost, nothing doubled. */
function expectCounted(text: string, word: (n: number) => string): void {
  let expected = ''
  for (let n = 0; expected.length < text.length; n++) expected += word(n)
  expect(text).toBe(expected)
}

verifies(
  ['contract-12.ai-sdk-resume', 'contract-12.one-log', 'contract-12.clients', 'contract-12.ai-sdk-messages'],
  `useChat, reloaded at ${RELOADS} random moments, one instance killed: nothing lost, nothing doubled`,
  async () => {
    const random = seededRandom('useChat in Chromium')
    const [owner, victim] = [1, 2]
    const id = randomUUID()
    const model = play()
    await using first = await open(instance(owner), id)
    await first.send('Tell me.')
    await expect.poll(() => stored(instance(owner), id)).toHaveLength(2)
    const phases = [0.3, 0.3 + 2 / RELOADS, 0.7].map((part) => Math.round(part * RELOADS))
    await using page = await open(scene.cluster.balancer, id)
    for (let reload = 0; reload < RELOADS; reload++) {
      for (const [phase, at] of phases.entries()) if (at === reload) model.begin(phase)
      if (reload === Math.floor(RELOADS / 2)) await kill(victim)
      await pause(random() * 150)
      await page.reload()
    }
    await status(page).toBe('streaming') // it follows: the reply must not end before
    model.end()
    for (const client of [first, page]) await status(client).toBe('ready')
    const [question, reply, ...more] = await stored(instance(owner), id)
    expect(more).toEqual([])
    expect(reply?.metadata).toEqual({ status: 'complete' })
    const types = ['step-start', 'reasoning', 'text', 'dynamic-tool', 'step-start', 'reasoning', 'text']
    expect(reply?.parts.map(({ type }) => type)).toEqual(types)
    const [, thoughts, , look, , again, words] = reply?.parts ?? []
    expect(look).toMatchObject({ toolName: 'look', state: 'output-available' })
    expectCounted(textOf(thoughts), (n) => `thought ${n} `)
    expectCounted(textOf(again), (n) => `again ${n} `)
    expectCounted(textOf(words), (n) => `${n} é🙂 `)
    const expected = plain([question, reply].filter((message) => message !== undefined))
    expect(plain(await stored(instance(0), id))).toEqual(expected)
    for (const client of [first, page]) expect(plain(await whole(client))).toEqual(expected)
  },
)

verifies(
  ['contract-12.ai-sdk', 'contract-12.one-log', 'contract-12.clients'],
  'the owner is killed while the model thinks: an error, all that was shown is stored, and the chat goes on',
  async () => {
    const owner = 0
    const id = randomUUID()
    const model = play()
    await using first = await open(instance(owner), id)
    await first.send('Tell me.')
    await using page = await open(instance(1), id)
    const partsOf = async () => (await whole(page)).at(-1)?.parts.length ?? 0
    await expect.poll(partsOf).toBeGreaterThan(0)
    await page.reload()
    await expect.poll(partsOf).toBeGreaterThan(1)
    await status(page).toBe('streaming')
    await kill(owner)
    model.end()
    scene.up.forget()
    for (const client of [first, page]) await status(client).toBe('error')
    const [question, reply] = await stored(instance(1), id)
    expect(reply?.metadata).toMatchObject({ status: 'error', error: { code: expect.any(String) } })
    // A frame may be stored that its owner could not announce any more; no more than that, and nothing else.
    const shown = (await whole(page)).at(-1)
    expect(shown?.parts.map(({ type }) => type)).toEqual(reply?.parts.map(({ type }) => type))
    expect(textOf(reply?.parts[1]).startsWith(textOf(shown?.parts[1]))).toBe(true)
    expectCounted(textOf(reply?.parts[1]), (n) => `thought ${n} `)
    await page.reload()
    await status(page).toBe('ready')
    expect(plain(await whole(page))).toEqual(plain([question, reply].filter((message) => message !== undefined)))
    scene.up.next(async (call) => {
      await call.text('once more')
      await call.finish()
    })
    await page.send('Go on.')
    await expect.poll(async () => (await page.shown()).messages.at(-1)?.text).toBe('once more')
    await status(page).toBe('ready')
    expect(plain(await whole(page)).slice(2)).toEqual(plain(await stored(instance(2), id)).slice(2))
  },
)

verifies(
  ['contract-12.ai-sdk-resume', 'contract-12.clients'],
  'stopped from another tab, on another instance: what there was is kept, by every page',
  async () => {
    const id = randomUUID()
    const { promise: asked, resolve } = Promise.withResolvers<UpstreamCall>()
    scene.up.next(resolve)
    await using page = await open(instance(0), id)
    await page.send('Tell me.')
    const call = await asked
    await call.delta({ reasoning_content: 'Hm.' })
    await call.text('So far')
    await using other = await open(instance(2), id)
    for (const client of [page, other]) {
      await expect.poll(async () => (await client.shown()).messages.at(-1)?.text).toBe('So far')
    }
    const cancelled = await other.evaluate<number>('client.cancel()')
    expect(cancelled).toBe(204)
    for (const client of [page, other]) await status(client).toBe('ready')
    await call.closed
    expect(call.abandoned).toBe(true)
    const all = await stored(instance(1), id)
    expect(all.at(-1)).toMatchObject({ metadata: { status: 'complete' } })
    for (const client of [page, other]) expect(plain(await whole(client))).toEqual(plain(all))
  },
)

function textOf(part: UIMessage['parts'][number] | undefined): string {
  return part?.type === 'text' || part?.type === 'reasoning' ? part.text : ''
}
