/** Leases, the search for lost owners, intents and orphans, on PostgreSQL alone (contract section 4). */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect } from 'vitest'
import { deriveTitle } from '../../../src/actors/history/title.ts'
import type { Intent, ReplyInfo } from '../../../src/actors/ports/index.ts'
import { contributions } from '../../../src/compose/contributions.ts'
import { storedReplies } from '../../../src/compose/stored-replies.ts'
import type { Coordination } from '../../../src/coordination/coordination.ts'
import { createLocalCoordination } from '../../../src/coordination/local.ts'
import { deleteSession } from '../../../src/features/sessions/store/sessions.ts'
import { connect, type Sql } from '../../../src/persistence/postgres/database.ts'
import { createJournal } from '../../../src/persistence/replies/writing/journal.ts'
import { noDuties } from '../../coordination/no-duties.ts'
import { finished, openScene, type Scene, textAt } from '../../persistence/scene.ts'
import { verifies } from '../../verifies.ts'
import { openProxy } from './database-proxy.ts'

/** Not shorter: a busy machine stands still for a second, and an instance that is not the subject must not be lost. */
const leaseMs = 2400

let scene: Scene
let closing: (() => Promise<unknown>)[]
beforeEach(async () => {
  scene = await openScene()
  closing = []
})
afterEach(async () => {
  for (const close of closing.reverse()) await close()
  await scene[Symbol.asyncDispose]()
})

/** An instance: coordination, its journal, and a record of the calls it received. */
async function openInstance({ url = scene.database.url, alone = false } = {}) {
  const pool = (name: string, silenceMs = leaseMs / 2): Sql => {
    const sql = connect(url, { max: 1, name, timeoutMs: leaseMs / 3, silenceMs })
    closing.push(() => sql.end({ timeout: 0 }))
    return sql
  }
  const log = { warn() {}, info() {} }
  const work = pool('work')
  const coordination = createLocalCoordination({
    id: crypto.randomUUID(),
    sql: pool('lease'),
    work,
    replies: storedReplies(work, deriveTitle, log, 600),
    leaseMs,
    alone,
    log,
  })
  const calls = { applied: [] as Intent[], fenced: [] as number[], orphans: [] as ReplyInfo[], dropped: [] as string[] }
  const running = new Set<string>()
  const journal = createJournal({
    contributions,
    sql: scene.sql,
    instance: coordination,
    flushTimeoutMs: 10_000,
    log,
    connectWriter: () => pool('writer', 10_000),
    onIntents: () => coordination.wake(),
  })
  closing.push(() => journal.close())
  const start = () =>
    coordination.start(
      {
        running: () => running,
        placeOf: () => null,
        apply: (intent) => void calls.applied.push(intent),
        statelessAgents: () => [],
        forgetAgent() {},
        leaseExpired() {},
        fenced: (epoch) => void calls.fenced.push(epoch),
        async settleOrphan(reply) {
          calls.orphans.push(reply)
          await journal.settle(reply, finished())
        },
        async dropOrphan(replyId) {
          calls.dropped.push(replyId)
          running.delete(replyId)
        },
      },
      noDuties,
    )
  const begin = async (text = 'Hello') => {
    const admission = await journal.admit(scene.message(await scene.newSession(), { text }))
    if (admission.outcome !== 'admitted') throw new Error(admission.outcome)
    running.add(admission.reply.id)
    return admission.reply
  }
  closing.push(() => coordination.stop())
  return { coordination, journal, calls, running, start, begin }
}

const rowOf = async ({ id }: Pick<Coordination, 'id'>) => {
  const [row] = await scene.sql<{ epoch: number; held: boolean; age: number; lost: number | null }[]>`
    select epoch, lease_until > clock_timestamp() as held,
           (extract(epoch from clock_timestamp() - started_at) * 1000)::float8 as age,
           (extract(epoch from lost_at - started_at) * 1000)::float8 as lost from instances where id = ${id}`
  if (!row) throw new Error('no such instance')
  return row
}

/** An instance that never renews. */
async function deadInstance(): Promise<{ id: string }> {
  const id = randomUUID()
  await scene.sql`insert into instances (id) values (${id})`
  return { id }
}

verifies('contract-4.owner-lost', 'a living instance keeps its lease over many leases', async () => {
  const a = await openInstance()
  const b = await openInstance()
  await a.coordination.join()
  await b.coordination.join()
  a.start()
  b.start()
  const dead = await deadInstance()
  await expect.poll(async () => (await rowOf(dead)).lost).not.toBeNull()
  await expect.poll(async () => (await rowOf(a.coordination)).age).toBeGreaterThan(3 * leaseMs)
  for (const { coordination, calls } of [a, b]) {
    expect(await rowOf(coordination)).toMatchObject({ epoch: 1, held: true, lost: null })
    expect(calls.fenced).toEqual([])
  }
})

verifies(
  'contract-4.owner-lost',
  'silent instances are declared lost after one lease; their replies end with a title',
  async () => {
    const dead = await openInstance()
    await dead.coordination.join() // and never renews
    const reply = await dead.begin('A question about cats')
    await dead.journal.append(reply, () => [textAt(2, 'Well')])
    const a = await openInstance()
    await a.coordination.join()
    await scene.sql`update instances set started_at = clock_timestamp() where id = ${dead.coordination.id}`
    a.start()
    await expect
      .poll(async () => (await scene.journal.read(reply.id, 0))?.outcome)
      .toMatchObject({
        type: 'failed',
        error: { code: 'instance_lost' },
      })
    const { lost, epoch } = await rowOf(dead.coordination)
    expect(epoch).toBe(2)
    expect(lost).toBeGreaterThan(leaseMs * 0.9) // a joined a moment before started_at was set
    await expect
      .poll(async () => (await scene.sql`select title from sessions where id = ${reply.sessionId}`)[0]?.title)
      .toBe('A question about cats')
    // It wakes up fenced.
    expect(await dead.journal.append(reply, () => [textAt(3, ' then')])).toBe('fenced')
  },
)

verifies(
  'contract-4.fencing',
  'an instance that was declared lost ends its replies and starts a new epoch',
  async () => {
    const a = await openInstance()
    await a.coordination.join()
    const old = await a.begin()
    await a.journal.append(old, () => [textAt(2, 'before')])
    await scene.sql`update instances set epoch = epoch + 1, lost_at = clock_timestamp() where id = ${a.coordination.id}`
    a.start()
    await expect.poll(() => a.calls.fenced).toEqual([1])
    await expect.poll(() => a.coordination.epoch()).toBe(2)
    expect(await rowOf(a.coordination)).toMatchObject({ epoch: 2, held: true, lost: null })
    expect(await a.journal.append(old, () => [textAt(3, ' after')])).toBe('fenced')
    expect(await a.journal.settle(old, finished())).toEqual({ result: 'fenced' })
    const fresh = await a.begin()
    expect(fresh.epoch).toBe(2)
    expect(await a.journal.append(fresh, () => [textAt(2, 'new')])).toBe('stored')
  },
)

verifies('contract-4.fencing', 'a row that was removed meanwhile is recreated above every earlier epoch', async () => {
  const a = await openInstance()
  await a.coordination.join()
  const old = await a.begin()
  await scene.sql`delete from instances where id = ${a.coordination.id}`
  a.start()
  await expect.poll(() => a.coordination.epoch()).toBe(2)
  expect(a.calls.fenced).toEqual([1])
  expect(await a.journal.append(old, () => [textAt(2, 'x')])).toBe('fenced')
})

verifies('contract-4.owner-lost', 'an outage of the database counts against no instance', async () => {
  await using proxy = await openProxy(scene.database.url)
  for (const fault of ['refuse', 'swallow'] as const) {
    const a = await openInstance({ url: proxy.url })
    await a.coordination.join()
    a.start()
    const first = await deadInstance()
    await expect.poll(async () => (await rowOf(first)).lost).not.toBeNull() // from now on, a declares losses
    proxy[fault]()
    const other = await deadInstance() // last renewed when the outage began
    await expect.poll(async () => (await rowOf(a.coordination)).held).toBe(false)
    proxy.restore()
    await expect.poll(async () => (await rowOf(a.coordination)).held, { interval: 10 }).toBe(true)
    const back = (await rowOf(other)).age
    // Only continued silence counts.
    await expect.poll(async () => (await rowOf(other)).lost).toBeGreaterThan(back + leaseMs / 2)
    await a.coordination.stop()
  }
})

verifies('contract-4.owner-lost', 'a lease survives connections that die silently', async () => {
  await using proxy = await openProxy(scene.database.url)
  const a = await openInstance({ url: proxy.url })
  await a.coordination.join()
  a.start()
  proxy.forget()
  const from = (await rowOf(a.coordination)).age
  await expect.poll(async () => (await rowOf(a.coordination)).age).toBeGreaterThan(from + 2 * leaseMs)
  await expect.poll(async () => (await rowOf(a.coordination)).held).toBe(true)
  expect(a.coordination.epoch()).toBe(1)
})

verifies('contract-4.cancel', 'intents reach their owner, and nobody else', async () => {
  const a = await openInstance()
  const b = await openInstance()
  await a.coordination.join()
  await b.coordination.join()
  const [cancelled, deleted] = [await a.begin(), await a.begin()]
  await scene.journal.requestCancel(cancelled.sessionId, {})
  await deleteSession(scene.sql, scene.agentId, deleted.sessionId)
  a.start()
  b.start()
  await expect.poll(() => a.calls.applied.length).toBeGreaterThanOrEqual(2)
  const intent = (kind: 'cancel' | 'delete', reply: ReplyInfo) => ({
    kind,
    sessionId: reply.sessionId,
    replyId: reply.id,
  })
  expect(a.calls.applied.slice(0, 2)).toEqual([intent('cancel', cancelled), intent('delete', deleted)])
  await scene.sql`update messages set status = 'complete' where id = ${cancelled.id}`
  await expect.poll(() => scene.sql`select 1 from intents`).toHaveLength(0)
  expect(b.calls.applied).toEqual([])
})

verifies(
  'contract-4.orphans',
  'a streaming row without an actor is settled, an actor without its row is dropped',
  async () => {
    const a = await openInstance()
    await a.coordination.join()
    const [orphan, ghost, fine] = [await a.begin(), await a.begin(), await a.begin()]
    a.running.delete(orphan.id)
    await scene.sql`select delete_sessions(${scene.agentId}, array[${ghost.sessionId}::uuid])`
    a.start()
    await expect.poll(() => a.calls.orphans.map(({ id }) => id)).toEqual([orphan.id])
    await expect.poll(() => a.calls.dropped).toEqual([ghost.id])
    expect(a.calls.orphans[0]).toMatchObject({
      sessionId: orphan.sessionId,
      sessionNum: orphan.sessionNum,
      firstSeq: 1,
      epoch: 1,
    })
    expect((await a.journal.read(fine.id, 0))?.outcome).toBeNull()
    // Settled only when seen twice: an admission whose response is in transit is not an orphan.
    const [row] = await scene.sql<{ ms: number }[]>`
    select (extract(epoch from settled_at - created_at) * 1000)::float8 as ms from messages where id = ${orphan.id}`
    expect(row?.ms).toBeGreaterThan(1000)
  },
)

verifies(
  'contract-4.owner-lost',
  'an instance that stops cleanly, and all others on an embedded database, are lost at once',
  async () => {
    const stopped = await openInstance()
    await stopped.coordination.join()
    const reply = await stopped.begin()
    await stopped.coordination.stop()
    expect(await stopped.journal.append(reply, () => [textAt(2, 'x')])).toBe('fenced')
    const living = await deadInstance()
    const a = await openInstance({ alone: true })
    await a.coordination.join()
    expect((await rowOf(living)).lost).not.toBeNull()
    expect((await scene.journal.read(reply.id, 0))?.outcome).toMatchObject({ error: { code: 'instance_lost' } })
  },
)
