/** Repeatable queries are retried when the database, or one connection to it, is briefly unavailable. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contributions } from '../../../../src/compose/contributions.ts'
import { askAgain, connect, type Sql } from '../../../../src/persistence/postgres/database.ts'
import { createJournal } from '../../../../src/persistence/replies/writing/journal.ts'
import { finished, openScene, type Scene, textAt } from '../../scene.ts'

const unavailable = () => Object.assign(new Error('cut'), { code: 'CONNECTION_CLOSED' })

test('a query is retried until it succeeds', async () => {
  let asked = 0
  const answer = await askAgain(async () => {
    asked += 1
    if (asked < 3) throw unavailable()
    return 'answer'
  }, 60_000)
  expect([answer, asked]).toEqual(['answer', 3])
})

test('after the time limit it rejects with the failure itself', async () => {
  await expect(askAgain(() => Promise.reject(unavailable()), 0)).rejects.toThrow('cut')
})

test('an error from the database itself is not retried', async () => {
  let asked = 0
  const refused = async () => {
    asked += 1
    throw Object.assign(new Error('duplicate'), { code: '23505' })
  }
  await expect(askAgain(refused, 60_000)).rejects.toThrow('duplicate')
  expect(asked).toBe(1)
})

let scene: Scene
let sql: Sql
beforeAll(async () => {
  scene = await openScene()
  sql = connect(scene.database.url, { max: 2, name: 'cut', timeoutMs: 0 })
})
afterAll(async () => {
  await sql.end()
  await scene[Symbol.asyncDispose]()
})

test('history is read even if its connection is cut in the middle', async () => {
  const { instance, database } = scene
  const session = await scene.newSession()
  const reply = await scene.begin(session)
  await scene.journal.append(reply, () => [textAt(2, 'answered')])
  await scene.journal.settle(reply, finished())
  const connectWriter = () => connect(database.url, { max: 1, name: 'writer', timeoutMs: 0 })
  const options = {
    sql,
    contributions,
    connectWriter,
    instance,
    flushTimeoutMs: 60_000,
    onIntents() {},
    log: { warn() {} },
  }
  const journal = createJournal(options)
  let history: ReturnType<typeof journal.history> | undefined
  await database.sql.begin(async (tx) => {
    await tx`lock table messages in access exclusive mode`
    history = journal.history(session, 1, { maxBytes: 1000, maxToolText: 100 })
    history.catch(() => {}) // awaited below
    const cut = () => database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'cut' and datname = current_database() and wait_event_type = 'Lock'`
    await expect.poll(async () => (await cut()).length).toBe(1)
  })
  expect(await history).toMatchObject({ messages: [{ content: 'Hello' }, { content: 'answered' }] })
  await journal.close()
})
