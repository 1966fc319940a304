/** Messages in the queue, and what instances do for it. */
import { expect } from 'vitest'
import { createQueueStore } from '../../../../src/features/queue/store/queue.ts'
import type { Instance, Scene } from '../../../persistence/scene.ts'
import { facts } from '../../continuation/store/handover-scene.ts'

/** What a queued message is stored with, where nothing of it matters. */
export const queuedInput = {
  user: null,
  by: null,
  includeUsage: false,
  reasoning: false,
  fields: {},
  includeActions: false,
  instructions: null,
  overrides: null,
  origin: null,
}

export const storeOf = ({ sql }: Scene, { id, epoch }: Instance) =>
  createQueueStore(sql, () => ({ id, epoch: epoch() }))

/** A reply that runs, and the id of the one to the message that waits behind it. */
export async function waiting({ begin, newSession, message, journal }: Scene) {
  const reply = await begin(await newSession(), { facts })
  const queued = message(reply.sessionId, { facts, onBusy: 'enqueue', mayQueue: true, queue: queuedInput })
  expect(await journal.admit(queued)).toMatchObject({ outcome: 'queued' })
  return { reply, next: queued.replyId }
}
