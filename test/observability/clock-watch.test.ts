/** A clock that is far from the database's is told once, and so is its return (issue 69). */
import { expect, test } from 'vitest'
import { createLease } from '../../src/coordination/leases/lease.ts'
import { createClockWatch } from '../../src/observability/clock-watch.ts'
import { freshDatabase } from '../support/database.ts'

function watched() {
  const lines: string[] = []
  const log = {
    warn: (details: object) => void lines.push(JSON.stringify(details)),
    info: () => void lines.push('right again'),
  }
  return { lines, watch: createClockWatch(log) }
}

test('more than 30 s are told once, in either direction, and a slow answer is no difference', () => {
  const { lines, watch } = watched()
  watch.saw(1_000_000, 1_000_000, 1_000_010)
  watch.saw(1_000_000, 900_000, 1_100_000) // it took 200 s
  watch.saw(1_000_000, 1_029_000, 1_029_500)
  expect([lines, watch.isOff(), watch.offsetMs()]).toEqual([[], false, 29_000])
  watch.saw(1_000_000, 1_660_000, 1_660_100)
  watch.saw(1_000_000, 1_660_000, 1_660_100)
  expect([lines, watch.isOff()]).toEqual([['{"aheadS":660}'], true])
  watch.saw(1_000_000, 1_000_000, 1_000_100)
  watch.saw(1_000_000, 900_000, 900_100)
  expect([lines.slice(1), watch.offsetMs()]).toEqual([['right again', '{"aheadS":-100}'], -99_900])
})

test('a lease compares when it is taken and when it is renewed', async () => {
  const database = await freshDatabase()
  const seen: number[] = []
  const clock = { saw: (now: number) => void seen.push(now) }
  const lease = createLease({
    sql: database.sql,
    id: crypto.randomUUID(),
    leaseMs: 5000,
    onLost() {},
    onLapsed() {},
    clock,
  })
  await lease.take()
  await lease.renew()
  await database.drop()
  expect(seen.map((now) => Math.abs(now - Date.now()) < 30_000)).toEqual([true, true])
})
