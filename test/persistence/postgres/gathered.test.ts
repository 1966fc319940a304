/** Batched reads of many requests: never staler than a separate read. */
import { expect, test } from 'vitest'
import { gathered } from '../../../src/persistence/postgres/gathered.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Reads that wait for the test; each returns what was stored when it began. */
function heldReads() {
  const stored = new Map<string, string>()
  const reads: { keys: string[]; go(): void; fail(): void }[] = []
  const find = gathered<string>((keys) => {
    const seen = new Map([...stored].filter(([key]) => keys.includes(key)))
    const { promise, resolve, reject } = Promise.withResolvers<Map<string, string>>()
    reads.push({ keys, go: () => resolve(seen), fail: () => reject(new Error('away')) })
    return promise
  })
  return { stored, reads, find }
}

test('the first two read at once; later requests share one read, which begins after them', async () => {
  const { stored, reads, find } = heldReads()
  stored.set('a', 'old')
  const early = [find('a'), find('b')]
  const late = [find('a'), find('c'), find('a')]
  await turn()
  expect(reads.map(({ keys }) => keys)).toEqual([['a'], ['b']])
  stored.set('a', 'new')
  reads[0]?.go()
  await turn()
  expect(reads.map(({ keys }) => keys)).toEqual([['a'], ['b'], ['a', 'c']])
  for (const { go } of reads) go()
  expect(await Promise.all(early)).toEqual(['old', null])
  expect(await Promise.all(late)).toEqual(['new', null, 'new'])
})

test('a failed read fails only for those who shared it', async () => {
  const { stored, reads, find } = heldReads()
  const early = [find('a'), find('b')]
  const late = Promise.allSettled([find('a'), find('c')])
  reads[0]?.go()
  await turn()
  reads[2]?.fail()
  expect((await late).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  stored.set('a', 'there')
  const after = find('a')
  for (const { go } of reads) go()
  expect(await after).toBe('there')
  expect(await Promise.all(early)).toEqual([null, null])
})
