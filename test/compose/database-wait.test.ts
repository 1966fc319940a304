/** What a start says while the database is not there: one line at once, then one each ten seconds. */
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { waitForDatabase } from '../../src/compose/database.ts'
import { createSeldomLog } from '../../src/http/server/database-errors/seldom-log.ts'
import { endSharedApps } from '../support/app.ts'

beforeAll(endSharedApps)

/** As the server's log writes them: it leaves out a failure of the database that it has just logged. */
let lines: [object, string][]
const seldom = createSeldomLog()
const log = {
  warn(details: object, message: string) {
    const written = seldom(details, message)
    if (written !== null) lines.push(written === 'as it is' ? [details, message] : written)
  },
}
const refused = () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED db:5432'), { code: 'ECONNREFUSED' }))

beforeEach(() => {
  lines = []
  vi.useFakeTimers()
})
afterEach(() => void vi.useRealTimers())

test('one that refuses is said at once, and each ten seconds until the start gives up', async () => {
  const waiting = waitForDatabase(refused, log).catch((error: Error) => error.message)
  await vi.advanceTimersByTimeAsync(0)
  expect(lines).toEqual([[{ reason: 'connect ECONNREFUSED db:5432' }, expect.stringContaining('DATABASE_URL')]])
  await vi.advanceTimersByTimeAsync(9_900)
  expect(lines).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(10_200)
  expect(lines).toHaveLength(3)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(await waiting).toBe('connect ECONNREFUSED db:5432')
  const said = lines.length
  await vi.advanceTimersByTimeAsync(60_000)
  expect(lines).toHaveLength(said)
})

test('one that does not answer is said after a second, and no more once it does', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const waiting = waitForDatabase(() => promise, log, 1000)
  await vi.advanceTimersByTimeAsync(1000)
  expect(lines).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(lines).toHaveLength(2)
  resolve('answered')
  expect(await waiting).toBe('answered')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(lines).toHaveLength(2)
})

test('a step that takes long is no silence', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const waiting = waitForDatabase(() => promise, log)
  await vi.advanceTimersByTimeAsync(60_000)
  resolve()
  await waiting
  expect(lines).toEqual([])
})
