/** Contract section 17: `error` is for faults of ours alone. */
import { expect } from 'vitest'
import { faultLog } from '../../src/compose/observation.ts'
import { logFailure } from '../../src/http/server/errors.ts'
import { connect } from '../../src/persistence/postgres/database.ts'
import { verifies } from '../verifies.ts'

verifies('contract-17.levels', 'what a stop could not store in time, because the pool is closed, is none', async () => {
  const sql = connect('postgres://127.0.0.1:1/none', { max: 1, name: 'closed', timeoutMs: 1000 })
  await sql.end()
  const err: unknown = await sql`select 1`.catch((error: unknown) => error)
  expect(err).toMatchObject({ code: 'CONNECTION_ENDED' })
  const said: string[] = []
  const level = (name: string) => () => void said.push(name)
  const log = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
  faultLog(log).error({ err, replyId: 'r' }, 'A reply met an unexpected error.')
  logFailure(log, err, 'A deploy request failed.')
  expect(said).toEqual(['debug', 'warn'])
})
