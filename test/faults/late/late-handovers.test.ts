/** Offers and claims of a hand-over whose lost first try arrives late (contract section 35, repeats and late arrivals). */
import { expect } from 'vitest'
import type { OfferReason, ReplyInfo } from '../../../src/actors/ports/index.ts'
import type { Handovers } from '../../../src/features/continuation/handovers.ts'
import { createHandovers } from '../../../src/features/continuation/store/handovers.ts'
import { handoversOf, lose, runningReply, turnSaying } from '../../features/continuation/store/handover-scene.ts'
import type { Instance } from '../../persistence/scene.ts'
import { verifies } from '../../verifies.ts'
import { type LateScene, openLateScene } from './late-scene.ts'

/** The handovers of an instance whose statements pass the proxy. */
const lateHandovers = ({ lateSql }: LateScene, instance: Instance): Handovers =>
  createHandovers({ sql: lateSql, untimedSql: lateSql, instance, withinS: 600, waitMs: 10_000 })

async function ownerOf({ scene: { sql } }: LateScene, { id }: ReplyInfo): Promise<string> {
  const [row] = await sql<{ owner: string }[]>`select instance_id as owner from messages where id = ${id}`
  return row?.owner ?? ''
}

/** Opens the connection of the pool, so that others can be refused. */
const lateSqlOpens = ({ lateSql }: LateScene) => lateSql`select 1`

const offersIn = async ({ scene: { sql } }: LateScene): Promise<number> => (await sql`select from handovers`).length

async function setUp() {
  const late = await openLateScene()
  const reply = await runningReply(late.scene)
  const { instance: other } = await late.scene.another()
  const taker = handoversOf(late.scene, other)
  await taker.setReady(true)
  return { late, reply, other, taker, giver: lateHandovers(late, late.scene.instance) }
}

for (const reason of ['boundary', 'shutdown', 'database'] as const satisfies OfferReason[]) {
  verifies(
    'contract-35.late-writes',
    `${reason}: an offer that arrives after it was taken back offers nothing`,
    async () => {
      const { late, reply, taker, giver } = await setUp()
      await using _ = late
      const held = late.hold('offer_reply')
      expect(await giver.offer(reply, reason)).toBe('offered')
      await held
      expect(await giver.takeBack(reply)).toBe(true)
      await late.deliver()
      expect(await taker.left(true, 10)).toEqual([])
      expect(await taker.claim(reply.id)).toBeNull()
      expect(await giver.offer(reply, reason)).toBe('offered')
      expect(await taker.claim(reply.id)).toMatchObject({ reason })
    },
  )
}

verifies('contract-35.late-writes', 'an offer that arrives after it was refused offers nothing', async () => {
  const { late, reply, taker, giver } = await setUp()
  await using _ = late
  await taker.setReady(false)
  const held = late.hold('offer_reply')
  expect(await giver.offer(reply, 'boundary')).toBe('refused')
  await held
  await taker.setReady(true)
  await late.deliver()
  expect(await offersIn(late)).toBe(0)
})

verifies(
  'contract-35.late-writes',
  'an offer that arrives after it was claimed and came back offers nothing',
  async () => {
    const { late, reply, taker, giver } = await setUp()
    await using _ = late
    await taker.setReady(false)
    const held = late.hold('offer_reply')
    expect(await giver.offer(reply, 'database')).toBe('offered')
    await held
    expect(await giver.claim(reply.id)).toMatchObject({ reason: 'database' })
    await late.deliver()
    expect(await offersIn(late)).toBe(0)
  },
)

verifies('contract-35.late-writes', 'taking back that arrives late takes no newer offer back', async () => {
  const { late, reply, taker, giver } = await setUp()
  await using _ = late
  expect(await giver.offer(reply, 'boundary')).toBe('offered')
  const held = late.hold('take_back_reply')
  expect(await giver.takeBack(reply)).toBe(true)
  await held
  expect(await giver.offer(reply, 'shutdown')).toBe('offered')
  await late.deliver()
  expect(await taker.claim(reply.id)).toMatchObject({ reason: 'shutdown' })
})

verifies(
  'contract-35.late-writes',
  'a claim that arrives after its instance has left the reply again claims nothing',
  async () => {
    const { late, reply, taker } = await setUp()
    await using _ = late
    const third = (await late.scene.another()).instance
    const claimer = lateHandovers(late, third)
    await lose(late.scene, late.scene.instance)
    const held = late.hold('take_over_reply')
    const claimed = await claimer.claim(reply.id)
    await held
    if (claimed === null) throw new Error('not claimed')
    expect(await claimer.offer(claimed.reply, 'database')).toBe('offered')
    await late.deliver()
    expect(await taker.claim(reply.id)).toMatchObject({ reason: 'database', from: third.id })
  },
)

verifies(
  'contract-35.late-writes',
  'a claim that arrives after another instance has taken the reply and was lost claims nothing',
  async () => {
    const { late, reply, taker, other } = await setUp()
    await using _ = late
    const third = (await late.scene.another()).instance
    const claimer = lateHandovers(late, third)
    await lose(late.scene, late.scene.instance)
    await lateSqlOpens(late)
    const held = late.hold('take_over_reply')
    late.proxy.refuseNew(() => true)
    const claiming = claimer.claim(reply.id)
    await held
    expect(await taker.claim(reply.id)).not.toBeNull()
    late.proxy.refuseNew(() => false)
    await expect(claiming).rejects.toThrow('may take it still')
    await lose(late.scene, other)
    await late.deliver()
    expect(await ownerOf(late, reply)).toBe(other.id)
  },
)

verifies('contract-35.late-writes', 'a stored turn that arrives after its reply came back stays unstored', async () => {
  const { late, reply, taker, giver } = await setUp()
  await using _ = late
  await taker.setReady(false)
  const held = late.hold('insert into reply_turns')
  expect(await giver.keepTurn(reply, 1, await turnSaying('first'), null)).toBe(true)
  await held
  expect(await giver.offer(reply, 'database')).toBe('offered')
  expect(await giver.claim(reply.id)).not.toBeNull()
  expect(await giver.keepTurn(reply, 1, await turnSaying('second'), null)).toBe(true)
  await late.deliver()
  const [row] = await late.scene.sql<{ body: string }[]>`select body from reply_turns where reply_id = ${reply.id}`
  expect(row?.body).toContain('second')
})

verifies(
  'contract-35.unknown-is-not-no',
  'which replies may go on is asked again, and takes no failure for an answer',
  async () => {
    const { late, reply, giver } = await setUp()
    await using _ = late
    const held = late.hold('may_go_on')
    const asked = giver.mayGoOn([reply.id])
    await held
    expect(await asked).toEqual(new Set([reply.id]))
  },
)
