/** Flushes that are too large, too slow or too late (contract section 4). */
import { afterEach, beforeEach, expect } from 'vitest'
import { contributions } from '../../../../src/compose/contributions.ts'
import { connect, type Sql } from '../../../../src/persistence/postgres/database.ts'
import { createJournal } from '../../../../src/persistence/replies/writing/journal.ts'
import { storedFrames } from '../../../support/frames.ts'
import { verifies } from '../../../verifies.ts'
import { failed, openScene, type Scene, textAt } from '../../scene.ts'

let scene: Scene
let closing: (() => Promise<unknown>)[]
beforeEach(async () => {
  scene = await openScene()
  closing = []
  // The fate of a flush: how many rows it may have before it takes too long, and whether it waits or fails.
  await scene.sql
    .unsafe(`
    create table trial (fault text not null, rows integer not null);
    insert into trial values ('none', 0);
    create table flushed (rows integer not null, bytes bigint not null);
    create function look() returns trigger language plpgsql as $$
    declare
      t record;
      n integer := (select count(*) from added cross join unnest(texts));
    begin
      select * into t from trial;
      if t.fault = 'slow' and n > t.rows then perform pg_sleep(10); end if;
      if exists (select 1 from added cross join unnest(texts) x where x like '%poison%') then perform pg_sleep(10); end if;
      insert into flushed select n, coalesce(sum(octet_length(x)), 0) from added cross join unnest(texts) x;
      return null;
    end $$;
    create function stop() returns trigger language plpgsql as $$
    begin
      if (select fault from trial) = 'hang' then perform pg_advisory_xact_lock_shared(1); end if;
      if (select fault from trial) = 'fail' then raise exception using errcode = 'XX000'; end if;
      return null;
    end $$;
    create trigger stop before insert on flushes for each statement execute function stop();
    create trigger look after insert on flushes referencing new table as added for each statement execute function look();`)
    .simple()
})
afterEach(async () => {
  for (const close of closing) await close()
  await scene[Symbol.asyncDispose]()
})

const trial = (fault: 'none' | 'slow' | 'hang' | 'fail', rows = 0) =>
  scene.sql`update trial set fault = ${fault}, rows = ${rows}`

function openJournal(flushTimeoutMs: number, statementTimeout = '') {
  const url = `${scene.database.url}${statementTimeout && `?statement_timeout=${statementTimeout}`}`
  const connectWriter = (): Sql => connect(url, { max: 1, name: 'writer', timeoutMs: 0 })
  const { instance, sql } = scene
  const journal = createJournal({
    sql,
    contributions,
    connectWriter,
    instance,
    flushTimeoutMs,
    onIntents() {},
    log: { warn() {} },
  })
  closing.push(() => journal.close())
  return journal
}

const eventsOf = async (replyId: string) => (await scene.journal.read(replyId, 0))?.events

verifies(
  'contract-4.stored-before-shown',
  'a flush ended by statement_timeout is resent in smaller parts, in order',
  async () => {
    const journal = openJournal(60_000, '500')
    const replies = [await scene.begin(await scene.newSession()), await scene.begin(await scene.newSession())]
    await trial('slow', 2)
    const events = Array.from({ length: 7 }, (_, n) => textAt(2 + n, `${n}`))
    const verdicts = await Promise.all(replies.map((reply) => journal.append(reply, () => events)))
    expect(verdicts).toEqual(['stored', 'stored'])
    for (const { id } of replies) expect(await eventsOf(id)).toEqual(events)
  },
)

verifies(
  ['contract-4.stored-before-shown', 'contract-10.self-fencing'],
  'a frame that statement_timeout ends every time is refused after a lease; all others are stored meanwhile',
  async () => {
    const leaseMs = 3_000
    const journal = openJournal(leaseMs, '400')
    const begin = async () => scene.begin(await scene.newSession())
    const [poisoned, whole, other] = [await begin(), await begin(), await begin()]
    let isOver = false
    const begun = performance.now()
    const ended = Promise.all([
      journal.append(poisoned, () => [textAt(2, 'before'), textAt(3, 'poison'), textAt(4, 'after')]),
      journal.append(whole, () => [textAt(2, 'at once')]),
    ]).finally(() => {
      isOver = true
    })
    let stored = 0
    for (let seq = 2; !isOver; seq += 1) {
      expect(await journal.append(other, () => [textAt(seq, 'x')])).toBe('stored')
      stored += 1
    }
    expect(await ended).toEqual(['refused', 'stored'])
    // No reply is to blame for a database that is slow for a moment.
    expect(performance.now() - begun).toBeGreaterThanOrEqual(leaseMs)
    expect(stored).toBeGreaterThan(3)
    expect(await eventsOf(other.id)).toHaveLength(stored)
    expect(await eventsOf(poisoned.id)).toEqual([textAt(2, 'before')])
    await journal.settle(poisoned, failed())
    expect((await scene.journal.read(poisoned.id, 0))?.outcome).toMatchObject({ type: 'failed' })
  },
)

verifies(
  'contract-4.stored-before-shown',
  'the backlog of an outage is stored in statements of bounded size',
  async () => {
    const journal = openJournal(60_000)
    const replies = await Promise.all(Array.from({ length: 30 }, async () => scene.begin(await scene.newSession())))
    const text = 'x'.repeat(1 << 20)
    const verdicts = await Promise.all(replies.map((reply) => journal.append(reply, () => [textAt(2, text)])))
    expect(new Set(verdicts)).toEqual(new Set(['stored']))
    const flushed = await scene.sql<{ bytes: number }[]>`select bytes from flushed`
    expect(flushed.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(30 << 20)
    for (const { bytes } of flushed) expect(bytes).toBeLessThanOrEqual(9 << 20)
  },
)

verifies(
  'contract-4.stored-before-shown',
  'a refused flush that is stored after all affects no later reply',
  async () => {
    const journal = openJournal(3_000)
    const session = await scene.newSession()
    const reply = await scene.begin(session)
    const held = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const holder = scene.sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(1)`
      locked.resolve()
      await held.promise
    })
    await locked.promise
    await trial('hang')
    const verdict = journal.append(reply, () => [textAt(2, 'late '), textAt(3, 'words')])
    await expect.poll(scene.waiting).toBe(1) // the first attempt, which the journal then abandons
    await trial('fail')
    expect(await verdict).toBe('refused')
    await trial('none')
    await journal.settle(reply, failed())
    held.resolve()
    await holder
    await expect.poll(() => storedFrames(scene.sql)).toHaveLength(2)
    const next = await scene.begin(session)
    expect(next.firstSeq).toBeGreaterThan(3)
    expect(await journal.append(next, () => [textAt(next.firstSeq + 1, 'new')])).toBe('stored')
    expect(await eventsOf(next.id)).toEqual([textAt(next.firstSeq + 1, 'new')])
    await scene.journal.settle(next, failed())
    expect(await eventsOf(next.id)).toEqual([textAt(next.firstSeq + 1, 'new')])
  },
)
