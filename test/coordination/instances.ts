/** Whole instances without HTTP: coordination, journal and session host on one database, models controlled by the test. */
import { randomUUID } from 'node:crypto'
import { createLeaseGate } from '../../src/actors/generate/endings.ts'
import { deriveTitle } from '../../src/actors/history/title.ts'
import { createHost, createSessionHost } from '../../src/actors/session/host.ts'
import { contributions } from '../../src/compose/contributions.ts'
import { storedReplies } from '../../src/compose/stored-replies.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { createLocalCoordination } from '../../src/coordination/local.ts'
import { createRedisCoordination } from '../../src/coordination/redis/redis.ts'
import { createCheckpoints } from '../../src/features/compaction/store/checkpoints.ts'
import { reportOf } from '../../src/features/traces/actor-report.ts'
import { type ActorReports, createActorReports } from '../../src/features/traces/store/actor-reports.ts'
import { createTransitionRecorder } from '../../src/features/traces/transitions.ts'
import { connect, type Sql } from '../../src/persistence/postgres/database.ts'
import { createJournal } from '../../src/persistence/replies/writing/journal.ts'
import { end, follow, heldModel, message, say, started } from '../actors/scene.ts'
import { turn } from '../actors/turn.ts'
import { newAgent } from '../persistence/scene.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { noDuties } from './no-duties.ts'

/** Not shorter: where leases are not the subject, a machine under load must not lose one. */
export const leaseMs = 3000

export interface Instance {
  coordination: Coordination
  host: ReturnType<typeof createSessionHost>
  reports: ActorReports
  calls: ReturnType<typeof heldModel>['calls']
  /** How often a reply was read from the database. */
  reads(): number
  /** Ends its timers and connections silently, like a crash. */
  crash(): Promise<void>
}

export interface Instances extends AsyncDisposable {
  database: FreshDatabase
  sql: Sql
  /** `url`: another route to the database; `cache`: to Redis. */
  open(url?: string, cache?: string | null): Promise<Instance>
  newSession(): Promise<string>
  /** Starts a reply whose model then waits for the test. */
  start(owner: Instance, session?: string): Promise<Running>
}

export interface Running extends ReturnType<typeof follow> {
  session: string
  replyId: string
  call: Instance['calls'][number]
}

/** `cacheUrl` is null for PostgreSQL alone. */
export async function openInstances(cacheUrl: string | null, wanted?: FreshDatabase): Promise<Instances> {
  const database = wanted ?? (await freshDatabase())
  const agentId = await newAgent(database.sql)
  const closing: (() => Promise<unknown>)[] = []
  const newSession = async () => {
    const [row] = await database.sql<{ id: string }[]>`insert into sessions (agent_id) values (${agentId}) returning id`
    return row?.id ?? ''
  }
  async function open(url = database.url, cache = cacheUrl): Promise<Instance> {
    const instance = await openInstance(url, cache)
    closing.push(instance.crash)
    return instance
  }
  return {
    database,
    sql: database.sql,
    open,
    newSession,
    async start(owner, session) {
      const sessionId = session ?? (await newSession())
      const count = owner.calls.length
      const sent = started(await owner.host.send(message(sessionId, { agentId })))
      for (; owner.calls.length === count; await turn());
      const call = owner.calls[count]
      if (call === undefined) throw new Error('No call.')
      return { ...follow(sent.reply), session: sessionId, replyId: sent.reply.info.id, call }
    },
    async [Symbol.asyncDispose]() {
      for (const close of closing) await close()
      await database.drop()
    },
  }
}

async function openInstance(url: string, cacheUrl: string | null): Promise<Instance> {
  const pools: Sql[] = []
  const pool = (name: string, max = 1): Sql => {
    const sql = connect(url, { max, name, timeoutMs: leaseMs / 3, silenceMs: leaseMs })
    pools.push(sql)
    return sql
  }
  const log = { warn() {}, info() {}, error: console.error }
  const sql = pool('work', 4)
  const id = randomUUID()
  const options = {
    id,
    sql: pool('lease'),
    work: sql,
    replies: storedReplies(sql, deriveTitle, log, 600),
    leaseMs,
    alone: false,
    log,
  }
  const coordination = cacheUrl ? createRedisCoordination({ ...options, cacheUrl }) : createLocalCoordination(options)
  await coordination.join()
  const journal = createJournal({
    contributions,
    sql,
    instance: coordination,
    flushTimeoutMs: leaseMs,
    log,
    connectWriter: () => pool('writer'),
    onIntents: coordination.wake,
  })
  const checkpoints = createCheckpoints({ sql, instance: coordination, waitMs: leaseMs })
  let reads = 0
  const { model, calls } = heldModel()
  const inner = createHost({
    journal: {
      ...checkpoints,
      ...journal,
      read(replyId, after) {
        reads += 1
        return journal.read(replyId, after)
      },
    },
    model,
    exchange: coordination.exchange,
    leaseMs,
    log,
    maxRunning: 100,
    gate: createLeaseGate(coordination.validUntil),
    recorder: createTransitionRecorder({ record: async () => {} }, () => {}),
    historyMaxTokens: 1000,
    generationTimeoutMs: 60_000,
  })
  const host = createSessionHost(inner, [])
  const reports = createActorReports({ sql, id, exchange: coordination.exchange, own: () => reportOf(inner) })
  coordination.start(host.owned, { ...noDuties, tick: host.tick, answer: reports.answer })
  return {
    coordination,
    host,
    reports,
    calls,
    reads: () => reads,
    async crash() {
      for (const one of pools) await one.end({ timeout: 0 })
      await coordination.stop()
      await journal.close()
    },
  }
}

export { end, follow, say, turn }
