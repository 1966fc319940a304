/** Contract section 25 and 26: what is said, and how often, of a database in trouble. */
import { expect } from 'vitest'
import { databaseWords } from '../../../../src/http/server/database-errors/database-words.ts'
import { createSeldomLog } from '../../../../src/http/server/database-errors/seldom-log.ts'
import { errorAnswer } from '../../../../src/http/server/errors.ts'
import { missing } from '../../../../src/http/server/http-error.ts'
import { afterStored } from '../../../../src/http/streaming/reply-stream.ts'
import { verifies } from '../../../verifies.ts'

const fault = (code: string) => Object.assign(new Error(`fault ${code}`), { code })

verifies(
  'contract-26.database-words',
  'a full disk, a standby and what gave way are told from a database that is away',
  () => {
    const said = ['53100', '25006', '40001', '55P03', 'CONNECT_TIMEOUT', 'ECONNREFUSED'].map((code) => {
      const { status, message, headers } = errorAnswer(fault(code))
      expect([code, status, headers]).toEqual([code, 503, { 'retry-after': '1' }])
      return message
    })
    expect(said[0]).toMatch(/disk of the database \(DATABASE_URL\) is full/)
    expect(said[1]).toMatch(/takes no writes/)
    expect(said[2]).toMatch(/send it again/)
    expect(said[5]).toBe('The database (DATABASE_URL) cannot be reached.')
    expect(new Set(said).size).toBe(6)
  },
)

verifies(
  'contract-10.unknown-admission',
  'what cannot be read of a stored message is no 503, and is lost',
  async () => {
    let left = 0
    const answer = await afterStored(
      () => void left++,
      () => Promise.reject(fault('53100')),
    ).catch(errorAnswer)
    expect([answer, left]).toEqual([{ status: 500, message: expect.any(String), headers: { 'retry-after': '2' } }, 1])
    await expect(
      afterStored(
        () => void left++,
        async () => missing('response'),
      ),
    ).rejects.toMatchObject({ status: 404 })
    expect(left).toBe(1)
  },
)

verifies(
  'contract-26.database-words',
  'the same failure is logged once a minute, with how often it came, and named',
  () => {
    let time = 0
    const seldom = createSeldomLog(60_000, () => time)
    const err = fault('53100')
    const line = () => seldom({ err, batch: 1 }, 'Steps could not be recorded.')
    expect(line()).toEqual([{ err, batch: 1 }, `Steps could not be recorded. ${databaseWords(err)}`])
    for (; time < 59_000; time += 500) expect(line()).toBeNull()
    // Others are not held back by it.
    expect(seldom({ err }, 'Something else failed.')).not.toBeNull()
    expect(seldom({ err: fault('ECONNREFUSED') }, 'Steps could not be recorded.')).not.toBeNull()
    time = 60_000
    expect(line()).toEqual([{ err, batch: 1, leftOut: 118 }, expect.stringContaining('is full')])
    for (const other of [{ err: new Error('ours') }, { info: 1 }])
      expect(seldom(other, 'A reply failed.')).toBe('as it is')
  },
)
