/** The queue of appends: what has not begun can be taken back. */
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { type Append, createFlushQueue } from '../../../../src/persistence/replies/writing/flush-queue.ts'
import { turn } from '../../../actors/turn.ts'
import { endSharedApps } from '../../../support/app.ts'
import { textAt } from '../../scene.ts'

beforeAll(endSharedApps)

const reply = (id: string) => ({
  ...{ id, sessionId: id, sessionNum: 1, firstSeq: 1, model: 'm', createdAt: '2026-01-01T00:00:00.000Z' },
  ...{ includeUsage: false, instanceId: 'i', epoch: 1 },
})

/** A queue whose writes the test ends. */
function heldQueue() {
  const writes: { ids: string[]; end(): void }[] = []
  const queue = createFlushQueue(async (batch: readonly Append[]) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    writes.push({ ids: batch.map((one) => one.reply.id), end: resolve })
    await promise
    for (const one of batch) one.resolve('stored')
  })
  return { writes, queue, append: (id: string) => queue.append(reply(id), () => [textAt(2, id)]) }
}

test('an append is withdrawn as long as its write has not begun, and the others are written without it', async () => {
  const { writes, queue, append } = heldQueue()
  const appends = ['a', 'b', 'c'].map(append)
  for (const id of ['a', 'b', 'unknown']) queue.withdraw(id)
  expect(await appends[1]).toBe('withdrawn')
  expect(writes.map(({ ids }) => ids)).toEqual([['a']])
  writes[0]?.end()
  expect(await appends[0]).toBe('stored')
  await expect.poll(() => writes.length).toBe(2)
  expect(writes[1]?.ids).toEqual(['c'])
  writes[1]?.end()
  expect(await appends[2]).toBe('stored')
})

test('what was tried before is not withdrawn: it may be stored, or be to blame', async () => {
  const { writes, queue, append } = heldQueue()
  const first = append('a')
  const verdicts: string[] = []
  const again = (id: string): Append => ({
    reply: reply(id),
    events: [textAt(2, id)],
    resolve: (how) => verdicts.push(how),
  })
  queue.again({ ...again('b'), maybeStored: true }, 0)
  queue.again({ ...again('c'), canceledAt: 1 }, 0)
  for (const id of ['b', 'c']) queue.withdraw(id)
  expect(verdicts).toEqual([])
  for (let n = 0; n < 3; n++) {
    await expect.poll(() => writes.length).toBe(n + 1)
    writes[n]?.end()
  }
  await first
  expect(writes.map(({ ids }) => ids.join())).toEqual(['a', 'b', 'c'])
})

test('one alone begins at once after a tenth of a second of quiet, however many came before', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { writes, append } = heldQueue()
  void append('a')
  for (let n = 0; n < 8; n++) void append(`b${n}`)
  writes[0]?.end()
  await expect.poll(() => writes.length).toBe(2)
  vi.advanceTimersByTime(50) // longer than flushes are apart
  writes[1]?.end()
  await turn()
  vi.advanceTimersByTime(101)
  void append('at once')
  expect(writes.at(-1)?.ids).toEqual(['at once'])
})

test('one alone begins at once; where several came it waits for those of its turn, until it is alone again', async () => {
  vi.useFakeTimers({ toFake: ['performance'] }) // a tenth of a second would be quiet
  onTestFinished(() => void vi.useRealTimers())
  const { writes, append } = heldQueue()
  void append('a')
  expect(writes).toHaveLength(1)
  for (let n = 0; n < 8; n++) void append(`b${n}`)
  writes[0]?.end()
  await expect.poll(() => writes.length).toBe(2)
  writes[1]?.end()
  let waited = 0
  for (const id of ['f', 'g', 'h']) {
    await turn()
    const written = writes.length
    void append(id)
    if (writes.length === written) waited += 1
    await expect.poll(() => writes.length).toBe(written + 1)
    writes.at(-1)?.end()
  }
  expect(waited).toBe(2) // the first of them behind the flush before it
  await turn()
  void append('at once')
  expect(writes.at(-1)?.ids).toEqual(['at once'])
})
