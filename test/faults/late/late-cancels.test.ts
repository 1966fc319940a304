/** Cancels and clearings of a queue that arrive late (contract section 35, repeats and late arrivals). */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { createCheckpoints } from '../../../src/features/compaction/store/checkpoints.ts'
import { createQueueStore } from '../../../src/features/queue/store/queue.ts'
import { requestCancel } from '../../../src/persistence/replies/settling/intents.ts'
import { facts } from '../../features/continuation/store/handover-scene.ts'
import { queuedInput, waiting } from '../../features/queue/store/queued-scene.ts'
import { finished } from '../../persistence/scene.ts'
import { verifies } from '../../verifies.ts'
import { openLateScene } from './late-scene.ts'

const rule = 'contract-35.late-writes'

verifies(rule, 'a cancel without a reply’s id that arrives late does not end the next reply', async () => {
  await using late = await openLateScene()
  const { sql, begin, newSession, journal, instance, agentId } = late.scene
  const sessionId = await newSession()
  const reply = await begin(sessionId)
  const held = late.hold('insert into intents')
  await expect(requestCancel(late.lateSql, sessionId, {})).rejects.toThrow()
  await held
  await journal.settle(reply, finished())
  const next = await begin(sessionId)
  await late.deliver()
  expect(await sql`select reply_id from intents`).toEqual([])
  await journal.settle(next, finished())

  const checkpoints = createCheckpoints({ sql, instance, waitMs: 1000 })
  const [first, second] = [randomUUID(), randomUUID()]
  await checkpoints.hold({ agentId, sessionId, hold: first }, instance.epoch())
  const heldAgain = late.hold('insert into intents')
  await expect(requestCancel(late.lateSql, sessionId, {})).rejects.toThrow()
  await heldAgain
  await checkpoints.release({ sessionId, epoch: instance.epoch() }, first)
  await checkpoints.hold({ agentId, sessionId, hold: second }, instance.epoch())
  await late.deliver()
  expect(await sql`select reply_id from intents`).toEqual([])
  expect(await requestCancel(sql, sessionId, {})).toEqual({ replyId: second, instanceId: instance.id })
})

verifies(rule, 'a clearing of a queue that arrives late removes no message that came since', async () => {
  await using late = await openLateScene()
  const { instance, journal, message } = late.scene
  const store = createQueueStore(late.lateSql, () => ({ id: instance.id, epoch: instance.epoch() }))
  const { reply, next } = await waiting(late.scene)
  const held = late.hold('take_out_messages')
  await expect(store.remove(reply.sessionId, null)).rejects.toThrow()
  await held
  expect(await store.remove(reply.sessionId, null)).toEqual([next])
  const later = message(reply.sessionId, { facts, onBusy: 'enqueue', mayQueue: true, queue: queuedInput })
  expect(await journal.admit(later)).toMatchObject({ outcome: 'queued' })
  await late.deliver()
  expect(await store.remove(reply.sessionId, null)).toEqual([later.replyId])
})
