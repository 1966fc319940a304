/** Messages of the queue that begin, whatever becomes of others and of their instance (contract section 22). */
import { expect } from 'vitest'
import { finished, openScene, type Scene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'
import { facts, lose, settle } from '../../continuation/store/handover-scene.ts'
import { queuedInput, storeOf, waiting } from './queued-scene.ts'

/** The id of a reply to a message behind a reply that has ended; `isBegun`: it has begun with that. */
async function behindEnded(scene: Scene, isBegun: boolean): Promise<string> {
  const { reply, next } = await waiting(scene)
  await scene.sql`update instances set begins_queued = ${isBegun}`
  expect(await scene.journal.settle(reply, finished())).toMatchObject({ next: isBegun ? next : null })
  return next
}

verifies(
  'contract-22.exactly-once',
  'one that its instance takes when that was declared lost already begins where it is found',
  async () => {
    await using scene = await openScene()
    const { sql, instance } = scene
    const replyId = await behindEnded(scene, true)
    const { instance: finder } = await scene.another()
    await sql`update instances set begins_queued = true`
    await lose(scene, instance)
    const taken = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    const taking = sql.begin(async (tx) => {
      await tx`update queued_messages set taken = true where reply_id = ${replyId} and instance_id = ${instance.id}`
      taken.resolve()
      await over.promise
    })
    await taken.promise
    const settling = settle(scene, finder)
    await expect.poll(scene.waiting).toBe(1)
    over.resolve()
    await taking
    expect(await settling).toBe(0)
    expect(await storeOf(scene, finder).tend(true, 10)).toEqual([replyId])
  },
)

verifies('contract-22.enqueue', 'one that cannot begin keeps none of another session waiting', async () => {
  await using scene = await openScene()
  const { sql, instance } = scene
  const queued = []
  for (let n = 0; n < 4; n++) queued.push(await behindEnded(scene, false))
  const [good] = queued
  await sql`
    update queued_messages set message = jsonb_set(message, '{facts}', '{"overrides": {"providerId": "none"}}')
     where reply_id <> ${good ?? ''}`
  // Nor do those that cannot take the place of the one that can.
  expect(await storeOf(scene, instance).tend(true, 1)).toEqual([good])
})

verifies(
  'contract-23.limits-order',
  'what takes interrupts out locks all their limits in one order, as admissions do',
  async () => {
    await using scene = await openScene()
    const { sql, instance, message } = scene
    const reply = await scene.begin(await scene.newSession(), { facts })
    const keys = ['key b', 'key a']
    for (const id of keys) {
      const limits = { key: { id, requestsPerMinute: 9 } }
      const wanted = { facts, limits, onBusy: 'enqueue' as const, mayQueue: true, queue: queuedInput }
      expect(await scene.journal.admit(message(reply.sessionId, wanted))).toMatchObject({ outcome: 'queued' })
    }
    await sql`update queued_messages set rank = 0 where session_id = ${reply.sessionId}`
    const { removing } = await sql.begin(async (tx) => {
      await tx`select from limit_subjects where subject = 'key a' for update`
      const removing = storeOf(scene, instance).remove(reply.sessionId, null)
      await expect.poll(scene.waiting).toBe(1)
      // Were it locked, an admission that has the first would wait for the second, and each for the other.
      expect(await tx`select from limit_subjects where subject = 'key b' for update nowait`).toHaveLength(1)
      return { removing }
    })
    expect(await removing).toHaveLength(2)
    expect(await sql`select from limit_requests where subject in ${sql(keys)}`).toHaveLength(0)
  },
)
