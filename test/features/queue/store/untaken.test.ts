/** Replies to queued messages that have begun on an instance which generates none (contract section 22). */
import { expect } from 'vitest'
import { finished, openScene, type Scene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'
import { lose, settle } from '../../continuation/store/handover-scene.ts'
import { storeOf, waiting } from './queued-scene.ts'

/** Messages begin on all instances that there are. */
const beginEverywhere = ({ sql }: Scene) => sql`update instances set begins_queued = true`

/** Who owns a reply, and what it was asked, as far as it is stored. */
async function ownersOf({ sql }: Scene, replyId: string) {
  const [row] = await sql<{ reply: string; asked: string | null }[]>`
    select m.instance_id as reply, (select max(i.instance_id::text) from intents i where i.reply_id = m.id) as asked
      from messages m where m.id = ${replyId} and m.status = 'streaming'`
  return row
}

verifies(
  ['contract-22.drain', 'contract-22.cancel'],
  'what a settlement begins on an instance that says meanwhile that it drains goes to another one, with its cancel',
  async () => {
    await using scene = await openScene()
    const { sql, instance } = scene
    const two = await scene.another()
    await beginEverywhere(scene)
    const { reply, next } = await waiting(scene)
    const draining = storeOf(scene, instance)
    const held = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    const holding = sql.begin(async (tx) => {
      await tx`select 1 from queued_messages where reply_id = ${next} for update`
      held.resolve()
      await over.promise
    })
    await held.promise
    // It has seen that messages begin here, and stands before it writes which.
    const settled = scene.journal.settle(reply, finished())
    await expect.poll(scene.waiting).toBe(1)
    await draining.tend(false, 10)
    over.resolve()
    await holding
    expect(await settled).toMatchObject({ result: 'settled', next })
    expect(await scene.journal.requestCancel(reply.sessionId, {})).toMatchObject({ instanceId: instance.id })
    expect(await draining.tend(false, 10)).toEqual([])
    expect(await ownersOf(scene, next)).toEqual({ reply: two.instance.id, asked: two.instance.id })
    expect(await draining.take(next)).toBeNull()
    const other = storeOf(scene, two.instance)
    expect(await other.tend(true, 10)).toEqual([next])
    expect(await other.take(next)).toMatchObject({ admission: { reply: { instanceId: two.instance.id } } })
  },
)

verifies('contract-22.exactly-once', 'what a draining instance is just taking stays there', async () => {
  await using scene = await openScene()
  const { sql, instance } = scene
  await scene.another()
  await beginEverywhere(scene)
  const { reply, next } = await waiting(scene)
  await scene.journal.settle(reply, finished())
  const held = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const taking = sql.begin(async (tx) => {
    await tx`update queued_messages set taken = true where reply_id = ${next}`
    held.resolve()
    await over.promise
  })
  await held.promise
  const tended = storeOf(scene, instance).tend(false, 10)
  await expect.poll(scene.waiting).toBe(1)
  over.resolve()
  await Promise.all([taking, tended])
  expect(await ownersOf(scene, next)).toMatchObject({ reply: instance.id })
})

verifies('contract-22.drain', 'without another instance on which messages begin it stays where it is', async () => {
  await using scene = await openScene()
  const { sql, instance } = scene
  const [two, three] = [await scene.another(), await scene.another()]
  await beginEverywhere(scene)
  const { reply, next } = await waiting(scene)
  await scene.journal.settle(reply, finished())
  await sql`update instances set begins_queued = false where id = ${two.instance.id}`
  await sql`update instances set lost_at = clock_timestamp() where id = ${three.instance.id}`
  await storeOf(scene, instance).tend(false, 10)
  expect(await ownersOf(scene, next)).toMatchObject({ reply: instance.id })
})

verifies(
  ['contract-22.drain', 'contract-22.cancel'],
  'a lost instance’s goes, with its cancel, to one on which messages begin, and to none that drains',
  async () => {
    await using scene = await openScene()
    const { sql, instance } = scene
    const [two, three] = [await scene.another(), await scene.another()]
    await beginEverywhere(scene)
    const { reply, next } = await waiting(scene)
    await scene.journal.settle(reply, finished())
    await scene.journal.requestCancel(reply.sessionId, {})
    await lose(scene, instance)
    await sql`update instances set begins_queued = false where id = ${two.instance.id}`
    expect(await settle(scene, two.instance)).toBe(0)
    expect(await ownersOf(scene, next)).toEqual({ reply: instance.id, asked: instance.id })
    expect(await settle(scene, three.instance)).toBe(0)
    expect(await ownersOf(scene, next)).toEqual({ reply: three.instance.id, asked: three.instance.id })
  },
)
