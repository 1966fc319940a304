/** Who owns a running reply, and how that changes (contract section 21). */
import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { decodeTurn } from '../../../../src/features/continuation/store/stored-turn.ts'
import { finished, openScene, textAt } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'
import { queuedInput } from '../../queue/store/queued-scene.ts'
import { facts, handoversOf, lose, runningReply, settle, waitingFor } from './handover-scene.ts'

verifies(
  'contract-21.owner',
  'one of two claims a lost reply, whole, and its former owner stores nothing more',
  async () => {
    await using scene = await openScene()
    const reply = await runningReply(scene)
    const two = await scene.another()
    const three = await scene.another()
    expect(await handoversOf(scene, two.instance).claim(reply.id)).toBeNull()
    await lose(scene, scene.instance)
    const claims = await Promise.all([two, three].map(({ instance }) => handoversOf(scene, instance).claim(reply.id)))
    const [claimed, ...others] = claims.filter((one) => one !== null)
    expect(others).toEqual([])
    expect(claimed).toMatchObject({ reason: 'instance_lost', from: scene.instance.id, text: 'Hello', cancelled: false })
    expect(claimed?.events.map(({ event }) => event)).toEqual([
      { type: 'text', text: 'So ' },
      { type: 'text', text: 'fär' },
    ])
    expect(await scene.journal.append(reply, () => [textAt(4, ' late')])).toBe('fenced')
    expect(await scene.journal.settle(reply, finished())).toEqual({ result: 'fenced' })
    const stored = await two.journal.read(reply.id, 0)
    expect(stored?.events).toHaveLength(2)
    const [row] = await scene.sql<{ found: object[]; lost: boolean }[]>`
    select facts -> 'continuations' as found, requester_lost as lost from messages where id = ${reply.id}`
    expect(row?.lost).toBe(true) // its client may be gone, and joins it when it sends the same again
    expect(row?.found).toMatchObject([{ frame_id: 3, offset: 6, reason: 'instance_lost' }])
  },
)

verifies(
  'contract-21.owner',
  'an owner that has given a reply away cannot settle it, and gets it back only if nobody took it',
  async () => {
    await using scene = await openScene()
    const reply = await runningReply(scene)
    const two = await scene.another()
    const giver = handoversOf(scene, scene.instance)
    const taker = handoversOf(scene, two.instance)
    expect(await giver.offer(reply, 'boundary')).toBe('refused')
    await taker.setReady(true)
    expect(await giver.offer(reply, 'boundary')).toBe('offered')
    expect(await giver.takeBack(reply)).toBe(true)
    expect(await taker.claim(reply.id)).toBeNull()
    expect(await giver.offer(reply, 'boundary')).toBe('offered')
    expect(await taker.left(false, 10)).toEqual([reply.id])
    const claimed = await taker.claim(reply.id)
    expect([claimed?.reason, await giver.takeBack(reply), await giver.isOwn(reply.id)]).toEqual([
      'boundary',
      false,
      false,
    ])
    expect(await giver.offer(reply, 'boundary')).toBe('gone')
    const events = claimed?.events ?? []
    expect(await scene.journal.settle(reply, finished({ events }))).toEqual({ result: 'fenced' })
    expect(await scene.journal.settle(reply, finished())).toEqual({ result: 'fenced' })
    if (claimed)
      expect(await two.journal.settle(claimed.reply, finished({ events }))).toMatchObject({ result: 'settled' })
    const [row] = await scene.sql<{ facts: object }[]>`select facts from messages where id = ${reply.id}`
    expect(Object.keys(row?.facts ?? {})).not.toContain('start')
    expect(Object.keys(row?.facts ?? {})).not.toContain('continuations')
  },
)

verifies(
  'contract-21.boundary',
  'what was offered at a boundary is handed over also when its owner is gone',
  async () => {
    await using scene = await openScene()
    const reply = await runningReply(scene)
    await scene.sql`update agents set on_loss = 'error'`
    const two = await scene.another()
    const taker = handoversOf(scene, two.instance)
    await taker.setReady(true)
    expect(await handoversOf(scene, scene.instance).offer(reply, 'boundary')).toBe('offered')
    await lose(scene, scene.instance)
    expect(await settle(scene, two.instance)).toBe(0)
    expect(await taker.left(false, 10)).toEqual([reply.id])
    expect(await taker.claim(reply.id)).toMatchObject({ reason: 'boundary' })
    await lose(scene, two.instance)
    const three = await scene.another()
    expect(await settle(scene, three.instance)).toBe(1)
  },
)

verifies('contract-21.owner', 'an offer that is repeated while another instance takes it leaves nothing', async () => {
  await using scene = await openScene()
  const { sql, instance } = scene
  const reply = await runningReply(scene)
  const giver = handoversOf(scene, instance)
  const taker = handoversOf(scene, (await scene.another()).instance)
  expect(await giver.offer(reply, 'database')).toBe('offered')
  const held = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const holding = sql.begin(async (tx) => {
    await tx`select 1 from instances where id = ${instance.id} for update`
    held.resolve()
    await over.promise
  })
  await held.promise
  const repeated = giver.offer(reply, 'database')
  await expect.poll(() => waitingFor(scene, '%offer_reply%')).toBe(1)
  expect(await taker.claim(reply.id)).toMatchObject({ reason: 'database' })
  over.resolve()
  await holding
  expect(await repeated).toBe('gone')
  expect(await sql`select 1 from handovers`).toHaveLength(0)
})

verifies('contract-21.calls', 'a turn that comes while its reply is settled is kept nowhere', async () => {
  await using scene = await openScene()
  const reply = await runningReply(scene)
  const { turn } = decodeTurn(
    await readFile(new URL('../../../persistence/fixtures/turns/turn-1.json', import.meta.url), 'utf8'),
  )
  const begun = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const settling = scene.sql.begin(async (tx) => {
    await tx`update messages set status = 'complete' where id = ${reply.id}`
    begun.resolve()
    await over.promise
  })
  await begun.promise
  const kept = handoversOf(scene, scene.instance).keepTurn(reply, 1, turn, null)
  await expect.poll(() => waitingFor(scene, '%insert into reply_turns%')).toBe(1)
  over.resolve()
  await settling
  expect(await kept).toBe(false)
  expect(await scene.sql`select from reply_turns where reply_id = ${reply.id}`).toEqual([])
})

verifies('contract-21.cancel', 'a cancel goes along with the reply, whenever it comes', async () => {
  await using scene = await openScene()
  const reply = await runningReply(scene)
  const two = await scene.another()
  await lose(scene, scene.instance)
  expect(await scene.journal.requestCancel(reply.sessionId, {})).toMatchObject({ instanceId: scene.instance.id })
  expect(await handoversOf(scene, two.instance).claim(reply.id)).toMatchObject({ cancelled: true })
  expect(await scene.journal.requestCancel(reply.sessionId, {})).toMatchObject({ instanceId: two.instance.id })
})

for (const { losses, speaks } of [
  { losses: 3, speaks: false },
  { losses: 10, speaks: true },
]) {
  const how = speaks ? 'however much it says' : 'without a new frame'
  verifies('contract-21.losses', `loss ${losses} ends it, ${how}`, async () => {
    await using scene = await openScene()
    const reply = await runningReply(scene)
    let owner = scene.instance
    for (let loss = 1; loss < losses; loss++) {
      const next = await scene.another()
      await lose(scene, owner)
      expect(await settle(scene, next.instance)).toBe(0)
      const claimed = await handoversOf(scene, next.instance).claim(reply.id)
      if (claimed === null) throw new Error(`loss ${loss} ended it`)
      if (speaks) await next.journal.append(claimed.reply, () => [textAt(3 + loss, 'more')])
      owner = next.instance
    }
    const last = await scene.another()
    await lose(scene, owner)
    expect(await handoversOf(scene, last.instance).claim(reply.id)).toBeNull()
    expect(await settle(scene, last.instance)).toBe(1)
    expect((await last.journal.read(reply.id, 0))?.outcome).toMatchObject({ error: { code: 'instance_lost' } })
  })
}

verifies('contract-21.losses', 'one that began long ago is taken over: its last frame counts', async () => {
  await using scene = await openScene()
  const reply = await runningReply(scene)
  const two = await scene.another()
  await scene.sql`update messages set created_at = created_at - interval '1 hour' where id = ${reply.id}`
  await lose(scene, scene.instance)
  expect(await handoversOf(scene, two.instance).claim(reply.id)).toMatchObject({ reason: 'instance_lost' })
})

verifies('contract-21.losses', 'none is taken over too late, and one of an agent with `error` not at all', async () => {
  await using scene = await openScene()
  const late = await runningReply(scene)
  const two = await scene.another()
  await lose(scene, scene.instance)
  expect(await handoversOf(scene, two.instance, 0).claim(late.id)).toBeNull()
  expect(await settle(scene, two.instance, 0)).toBe(1)
  const three = await scene.another()
  const session = await scene.newSession()
  const admitted = await two.journal.admit(scene.message(session, { facts }))
  await scene.sql`update agents set on_loss = 'error'`
  await lose(scene, two.instance)
  const replyId = admitted.outcome === 'admitted' ? admitted.reply.id : ''
  expect(await handoversOf(scene, three.instance).claim(replyId)).toBeNull()
  expect(await settle(scene, three.instance)).toBe(1)
})

verifies(
  'contract-21.older',
  'an older version ends it only where no instance is left that can take it over',
  async () => {
    await using scene = await openScene()
    const reply = await runningReply(scene)
    const two = await scene.another()
    const old = await scene.another()
    await handoversOf(scene, two.instance).setReady(true)
    await lose(scene, scene.instance)
    const byOld = async () =>
      (await scene.sql`select reply_id from lose_replies(${[reply.id]}::uuid[], ${old.instance.id})`).length
    expect(await byOld()).toBe(0)
    await scene.sql`update instances set lost_at = clock_timestamp() where id = ${two.instance.id}`
    expect(await byOld()).toBe(1)
  },
)

verifies(
  'contract-21.owner',
  'who settles a reply that was taken over begins the queued message, and one that nobody has begun is not gone on with',
  async () => {
    await using scene = await openScene()
    const reply = await runningReply(scene)
    const queued = scene.message(reply.sessionId, { facts, onBusy: 'enqueue', mayQueue: true, queue: queuedInput })
    expect(await scene.journal.admit(queued)).toMatchObject({ outcome: 'queued', position: 1 })
    const two = await scene.another()
    const three = await scene.another()
    await scene.sql`update instances set begins_queued = true`
    await lose(scene, scene.instance)
    expect(await settle(scene, two.instance)).toBe(0)
    const claimed = await handoversOf(scene, two.instance).claim(reply.id)
    if (claimed === null) throw new Error('not claimed')
    const settled = await two.journal.settle(claimed.reply, finished({ events: claimed.events }))
    expect(settled).toMatchObject({ result: 'settled', next: queued.replyId })
    await lose(scene, two.instance)
    expect(await handoversOf(scene, three.instance).claim(queued.replyId)).toBeNull()
    // An instance that was declared lost itself takes no reply over.
    const gone = await scene.another()
    await lose(scene, gone.instance)
    await scene.sql`update instances set lost_at = clock_timestamp() where id = ${gone.instance.id}`
    expect(await settle(scene, gone.instance)).toBe(0)
    expect(await settle(scene, three.instance)).toBe(0)
    const [row] = await scene.sql`select status, instance_id as owner from messages where id = ${queued.replyId}`
    expect(row).toEqual({ status: 'streaming', owner: three.instance.id })
  },
)
