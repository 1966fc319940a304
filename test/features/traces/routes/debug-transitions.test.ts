/** Contract section 8: the recorded steps of the sessions, listed and streamed. */
import { get } from 'node:http'
import Fastify from 'fastify'
import { FastifySSEPlugin } from 'fastify-sse-v2'
import { afterAll, expect } from 'vitest'
import { debug as operations } from '../../../../openapi/operations/operators/debug.ts'
import { type DebugDependencies, debugHandlers } from '../../../../src/features/traces/routes/debug.ts'
import type { TraceRecorder } from '../../../../src/features/traces/transitions.ts'
import { mount } from '../../../../src/http/server/mount.ts'
import { isoUtc, nobody, uuid } from '../../../http/scene.ts'
import { verifies } from '../../../verifies.ts'
import { debug, openDebugScene, path, whole } from './debug-scene.ts'

const { scene, finished, steps, follow } = await openDebugScene({ settings: {} })
afterAll(scene.close)

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
      kind: 'transition',
    })
    if (index > 0) expect(step.seq).toBeGreaterThan(transitions[index - 1].seq)
  }
  expect(JSON.stringify(transitions)).not.toContain(secret)
  const replies = (await scene.messages(id)).filter(({ role }) => role === 'assistant').map((one) => one.id)
  expect(transitions.map(({ messageId }: { messageId: string }) => messageId)).toEqual(
    replies.flatMap((one) => [one, one, one]),
  )
  expect((await steps(id, '&limit=2&offset=3')).transitions).toEqual(transitions.slice(3, 5))
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
  await scene.app.sql`alter view steps rename to elsewhere`
  try {
    expect((await stream.rest()).broken).toBe(true)
  } finally {
    await scene.app.sql`alter view elsewhere rename to steps`
  }
  const again = await follow(id, stream.frames.at(-2)?.id)
  expect((await again.next())?.id).toBe(stream.frames.at(-1)?.id)
  again.leave()
})

verifies('contract-8.transitions', 'who left before the first step was read is not followed for', async () => {
  const asked = Promise.withResolvers<void>()
  const flushed = Promise.withResolvers<void>()
  const unsubscribed = Promise.withResolvers<void>()
  const recorder: TraceRecorder = {
    record() {},
    amend: () => false,
    settle: (_, settle) => settle(),
    subscribe: () => unsubscribed.resolve,
    flush() {
      asked.resolve()
      return flushed.promise
    },
  }
  const unused = {} as Pick<DebugDependencies, 'actorReports' | 'patience'>
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
