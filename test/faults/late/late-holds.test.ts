/** Holds of compactions and places of limits that are taken late (contract section 35, repeats and late arrivals). */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { nothingUsed } from '../../../src/actors/generate/usage-tally.ts'
import { createCheckpoints } from '../../../src/features/compaction/store/checkpoints.ts'
import { createLimitGate } from '../../../src/features/limits/store/limits.ts'
import { insertUsage } from '../../../src/features/limits/store/usage/usage.ts'
import { verifies } from '../../verifies.ts'
import { openLateScene } from './late-scene.ts'

const rule = 'contract-35.late-writes'

verifies(rule, 'a hold of a compaction that arrives after its release is released again', async () => {
  await using late = await openLateScene()
  const { sql, instance, agentId, newSession, journal, message } = late.scene
  const checkpoints = createCheckpoints({ sql: late.lateSql, instance, waitMs: 10_000 })
  const sessionId = await newSession()
  const hold = randomUUID()
  const place = { sessionId, epoch: instance.epoch() }
  const held = late.hold('update sessions s set compaction')
  expect(await checkpoints.hold({ agentId, sessionId, hold }, place.epoch)).not.toBeNull()
  await held
  await checkpoints.releaseLate(() => true)
  expect(await checkpoints.isHeld(sessionId, hold)).toBe(true)
  await checkpoints.release(place, hold)
  await late.deliver()
  expect((await journal.admit(message(sessionId))).outcome).toBe('busy')
  await checkpoints.releaseLate(() => false)
  expect((await journal.admit(message(sessionId))).outcome).toBe('admitted')
  expect(await sql`select 1 from sessions where compaction is not null`).toEqual([])
})

verifies(rule, 'a release that arrives late releases no later hold', async () => {
  await using late = await openLateScene()
  const { instance, agentId, newSession } = late.scene
  const checkpoints = createCheckpoints({ sql: late.lateSql, instance, waitMs: 10_000 })
  const sessionId = await newSession()
  const [first, second] = [randomUUID(), randomUUID()]
  const place = { sessionId, epoch: instance.epoch() }
  await checkpoints.hold({ agentId, sessionId, hold: first }, place.epoch)
  const held = late.hold('release_session')
  await checkpoints.release(place, first)
  await held
  await checkpoints.hold({ agentId, sessionId, hold: second }, place.epoch)
  await late.deliver()
  expect(await checkpoints.isHeld(sessionId, second)).toBe(true)
})

verifies(rule, 'a place that is taken after it was given back is given back again', async () => {
  await using late = await openLateScene()
  const { sql, instance, agentId } = late.scene
  const gate = createLimitGate(late.lateSql, instance)
  const [key, replyId] = [randomUUID(), randomUUID()]
  const request = { agentId, user: null, limits: { key: { id: key, concurrentReplies: 1 } } }
  const held = late.hold('take_limits')
  await expect(gate.take({ ...request, replyId })).rejects.toThrow()
  await held
  await insertUsage(sql, [
    {
      id: replyId,
      agentId,
      model: 'm',
      replies: 1,
      endedAt: new Date(),
      usage: nothingUsed,
      countsFor: { key, user: null },
    },
  ])
  await late.deliver()
  const next = () => gate.take({ ...request, replyId: randomUUID() })
  expect(await next()).toMatchObject({ over: { limit: 'concurrentReplies' } })
  await gate.giveBackLate()
  expect(await next()).toEqual({})
  await gate.giveBackLate()
  expect(await sql`select 1 from limit_places`).toHaveLength(1)
})
