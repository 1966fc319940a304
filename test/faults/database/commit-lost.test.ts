/** A change whose commit got no answer (contract section 10: "503 means that nothing was stored"). */
import { expect } from 'vitest'
import { errorAnswer } from '../../../src/http/server/errors.ts'
import { connect } from '../../../src/persistence/postgres/database.ts'
import { freshDatabase } from '../../support/database.ts'
import { verifies } from '../../verifies.ts'
import { openProxy } from './database-proxy.ts'

verifies(
  'contract-10.unknown-admission',
  'it may be stored, and is no 503; what was cut off before is one',
  async () => {
    const database = await freshDatabase({ empty: true })
    await using stack = new AsyncDisposableStack()
    stack.defer(() => database.drop())
    await database.sql`create table changes (n integer)`
    const proxy = stack.use(await openProxy(database.url))
    /** What is answered when the connection breaks instead of the answer to this statement. */
    async function changeCutAt(statement: string) {
      const sql = connect(proxy.url, { max: 1, name: 'test', timeoutMs: 60_000 })
      const cut = proxy.cutAnswerTo(statement)
      const changed = sql.begin((tx) => tx`insert into changes values (1)`)
      const answer = await changed.then(() => null, errorAnswer)
      await cut
      await sql.end()
      return answer
    }
    expect(await changeCutAt('insert into changes')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    // With its end: a start's parameters hold `read committed`.
    const unknown = await changeCutAt('commit\0')
    expect(unknown).toEqual({ status: 500, message: expect.stringContaining('not known'), headers: {} })
    expect([...(await database.sql`select n from changes`)]).toEqual([{ n: 1 }])
  },
)

verifies('contract-10.unknown-admission', 'a commit that the server refuses has stored nothing', async () => {
  const { sql, drop } = await freshDatabase({ empty: true })
  await using stack = new AsyncDisposableStack()
  stack.defer(drop)
  await sql.unsafe(`
    create table changes (n integer);
    create function refuse() returns trigger language plpgsql as $$
    begin
      raise exception 'No.' using errcode = '53100';
    end $$;
    create constraint trigger refused after insert on changes deferrable initially deferred
      for each row execute function refuse()`)
  const answer = await sql.begin((tx) => tx`insert into changes values (1)`).catch(errorAnswer)
  expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
})
