/** Contract section 22 on two instances: whatever dies, each queued message is answered once, in its order, alone. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import type { UpstreamCall } from '../support/network/upstream.ts'
import { messagesOf, newSession, postJson } from '../support/programs/product.ts'
import { seededRandom } from '../support/random.ts'
import { samples } from '../support/samples.ts'
import { openSse, type SseStream } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'
import { completions, openScene, type Scene, say } from './scene.ts'

/** Schedules run ten at a time, since each kill takes two leases. */
const SESSIONS = 10
const ROUNDS = samples(1, 20)
const STEPS = 14

let scene: Scene
beforeAll(async () => {
  scene = await openScene({ instances: 2 })
})
afterAll(() => scene?.close())

interface Waiting {
  id: string
  content: string
}

/** What one session's clients know. */
interface Told {
  session: string
  /** Accepted for certain: their answer has begun. */
  accepted: Set<string>
  /** Taken out for certain. */
  removed: Set<string>
  /** Every order in which messages were seen to wait. */
  orders: string[][]
  streams: SseStream[]
}

const anInstance = (random: () => number): string => scene.cluster.urls[Math.floor(random() * 2)] ?? ''

async function send(told: Told, url: string, content: string, on_busy: string): Promise<void> {
  const body = { ...say(content), on_busy }
  const stream = await openSse(completions(url, told.session), body).catch(() => null)
  if (stream?.status === 200) {
    told.accepted.add(content)
    told.streams.push(stream)
  }
}

async function look(told: Told, url: string): Promise<Waiting[]> {
  const response = await fetch(`${url}${told.session}/queue`).catch(() => null)
  const queue: Waiting[] = response?.ok ? Object(await response.json()).queue : []
  if (queue.length > 0) told.orders.push(queue.map(({ content }) => content))
  return queue
}

async function removeOne(told: Told, url: string, random: () => number): Promise<void> {
  const queue = await look(told, url)
  const chosen = queue[Math.floor(random() * queue.length)]
  if (chosen === undefined) return
  const answer = await fetch(`${url}${told.session}/queue/${chosen.id}`, { method: 'DELETE' }).catch(() => null)
  // What answers nothing may have taken it out: such a message may be answered, or not.
  if (answer === null) told.accepted.delete(chosen.content)
  else if (answer.status === 204) told.removed.add(chosen.content)
}

async function schedule(told: Told, random: () => number): Promise<void> {
  for (let n = 0; n < STEPS; n++) {
    const url = anInstance(random)
    const what = random()
    if (what < 0.65) void send(told, url, `m${n}`, 'enqueue')
    else if (what < 0.75) await postJson(`${completions(url, told.session)}/cancel`, {}).catch(() => null)
    else if (what < 0.9) await removeOne(told, url, random)
    else await look(told, url)
    await pause(random() * 300)
  }
}

/** Each message's reply names it. */
const answering = async (call: UpstreamCall): Promise<void> => {
  const asked: string = call.body.messages.at(-1)?.content
  for (let n = 0; n < 4 && !call.abandoned; n++) {
    await call.text(`re ${asked} `)
    await pause(20)
  }
  if (!call.abandoned) await call.finish()
}

async function settled(told: Told): Promise<void> {
  const url = scene.cluster.urls[0] ?? ''
  await expect
    .poll(
      async () => {
        const messages = await messagesOf(url, told.session)
        const queue = await look(told, url)
        return [queue.length, messages.filter(({ status }) => status === 'streaming').length]
      },
      { timeout: 60_000 },
    )
    .toEqual([0, 0])
}

verifies(
  'contract-22.exactly-once',
  'random schedules of messages, cancels, removals and kill -9',
  async () => {
    const random = seededRandom('queue')
    for (let round = 0; round < ROUNDS; round++) {
      scene.up.always(answering)
      const all = await Promise.all(
        Array.from({ length: SESSIONS }, async (): Promise<Told> => {
          const session = await newSession(anInstance(random), scene.agent)
          return { session, accepted: new Set(), removed: new Set(), orders: [], streams: [] }
        }),
      )
      const schedules = Promise.all(all.map((told) => schedule(told, random)))
      await pause(500 + random() * 1000)
      const victim = Math.floor(random() * 2)
      await scene.cluster.kill9(victim)
      await pause(random() * 3000)
      await scene.cluster.restart(victim)
      await schedules
      for (const told of all) {
        await settled(told)
        const messages = await messagesOf(scene.cluster.urls[0] ?? '', told.session)
        const questions = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
        expect(new Set(questions).size, 'none is stored twice').toBe(questions.length)
        expect(messages.map(({ role }) => role)).toEqual(questions.flatMap(() => ['user', 'assistant']))
        for (const content of told.accepted) {
          if (!told.removed.has(content)) expect(questions, `${content} is answered`).toContain(content)
        }
        for (const content of told.removed) expect(questions, `${content} was taken out`).not.toContain(content)
        for (const order of told.orders) {
          const begun = order.filter((content) => questions.includes(content))
          expect(questions.filter((content) => begun.includes(content))).toEqual(begun)
        }
        const [{ n } = { n: 1 }] = await scene.cluster.database.sql<{ n: number }[]>`
        select count(*)::integer as n from queued_messages q where q.session_id = ${told.session.split('/').at(-1) ?? ''}
           and q.admission is null`
        expect(n).toBe(0)
        for (const stream of told.streams) stream.leave()
      }
    }
  },
  { timeout: 60_000 + ROUNDS * 60_000 },
)

verifies(
  'contract-22.drain',
  'an instance that drains begins none: waiting connections break off, another begins them',
  async () => {
    const [first = '', second = ''] = scene.cluster.urls
    const session = await newSession(first, scene.agent)
    const { promise: goOn, resolve } = Promise.withResolvers<void>()
    scene.up.next(async (call) => {
      await call.text('so far')
      await goOn
      await call.finish()
    })
    const own = await openSse(completions(first, session), say('first'))
    await own.next()
    await own.next()
    const waits = await openSse(completions(first, session), { ...say('second'), on_busy: 'enqueue' })
    expect(waits.headers.get('x-queue-position')).toBe('1')
    scene.up.always(async (call) => {
      await call.text('answered')
      await call.finish()
    })
    const restarted = scene.cluster.restart(0)
    await expect.poll(async () => (await fetch(`${first}/readyz`).catch(() => null))?.status).toBe(503)
    resolve()
    expect((await waits.rest()).broken).toBe(true)
    await expect
      .poll(async () => (await messagesOf(second, session)).map(({ content, status }) => [content, status]))
      .toEqual([
        ['first', 'complete'],
        ['so far', 'complete'],
        ['second', 'complete'],
        ['answered', 'complete'],
      ])
    await restarted
  },
)
