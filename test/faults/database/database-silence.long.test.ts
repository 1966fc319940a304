/** Connections that die silently (a stateful firewall, a failover): every waiting statement fails in time. */
import { afterEach, beforeEach, expect } from 'vitest'
import { changedNothing, connect, isUnavailable, type Sql } from '../../../src/persistence/postgres/database.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { verifies } from '../../verifies.ts'
import { type DatabaseProxy, openProxy } from './database-proxy.ts'

let database: FreshDatabase
let proxy: DatabaseProxy
let sql: Sql
beforeEach(async () => {
  database = await freshDatabase({ empty: true })
  proxy = await openProxy(database.url)
  sql = connect(proxy.url, { max: 2, name: 'silence', timeoutMs: 200, silenceMs: 1000 })
})
afterEach(async () => {
  await sql.end({ timeout: 0 })
  await proxy[Symbol.asyncDispose]()
  await database.drop()
})

/** Statements that sleep. */
const sleeping = async () =>
  (
    await database.sql`select 1 from pg_stat_activity where query like 'select pg_sleep%' and state = 'active' and datname = current_database()`
  ).length
const one = () => sql<{ n: number }[]>`select 1 as n`
/** Opens both connections. */
const warm = () => Promise.all([one(), one()])
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error: unknown) => (isUnavailable(error) ? 'unavailable' : error),
  )

verifies(
  'contract-4.storage-outage',
  'a statement on a dead connection fails as unavailable, the next one works',
  async () => {
    await warm()
    proxy.forget()
    expect(await Promise.all([outcome(one()), outcome(one())])).toEqual(['unavailable', 'unavailable'])
    expect([...(await one())]).toEqual([{ n: 1 }])
  },
)

verifies('contract-4.storage-outage', 'one dead connection is enough to discard the idle ones', async () => {
  await warm()
  proxy.forget()
  expect(await outcome(one())).toBe('unavailable')
  expect([...(await one())]).toEqual([{ n: 1 }])
})

verifies('contract-4.storage-outage', 'a slow statement costs only its own connection', async () => {
  await warm()
  const slow = outcome(sql`select pg_sleep(1.5)`)
  await expect.poll(() => sleeping()).toBe(1)
  await one()
  const before = proxy.attempts
  expect(await slow).toBe('unavailable')
  await one()
  expect(proxy.attempts).toBe(before)
})

verifies('contract-4.storage-outage', 'a transaction on a dead connection fails at every step of it', async () => {
  await warm()
  proxy.forget()
  expect(await outcome(sql.begin((tx) => tx`select 1`))).toBe('unavailable')
  await sql.end({ timeout: 0 })
  for (const step of ['first statement', 'commit']) {
    sql = connect(proxy.url, { max: 1, name: 'silence', timeoutMs: 200, silenceMs: 1000 })
    const work = sql.begin(async (tx) => {
      if (step === 'commit') await tx`select 1`
      proxy.forget()
      if (step === 'first statement') await tx`select 1`
    })
    expect(await outcome(work)).toBe('unavailable')
    expect([...(await one())]).toEqual([{ n: 1 }])
    await sql.end({ timeout: 0 })
  }
})

verifies(
  'contract-4.storage-outage',
  'no statement waits forever for a connection, however many are queued',
  async () => {
    for (const fault of ['swallow', 'hangUp', 'refuse'] as const) {
      proxy[fault]()
      const asked = Array.from({ length: 6 }, () => outcome(one()))
      expect(new Set(await Promise.all(asked))).toEqual(new Set(['unavailable']))
      // No tight reconnect loop against a proxy that closes connections.
      expect(proxy.attempts).toBeLessThan(500)
      proxy.restore()
      expect([...(await one())]).toEqual([{ n: 1 }])
    }
  },
)

verifies('contract-4.storage-outage', 'a slow response is accepted, and an idle connection is kept', async () => {
  await Promise.all([sql`select pg_sleep(0.3)`, sql`select pg_sleep(0.3)`])
  const before = proxy.attempts
  await database.sql`select pg_sleep(1.3)`
  expect([...(await one())]).toEqual([{ n: 1 }])
  expect(proxy.attempts).toBe(before)
})

const fate = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error: unknown) => [isUnavailable(error), changedNothing(error) ? 'changed nothing' : 'may be done'],
  )
const unavailable = {
  certain: [true, 'changed nothing'],
  unknown: [true, 'may be done'],
}

verifies(
  'contract-10.unknown-admission',
  'a statement never sent is told apart from one that may have run',
  async () => {
    for (const fault of ['swallow', 'hangUp', 'refuse'] as const) {
      proxy[fault]()
      expect(await fate(one())).toEqual(unavailable.certain)
      expect(await fate(sql.begin((tx) => tx`select 1`))).toEqual(unavailable.certain)
      proxy.restore()
    }
    await warm()
    proxy.forget()
    expect(await Promise.all([fate(one()), fate(one())])).toEqual([unavailable.unknown, unavailable.unknown])
    proxy.judge((bytes) => (bytes.includes('cut') ? 'cut answer' : 'pass'))
    expect(await fate(sql`select ${'cut'}::text`)).toEqual(unavailable.unknown)
    proxy.judge(null)
    const raise = (severity: string, state: string) =>
      sql.unsafe(`do $$ begin raise ${severity} using errcode = '${state}'; end $$`)
    for (const state of ['55P03', '40001', '53200', '57014']) {
      expect(await fate(raise('exception', state))).toEqual(unavailable.certain)
    }
    // Poolers report these codes for a broken server; the outcome is unknown.
    for (const state of ['08P01', '08007', '40003']) {
      expect(await fate(raise('exception', state))).toEqual(unavailable.unknown)
    }
    await sql.end({ timeout: 0 })
    expect(await fate(one())).toEqual([false, 'changed nothing'])
  },
)

verifies(
  'contract-10.unknown-admission',
  'a statement waits for a free connection as long as for a response',
  async () => {
    await warm()
    proxy.forget()
    const asked = Array.from({ length: 30 }, () => fate(one()))
    const answers = await Promise.all(asked)
    const count = (wanted: unknown) => answers.filter((one) => `${one}` === `${wanted}`).length
    // Two were sent; the queued others gave up together, not two by two.
    expect(count(unavailable.unknown)).toBe(2)
    expect(count(unavailable.certain) + count('answered')).toBe(28)
    expect(count('answered')).toBeLessThanOrEqual(2)
    expect([...(await one())]).toEqual([{ n: 1 }])
  },
)
