/** Which instances are silent, judged by one clock alone (contract section 10). */
import fc from 'fast-check'
import { expect } from 'vitest'
import { createLeaseJudge } from '../../src/coordination/leases/lease-judge.ts'
import { verifies } from '../verifies.ts'

const leaseMs = 600
const stepMs = 75

/** Reads of one instance at fixed steps, each answered after 5 ms; `lease` gives what each shows. */
function reads(count: number, lease: (n: number) => number) {
  const judge = createLeaseJudge(leaseMs)
  return Array.from({ length: count }, (_, n) => judge.read([{ id: 'a', lease: lease(n) }], n * stepMs, n * stepMs + 5))
}

verifies(
  'contract-10.loss-without-clocks',
  'a lease unchanged for one lease is silent, from the response to the first read to the sending of the last',
  () => {
    const found = reads(12, () => 7).map((silent) => silent.length)
    // Read 8 is sent 600 ms after the first was sent, 595 ms after it was answered; read 9 is the first beyond the lease.
    expect(found).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1])
    expect(reads(12, () => 7).at(-1)).toEqual([{ id: 'a', lease: 7 }])
  },
)

verifies('contract-10.loss-without-clocks', 'after a gap, and after a failed read, judging starts over', () => {
  const judge = createLeaseJudge(leaseMs)
  const row = [{ id: 'a', lease: 1 }]
  for (let at = 0; at <= 525; at += stepMs) judge.read(row, at, at + 5)
  // Sent in time, answered 900 ms later: a paused database.
  expect(judge.read(row, 600, 1500)).toEqual([])
  for (let at = 1505; at < 2100; at += stepMs) expect(judge.read(row, at, at + 5)).toEqual([])
  judge.failed()
  for (let at = 2100; at < 2700; at += stepMs) expect(judge.read(row, at, at + 5)).toEqual([])
  expect(judge.read(row, 2710, 2715)).toEqual(row)
})

verifies('contract-10.loss-without-clocks', 'an instance that renews in time is never silent, whatever pauses', () => {
  const pause = fc.record({ at: fc.integer({ min: 0, max: 5000 }), ms: fc.integer({ min: 1, max: 3 * leaseMs }) })
  fc.assert(
    fc.property(fc.array(pause, { maxLength: 4 }), fc.integer({ min: 0, max: 200 }), (pauses, offset) => {
      // A paused database does not answer. The owner renews a third of a lease after each response; the judge reads.
      const answered = (at: number): number => {
        for (let now = at; ; ) {
          const under = pauses.find((one) => now >= one.at && now < one.at + one.ms)
          if (under === undefined) return now + 1
          now = under.at + under.ms
        }
      }
      const renewals: number[] = []
      for (let at = offset; at < 12_000; at = (renewals.at(-1) ?? at) + leaseMs / 3) renewals.push(answered(at))
      const judge = createLeaseJudge(leaseMs)
      for (let sentAt = 0; sentAt < 8000; ) {
        const at = answered(sentAt)
        // Statements that waited for the same database are answered in any order: the oldest state is the worst case.
        const lease = renewals.filter((renewedAt) => renewedAt < at - 2).length
        expect(judge.read([{ id: 'a', lease }], sentAt, at)).toEqual([])
        sentAt = at + stepMs
      }
    }),
  )
})
