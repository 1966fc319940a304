/** What prevents an instance from renewing, and how others judge it (contract section 10). */
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect } from 'vitest'
import { end, type Instance, type Instances, leaseMs, openInstances, say } from '../coordination/instances.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { verifies } from '../verifies.ts'

let instances: Instances
/** One that was declared lost comes back at once, in its next epoch. */
const lost = async () => (await instances.sql`select 1 from instances where epoch > 1`).length
const leaseOf = async ({ coordination }: Instance) =>
  (await instances.sql<{ lease: number }[]>`select lease from instances where id = ${coordination.id}`)[0]?.lease ?? 0

describe('a table that is locked', () => {
  beforeEach(async () => {
    instances = await openInstances(null)
  })
  afterEach(() => instances[Symbol.asyncDispose]())

  verifies('contract-10.renewal', 'continued messages while their table is locked lose no reply', async () => {
    const owner = await instances.open()
    await instances.open() // the judge
    const running = await instances.start(owner)
    await running.call.say(say('so far'))
    const sessions = await Promise.all(Array.from({ length: 20 }, instances.newSession))
    const before = await leaseOf(owner)
    await instances.sql.begin(async (tx) => {
      await tx`lock table messages in access exclusive mode`
      // Each waits with the owner's row locked until its own timeout: in sequence, three leases long.
      for (const session of sessions) {
        instances.start(owner, session).catch(() => {})
        await pause((3 * leaseMs) / sessions.length)
      }
    })
    expect(await leaseOf(owner)).toBeGreaterThan(before + 5)
    expect(await lost()).toBe(0)
    await running.call.say(end)
    await running.done
  })
})

describe('a clock that jumps', () => {
  let database: FreshDatabase
  /** Overrides clock_timestamp(), now() and the like in every statement. */
  const jump = (by: string) => database.sql`update shifted.jump set by = by + ${by}::interval`
  beforeEach(async () => {
    database = await freshDatabase()
    await database.sql
      .unsafe(`
        create schema shifted;
        create table shifted.jump (by interval not null);
        insert into shifted.jump values ('0');
        create function shifted.clock_timestamp() returns timestamptz volatile language sql
          as 'select pg_catalog.clock_timestamp() + by from shifted.jump';
        create function shifted.now() returns timestamptz volatile language sql as 'select shifted.clock_timestamp()';
        create function shifted.statement_timestamp() returns timestamptz volatile language sql
          as 'select shifted.clock_timestamp()';
        do $$ begin
          execute format('alter database %I set search_path = shifted, public, pg_catalog', current_database());
        end $$`)
      .simple()
    instances = await openInstances(null, database)
  })
  afterEach(() => instances[Symbol.asyncDispose]())

  for (const by of ['1 hour', '-1 hour']) {
    verifies(
      'contract-10.loss-without-clocks',
      `by ${by} loses no living instance, and hides no dead one`,
      async () => {
        const [owner, other, third] = [await instances.open(), await instances.open(), await instances.open()]
        const running = await instances.start(owner)
        const dying = await instances.start(third)
        await running.call.say(say('so far'))
        await dying.call.say(say('so far'))
        // Both between two renewals and right after one.
        for (let n = 0; n < 12; n += 1) {
          await jump(by)
          await pause(leaseMs / 5)
        }
        expect(await lost()).toBe(0)
        await third.crash()
        await jump(by)
        const reply = await other.host.open(dying.replyId)
        const crashedAt = performance.now()
        await reply?.read(0, new AbortController().signal, () => undefined)
        expect(performance.now() - crashedAt).toBeLessThan(2 * leaseMs + 1000)
        expect(await lost()).toBe(1)
        await running.call.say(end)
        await running.done
      },
    )
  }
})
