/** Queued messages that do not begin: those that are taken out, and those behind calls that wait (contract section 22). */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { finished, openScene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'
import { facts } from '../../continuation/store/handover-scene.ts'
import { queuedInput, storeOf, waiting } from './queued-scene.ts'

verifies(
  ['contract-22.enqueue', 'contract-22.session-stream'],
  'what is taken out takes no room, its key sends a new message, and lists that live are told',
  async () => {
    await using scene = await openScene()
    const { sql, instance, journal, message } = scene
    const { sessionId } = await scene.begin(await scene.newSession(), { facts })
    const idempotency = { key: 'sent', bodyHash: Buffer.from('body') }
    const enqueued = () =>
      message(sessionId, { facts, idempotency, onBusy: 'enqueue', mayQueue: true, queue: queuedInput })
    const stored = async () => {
      const [row] = await sql<{ bytes: string; change: number }[]>`
        select bytes, change::integer from sessions where id = ${sessionId}`
      return row ?? { bytes: '', change: 0 }
    }
    const before = await stored()
    const first = enqueued()
    expect(await journal.admit(first)).toMatchObject({ outcome: 'queued' })
    const waits = await stored()
    expect([waits.bytes === before.bytes, waits.change > before.change]).toEqual([false, true])
    expect(await storeOf(scene, instance).remove(sessionId, first.replyId)).toEqual([first.replyId])
    const removed = await stored()
    expect([removed.bytes, removed.change > waits.change]).toEqual([before.bytes, true])
    const second = enqueued()
    expect(await journal.admit(second)).toMatchObject({ outcome: 'queued' })
    expect(await sql`select reply_id from queued_messages where session_id = ${sessionId}`).toEqual([
      { reply_id: second.replyId },
    ])
  },
)

verifies(
  'contract-22.enqueue',
  'behind a reply that waits for decisions an enqueued message does not begin',
  async () => {
    await using scene = await openScene()
    const { sql, instance, journal } = scene
    const { reply, next } = await waiting(scene)
    await sql`update instances set begins_queued = false`
    await journal.settle(reply, finished())
    await sql`update instances set begins_queued = true`
    const begun = async (status: string) => {
      await sql`update sessions set status = ${status} where id = ${reply.sessionId}`
      const [row] = await sql`select begin_next(${instance.id}, ${instance.epoch()}, ${reply.sessionId}) as id`
      return row?.id
    }
    expect(await begun('waiting')).toBeNull()
    expect(await begun('idle')).toBe(next)
  },
)

verifies('contract-23.limits-order', 'a request that is taken back leaves a later one its own minute', async () => {
  await using scene = await openScene()
  const { sql } = scene
  const key = randomUUID()
  const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds))
  await sql`insert into limit_subjects (subject, requests) values (${key}, 2)`
  await sql`insert into limit_requests (subject, n, at) values (${key}, 1, ${at(1)}), (${key}, 2, ${at(30)})`
  await sql`
    select uncount_request(jsonb_build_object('key', jsonb_build_object('id', ${key}::text, 'requestsPerMinute', 9)),
                           ${randomUUID()}::uuid, null, ${at(1)})`
  expect(await sql`select n::int, at from limit_requests where subject = ${key}`).toEqual([{ n: 1, at: at(30) }])
})

verifies('contract-22.enqueue', 'what is sent while the queue waits for an instance overtakes nothing', async () => {
  await using scene = await openScene()
  const { sql, journal, message } = scene
  const { reply } = await waiting(scene)
  await sql`update instances set begins_queued = false`
  await journal.settle(reply, finished())
  const sent = async (onBusy: 'reject' | 'enqueue') =>
    await journal.admit(message(reply.sessionId, { facts, onBusy, mayQueue: true, queue: queuedInput }))
  expect(await sent('reject')).toMatchObject({ outcome: 'busy' })
  expect(await sent('enqueue')).toMatchObject({ outcome: 'queued', position: 2 })
})

verifies('contract-22.queue-limit', 'a message that interrupts is none of the twenty', async () => {
  await using scene = await openScene()
  const { journal, message } = scene
  const { reply } = await waiting(scene)
  const limits = { key: { id: randomUUID(), concurrentReplies: 5 } }
  const sent = async (onBusy: 'interrupt' | 'enqueue') => {
    const wanted = { facts, onBusy, mayQueue: true, queue: queuedInput, limits }
    return (await journal.admit(message(reply.sessionId, wanted))).outcome
  }
  expect(await sent('interrupt')).toBe('queued')
  for (let count = 2; count <= 20; count++) expect(await sent('enqueue')).toBe('queued')
  expect(await sent('enqueue')).toBe('queue_full')
  expect(await sent('interrupt')).toBe('queued')
})

verifies('contract-22.enqueue', 'an own retry joins the newest of its like that waits, at the same place', async () => {
  await using scene = await openScene()
  const { journal, message } = scene
  const { reply, next } = await waiting(scene)
  const send = async (isRetry: boolean, place?: { parent: string }) => {
    const sent = {
      facts,
      onBusy: 'enqueue',
      mayQueue: true,
      queue: queuedInput,
      isRetry,
      ...(place && { place }),
    } as const
    return await journal.admit(message(reply.sessionId, sent))
  }
  expect(await send(false)).toMatchObject({ outcome: 'queued', position: 2 })
  expect(await send(true)).toMatchObject({ outcome: 'queued', position: 2 })
  expect(await send(true, { parent: reply.id })).toMatchObject({ outcome: 'queued', position: 3 })
  expect(await send(true, { parent: next })).toMatchObject({ outcome: 'queued', position: 4 })
  expect(await send(true, { parent: reply.id })).toMatchObject({ outcome: 'queued', position: 3 })
})
