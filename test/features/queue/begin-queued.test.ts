/** Whose requests wait for a queued message that begins here (contract section 22). */
import { expect, test } from 'vitest'
import { newId } from '../../../src/actors/reply/new-id.ts'
import { createExpiry, type ExpiryOptions } from '../../../src/features/approvals/expiry.ts'
import { type BeginningHost, beginQueued, tendQueues } from '../../../src/features/queue/begin-queued.ts'
import { memoryJournal } from '../../actors/memory-journal.ts'
import { end, message, openScene, say } from '../../actors/scene.ts'
import { turn } from '../../actors/turn.ts'
import { verifies } from '../../verifies.ts'

/** Begins a queued message, and ends its reply. Returns whether the reply counts as one whose request is lost. */
async function begun({ isWaitedFor, isLost }: { isWaitedFor: boolean; isLost: boolean }): Promise<boolean> {
  const record = message('s', { onBusy: 'enqueue' })
  const store = memoryJournal()
  const { inner, calls } = openScene({ journal: store.journal })
  const replyId = newId()
  const admission = await store.journal.admit({ ...record.message, replyId, mayStart: true, extras: {} })
  if (admission.outcome !== 'admitted') throw new Error(admission.outcome)
  const queue = {
    host: inner,
    options: {
      store: { take: async () => ({ id: 'm', admission, requesterLost: isLost }) },
      prepare: async () => ({ record, refusal: null }),
    },
    waiting: { has: () => isWaitedFor, wake: () => {} },
  }
  beginQueued(queue as unknown as BeginningHost, replyId) // no more of it is looked at
  while (calls.length === 0) await turn()
  await calls[0]?.say(say('Hello'), end)
  while (store.rows()[0]?.outcome === null) await turn()
  return store.rows()[0]?.requesterLost === true
}

verifies('contract-22.joins', 'a retry joins where the request waits on another instance, or is gone', async () => {
  expect(await begun({ isWaitedFor: false, isLost: false })).toBe(true)
  expect(await begun({ isWaitedFor: true, isLost: true })).toBe(true)
  expect(await begun({ isWaitedFor: true, isLost: false })).toBe(false)
})

test('looks for what is to begin that come at once begin no more than there is room for', async () => {
  const { inner } = openScene({ maxRunning: 1 })
  const rooms: number[] = []
  const answered = Promise.withResolvers<void>()
  const begin = async (room: number) => {
    rooms.push(room)
    await answered.promise
    return room > 0 ? [newId()] : []
  }
  const store = { tend: (_: boolean, room: number) => begin(room), take: () => Promise.withResolvers().promise }
  const queue = { host: inner, options: { store }, next: null } as unknown as BeginningHost // no more of it is looked at
  const expire = createExpiry({
    sql: (async (_: unknown, ...values: number[]) =>
      (await begin(values[2] ?? 0)).map((replyId) => ({ replyId }))) as unknown as ExpiryOptions['sql'],
    owner: () => ({ id: newId(), epoch: 1 }),
    host: inner,
    generate: (replyId) => beginQueued(queue, replyId),
  })
  const looks = [tendQueues(queue)]
  await turn()
  looks.push(expire(), tendQueues(queue), tendQueues(queue))
  await turn()
  answered.resolve()
  await Promise.all(looks)
  expect(rooms).toEqual([1, 0])
})
