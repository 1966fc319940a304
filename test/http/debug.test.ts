/** Contract section 8: what operators see of the sessions. */
import { get } from 'node:http'
import Fastify from 'fastify'
import { FastifySSEPlugin } from 'fastify-sse-v2'
import { afterAll, expect } from 'vitest'
import { debug as operations } from '../../openapi/operations/debug.ts'
import type { TransitionRecorder } from '../../src/actors/transitions.ts'
import { type DebugRooms, debugHandlers } from '../../src/http/management/debug.ts'
import { mount } from '../../src/http/mount.ts'
import { openSse } from '../support/sse.ts'
import { verifies } from '../verifies.ts'
import { isoUtc, nobody, openScene, uuid } from './scene.ts'

const scene = await openScene()
afterAll(scene.close)

const debug = '/api/v1/debug'
const steps = async (id: string, query = '') =>
  (await scene.call('GET', `${debug}/sessions/${id}/transitions${query}`)).json
const follow = (id: string, last?: number | string) =>
  openSse(
    `${scene.app.url}${debug}/sessions/${id}/transitions/stream`,
    undefined,
    last === undefined ? {} : { 'last-event-id': `${last}` },
  )

const path = ({ from, event, to }: { from: string; event: string; to: string }) => `${from} ${event} ${to}`
const whole = [
  'idle message streaming.generating',
  'streaming.generating finished streaming.settling',
  'streaming.settling settled complete',
]

async function finished(text = 'x'): Promise<string> {
  scene.says(['ok'])
  const id = await scene.newSession()
  await scene.send(id, text)
  return id
}

verifies('contract-8.chart', 'states are paths, transitions name states and events', async () => {
  const { status, json } = await scene.call('GET', `${debug}/chart`)
  expect(status).toBe(200)
  expect(Object.keys(json).sort()).toEqual(['id', 'initial', 'states', 'transitions'])
  expect(json.initial).toBe('idle')
  const ids = json.states.map(({ id }: { id: string }) => id)
  expect(ids.sort()).toEqual([
    'cancelled',
    'complete',
    'deleted',
    'error',
    'idle',
    'streaming',
    'streaming.generating',
    'streaming.settling',
  ])
  for (const state of json.states) {
    expect(state).toEqual({
      id: state.id,
      kind: expect.any(String),
      description: expect.any(String),
      parent: state.parent,
    })
    expect(state.parent).toBe(state.id.includes('.') ? 'streaming' : null)
  }
  for (const transition of json.transitions) {
    expect(Object.keys(transition).sort()).toEqual(['description', 'event', 'id', 'source', 'target'])
    expect(ids).toContain(transition.source)
    expect(ids).toContain(transition.target)
  }
  expect(new Set(json.transitions.map(({ id }: { id: string }) => id)).size).toBe(json.transitions.length)
})

verifies('contract-8.transitions', 'every step of a session is listed, oldest first, without content', async () => {
  const secret = 'a-word-nobody-may-see'
  const id = await finished(secret)
  scene.up.always((one) => one.error(400, { error: { message: secret } }))
  await scene.send(id, secret)
  const next = scene.byHand()
  const stream = await scene.stream(id, secret)
  await next
  await scene.cancel(id)
  await stream.rest()
  const { transitions, total, limit, offset } = await steps(id)
  expect(transitions.map(path)).toEqual([
    ...whole,
    'complete message streaming.generating',
    'streaming.generating failed streaming.settling',
    'streaming.settling settled error',
    'error message streaming.generating',
    'streaming.generating cancel streaming.settling',
    'streaming.settling settled cancelled',
  ])
  expect([total, limit, offset]).toEqual([9, 20, 0])
  for (const [index, step] of transitions.entries()) {
    expect(step).toEqual({
      seq: expect.any(Number),
      at: expect.stringMatching(isoUtc),
      from: step.from,
      to: step.to,
      event: step.event,
      messageId: expect.stringMatching(uuid),
      instanceId: expect.stringMatching(uuid),
      detail: expect.any(Object),
    })
    if (index > 0) expect(step.seq).toBeGreaterThan(transitions[index - 1].seq)
  }
  expect(JSON.stringify(transitions)).not.toContain(secret)
  const replies = (await scene.messages(id)).filter(({ role }) => role === 'assistant').map((one) => one.id)
  expect(transitions.map(({ messageId }: { messageId: string }) => messageId)).toEqual(
    replies.flatMap((one) => [one, one, one]),
  )
  expect((await steps(id, '?limit=2&offset=3')).transitions).toEqual(transitions.slice(3, 5))
})

verifies('contract-8.transitions', 'every step is one that the chart has', async () => {
  const chart = (await scene.call('GET', `${debug}/chart`)).json
  const known = chart.transitions.map(
    ({ source, event, target }: Record<string, string>) => `${source} ${event} ${target}`,
  )
  const { transitions } = await steps(await finished())
  const parents = (id: string): string[] => [id, ...(id.includes('.') ? [id.split('.')[0] ?? ''] : [])]
  for (const { from, event, to } of transitions) {
    const candidates = parents(from).flatMap((source) => parents(to).map((target) => `${source} ${event} ${target}`))
    expect(candidates.some((one) => known.includes(one))).toBe(true)
  }
})

verifies(
  'contract-8.transitions',
  'the same is streamed, from what was to what comes, behind any Last-Event-ID',
  async () => {
    const id = await finished()
    const { transitions } = await steps(id)
    const stream = await follow(id)
    expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/)
    for (const step of transitions) {
      const frame = await stream.next()
      expect([frame?.id, JSON.parse(frame?.data ?? '')]).toEqual([`${step.seq}`, step])
    }
    await scene.send(id, 'y')
    const lived = [await stream.next(), await stream.next(), await stream.next()]
    expect(lived.map((frame) => path(JSON.parse(frame?.data ?? '')))).toEqual(
      whole.map((one) => one.replace('idle', 'complete')),
    )
    const behind = await follow(id, transitions[1].seq)
    expect((await behind.next())?.id).toBe(`${transitions[2].seq}`)
    expect((await behind.next())?.id).toBe(lived[0]?.id)
    stream.leave()
    behind.leave()
  },
)

verifies('contract-8.transitions', 'a stream whose steps cannot be read breaks off, and nothing else', async () => {
  const id = await finished()
  const stream = await follow(id)
  for (const _ of whole) await stream.next()
  await scene.app.sql`alter table transitions rename to elsewhere`
  try {
    expect((await stream.rest()).broken).toBe(true)
  } finally {
    await scene.app.sql`alter table elsewhere rename to transitions`
  }
  const again = await follow(id, stream.frames.at(-2)?.id)
  expect((await again.next())?.id).toBe(stream.frames.at(-1)?.id)
  again.leave()
})

verifies('contract-8.transitions', 'who left before the first step was read is not followed for', async () => {
  const asked = Promise.withResolvers<void>()
  const flushed = Promise.withResolvers<void>()
  const unsubscribed = Promise.withResolvers<void>()
  const recorder: TransitionRecorder = {
    record() {},
    subscribe: () => unsubscribed.resolve,
    flush() {
      asked.resolve()
      return flushed.promise
    },
  }
  const unused = {} as Pick<DebugRooms, 'host' | 'coordination'>
  await using server = Fastify()
  await server.register(FastifySSEPlugin, { retryDelay: false })
  const gone = Promise.withResolvers<void>()
  server.addHook('onRequest', async (_, reply) => void reply.raw.once('close', gone.resolve))
  mount(server, operations, debugHandlers({ ...unused, sql: scene.app.sql, recorder }))
  const url = await server.listen({ port: 0, host: '127.0.0.1' })
  const client = get(`${url}${debug}/sessions/${await finished()}/transitions/stream`)
  client.on('error', () => {})
  await asked.promise
  client.destroy()
  await gone.promise
  flushed.resolve()
  await unsubscribed.promise
})

verifies(
  'contract-8.transitions',
  'the stream of a deleted session ends; unknown sessions are 404, odd ids 400',
  async () => {
    const id = await finished()
    const stream = await follow(id)
    await stream.next()
    await scene.call('DELETE', `${scene.sessions}/${id}`)
    expect((await stream.rest()).broken).toBe(false)
    for (const unknown of [id, nobody, 'x']) {
      for (const suffix of ['', '/stream']) {
        const { status, json } = await scene.call('GET', `${debug}/sessions/${unknown}/transitions${suffix}`)
        expect([unknown, suffix, status, json]).toEqual([unknown, suffix, 404, { message: expect.any(String) }])
      }
    }
    const known = await finished()
    for (const last of ['x', '-1', '1.5']) {
      const { status } = await scene.call('GET', `${debug}/sessions/${known}/transitions/stream`, undefined, {
        'last-event-id': last,
      })
      expect([last, status]).toEqual([last, 400])
    }
  },
)

verifies('contract-8.traffic', 'each transition is counted and each state timed', async () => {
  const count = async () => {
    const { json } = await scene.call('GET', `${debug}/chart/traffic`)
    return json.transitions.reduce((sum: number, one: { count: number }) => sum + one.count, 0)
  }
  // Earlier tests' replies have ended; asking for steps records what there is.
  const running = () => scene.app.sql`select 1 from messages where status = 'streaming'`
  await expect.poll(async () => (await running()).length).toBe(0)
  await steps(await finished())
  const before = await count()
  await steps(await finished())
  expect(await count()).toBe(before + 3)
  const { json } = await scene.call('GET', `${debug}/chart/traffic?hours=1`)
  expect(Object.keys(json).sort()).toEqual(['since', 'states', 'transitions'])
  expect(Math.round((Date.now() - Date.parse(json.since)) / 60_000)).toBe(60)
  const chart = (await scene.call('GET', `${debug}/chart`)).json
  expect(json.transitions).toEqual(
    chart.transitions.map(({ id, source, target, event }: Record<string, string>) => ({
      id,
      source,
      target,
      event,
      count: expect.any(Number),
    })),
  )
  for (const { id } of chart.states) {
    const state = json.states.find((one: { id: string }) => one.id === id)
    expect(Object.keys(state).sort()).toEqual(['id', 'p50Ms', 'p95Ms', 'visits'])
  }
  const generating = json.states.find((one: { id: string }) => one.id === 'streaming.generating')
  expect(generating.visits).toBeGreaterThan(0)
  expect(generating.p50Ms).toBeGreaterThanOrEqual(0)
  expect(generating.p95Ms).toBeGreaterThanOrEqual(generating.p50Ms)
})

verifies('contract-8.traffic', 'what this instance has done counts at once, written or not', async () => {
  const visits = async () => {
    const { json } = await scene.call('GET', `${debug}/chart/traffic`)
    return json.states.find(({ id }: { id: string }) => id === 'complete').visits
  }
  const before = await visits()
  for (let n = 1; n <= 5; n += 1) {
    await finished()
    expect(await visits()).toBe(before + n)
  }
})

verifies('contract-8.traffic', 'hours is a whole number from 1 to 168', async () => {
  for (const hours of ['0', '169', '-1', '1.5', 'x', '', '9'.repeat(30)]) {
    const { status, json } = await scene.call('GET', `${debug}/chart/traffic?hours=${hours}`)
    expect([hours, status, json]).toEqual([hours, 400, { message: expect.stringContaining('hours') }])
  }
  for (const hours of ['1', '168'])
    expect((await scene.call('GET', `${debug}/chart/traffic?hours=${hours}`)).status).toBe(200)
})

verifies(
  'contract-8.actors',
  'a running session is listed with its state and subscribers, and leaves in the end',
  async () => {
    const id = await scene.newSession()
    const next = scene.byHand()
    const stream = await scene.stream(id, 'x')
    const up = await next
    const follower = await scene.resume(id)
    await follower.next()
    const mine = async () =>
      (await scene.call('GET', `${debug}/actors`)).json.actors.find(
        (one: { sessionId: string }) => one.sessionId === id,
      )
    expect(await mine()).toEqual({
      sessionId: id,
      agentId: scene.agentId,
      instanceId: expect.stringMatching(uuid),
      state: 'streaming.generating',
      since: expect.stringMatching(isoUtc),
      subscribers: 2,
    })
    follower.leave()
    await expect.poll(async () => (await mine()).subscribers).toBe(1)
    await up.finish()
    await stream.rest()
    await expect.poll(async () => (await mine())?.state).toBe('complete')
    await expect.poll(mine).toBeUndefined()
  },
)
