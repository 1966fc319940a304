/** Contract section 26: a connection that was made before another one was lost is asked before it is used again. */
import { setImmediate } from 'node:timers/promises'
import { afterAll, expect } from 'vitest'
import {
  changedNothing,
  codeOf,
  connect,
  createLosses,
  type Sql,
  withoutIdling,
} from '../../../src/persistence/postgres/database.ts'
import { freshDatabase } from '../../support/database.ts'
import { verifies } from '../../verifies.ts'

const database = await freshDatabase({ empty: true })
afterAll(() => database.drop())

const pidOf = async (sql: Sql) => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid
const kill = (pid: number | undefined) => database.sql`select pg_terminate_backend(${pid ?? 0})`

/** Two pools of one instance, each with one connection, of which one is lost. */
async function afterLoss(losses: ReturnType<typeof createLosses>) {
  const open = () => connect(database.url, { max: 1, name: 'test', timeoutMs: 1000, losses })
  const [kept, cut] = [open(), open()]
  const before = await pidOf(kept)
  await kill(await pidOf(cut))
  await expect.poll(losses.count).toBe(1)
  const after = await pidOf(kept)
  await Promise.all([kept.end(), cut.end()])
  return { before, after }
}

verifies('contract-26.timeline', 'one whose server still takes writes is kept', async () => {
  const { before, after } = await afterLoss(createLosses(3000))
  expect(after).toBe(before)
})

verifies('contract-26.timeline', 'one whose server does not is never used again', async () => {
  const losses = { ...createLosses(3000), isCurrent: async () => false }
  const { before, after } = await afterLoss(losses)
  expect([typeof after, after === before]).toEqual(['number', false])
})

verifies(
  'contract-10.unknown-admission',
  'a statement whose connection is asked is not given up as never sent',
  async () => {
    const losses = createLosses(3000)
    const asked = Promise.withResolvers<void>()
    const isCurrent = async () => {
      asked.resolve()
      // Longer than a statement waits for a connection while nothing is answered.
      await database.sql`select pg_sleep(0.5)`
      return true
    }
    const options = { max: 1, name: 'test', timeoutMs: 1000, silenceMs: 100, losses: { ...losses, isCurrent } }
    const sql = connect(database.url, options)
    await database.sql`create table sent (n int)`
    await pidOf(sql)
    const before = sql`select pg_sleep(0.05)`.execute()
    const waiting = sql`insert into sent values (1)`.then(
      () => 1,
      () => 0,
    )
    await setImmediate() // the one is sent, and the other waits
    losses.report()
    await before
    await asked.promise
    const answered = await waiting
    // It has only one connection: whatever was still to be sent is sent before this.
    await pidOf(sql)
    const [row] = await database.sql<{ rows: number }[]>`select count(*)::int as rows from sent`
    expect(row?.rows).toBe(answered)
    await sql.end()
  },
)

/** A connection to a server that says so. Null: it gives no answer. */
function server(says: { readOnly: boolean; timeline: string } | null): Sql {
  const ask = async ([text = '']: TemplateStringsArray) => {
    if (says === null) throw Object.assign(new Error('gone'), { code: 'ECONNRESET' })
    return text.includes('walfile') ? [{ timeline: says.timeline }] : [{ readOnly: says.readOnly }]
  }
  return Object.assign(ask, { end: async () => {} }) as unknown as Sql
}

const primary = (timeline: string) => ({ readOnly: false, timeline })

verifies('contract-26.timeline', 'a server that was left without being fenced is told by its timeline', async () => {
  for (const [own, reached, isCurrent] of [
    [primary('00000001'), primary('00000001'), true],
    [primary('00000001'), primary('00000002'), false],
    [primary('00000002'), primary('00000002'), true],
    [{ readOnly: true, timeline: '00000002' }, primary('00000002'), false],
    [null, primary('00000002'), false],
    [primary('00000001'), null, true], // nobody else is there
  ] as const) {
    const losses = createLosses(3000)
    losses.report()
    expect([own, reached, await losses.isCurrent(server(own), () => server(reached))]).toEqual([
      own,
      reached,
      isCurrent,
    ])
  }
})

verifies('contract-26.turns', 'a statement waits for its turn while others are answered', async () => {
  const answering = connect(database.url, { max: 1, name: 'test', timeoutMs: 1000, silenceMs: 4000 })
  const answers = await Promise.allSettled(Array.from({ length: 8 }, () => answering`select pg_sleep(0.55)`))
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill('fulfilled'))
  await answering.end()
  const sql = connect(database.url, { max: 1, name: 'test', timeoutMs: 1000, silenceMs: 1500 })
  const silent = [sql`select pg_sleep(9)`, sql`select 1`].map((query) =>
    query.then(String, (error: unknown) => String(error)),
  )
  expect(await Promise.all(silent)).toEqual([expect.stringContaining('broke'), expect.anything()])
  await sql.end({ timeout: 0 })
})

verifies('contract-26.turns', 'a transaction waits no longer than a statement while nothing is answered', async () => {
  const sql = connect(database.url, { max: 1, name: 'test', timeoutMs: 1000, silenceMs: 1500 })
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  const busy = sql.begin(async (tx) => await withoutIdling(tx, () => over))
  const waiting = await sql.begin((tx) => tx`select 1`).catch((error: unknown) => error)
  end()
  await busy
  expect([codeOf(waiting), changedNothing(waiting)]).toEqual(['CONNECT_TIMEOUT', true])
  expect(await sql.begin((tx) => tx`select 1 as one`)).toEqual([{ one: 1 }])
  await sql.end({ timeout: 0 })
})
