/** A change whose commit got no answer (contract section 10: "503 means that nothing was stored"). */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { commitChange } from '../../../src/features/audit/routes/commit-change.ts'
import { keepContents } from '../../../src/features/parts/store/parts.ts'
import { beginAttempt } from '../../../src/features/users/store/logins.ts'
import { errorAnswer } from '../../../src/http/server/errors.ts'
import { connect, type Sql } from '../../../src/persistence/postgres/database.ts'
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
      const changed = commitChange(sql, (tx) => tx`insert into changes values (1)`)
      const answer = await changed.then(() => null, errorAnswer)
      await cut
      await sql.end()
      return answer
    }
    expect(await changeCutAt('insert into changes')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    // The zero byte ends the statement: the parameters of a connection's start hold `read committed`.
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
  const answer = await commitChange(sql, (tx) => tx`insert into changes values (1)`).catch(errorAnswer)
  expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
})

verifies(
  'contract-10.unknown-admission',
  'what is kept before a message is stored, or an attempt to log in, is no change: it may be sent again',
  async () => {
    const database = await freshDatabase()
    await using stack = new AsyncDisposableStack()
    stack.defer(() => database.drop())
    const proxy = stack.use(await openProxy(database.url))
    const owner = { agentId: randomUUID(), sessionId: null, user: null }
    const contents = [{ sha256: '00'.repeat(32), size: 1, pieces: [new Uint8Array(1)] }]
    for (const work of [
      (sql: Sql) => keepContents(sql, randomUUID(), { owner, contents }),
      (sql: Sql) => beginAttempt(sql, '127.0.0.1', 'ann'),
    ]) {
      const sql = connect(proxy.url, { max: 1, name: 'test', timeoutMs: 60_000 })
      const cut = proxy.cutAnswerTo('commit\0')
      const answer = await work(sql).then(() => null, errorAnswer)
      await cut
      await sql.end()
      expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    }
  },
)
