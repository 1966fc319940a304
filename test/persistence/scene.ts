/** The setup of the persistence tests: a database, an instance row, a session, and a journal. */
import { randomUUID } from 'node:crypto'
import type { NewMessage, ReplyInfo, Settlement } from '../../src/actors/ports/index.ts'
import type { StoredEvent } from '../../src/actors/reply/reply-event.ts'
import { contributions } from '../../src/compose/contributions.ts'
import { createCheckpoints, type Holds, type Summaries } from '../../src/features/compaction/store/checkpoints.ts'
import { connect, type Sql } from '../../src/persistence/postgres/database.ts'
import { createJournal, type ReplyJournal } from '../../src/persistence/replies/writing/journal.ts'
import { type FreshDatabase, freshDatabase, type ServerVersion } from '../support/database.ts'
import { inTier } from '../support/tier.ts'

export const versions = inTier<ServerVersion>([18, 15])

export interface Instance {
  readonly id: string
  believed: number
  epoch(): number
}

/** A message and its extras, all of them optional. */
export type Wanted = Partial<NewMessage> & NewMessage['extras']

export interface Scene extends AsyncDisposable {
  database: FreshDatabase
  sql: Sql
  instance: Instance
  journal: ReplyJournal & Summaries & Holds
  agentId: string
  /** Another instance with its own journal on the same database. */
  another(): Promise<Pick<Scene, 'instance' | 'journal'>>
  newSession(): Promise<string>
  /** A message as a client sends it; `wanted` overrides. */
  message(sessionId: string, wanted?: Wanted): NewMessage
  /** Admits a message; fails unless it was admitted. */
  begin(sessionId: string, wanted?: Wanted): Promise<ReplyInfo>
  /** Statements that wait for a lock in this database. */
  waiting(): Promise<number>
  /** How often the journal reported pending intents. */
  asked(): number
}

export async function openScene(version: ServerVersion = 18): Promise<Scene> {
  const database = await freshDatabase({ version })
  const { sql, url } = database
  const journals: { close(): Promise<void> }[] = []
  let asked = 0
  const open = async () => {
    const [row] = await sql<{ id: string; epoch: number }[]>`
      insert into instances (id, lease_until) values (${randomUUID()}, clock_timestamp() + interval '1 hour')
      returning id, epoch`
    const instance: Instance = { id: row?.id ?? '', believed: row?.epoch ?? 0, epoch: () => instance.believed }
    const replies = createJournal({
      sql,
      contributions,
      connectWriter: () => connect(url, { max: 1, name: 'writer', timeoutMs: 0 }),
      instance,
      flushTimeoutMs: 60_000,
      onIntents: () => {
        asked += 1
      },
      log: { warn() {} },
    })
    const journal = { ...createCheckpoints({ sql, instance, waitMs: 60_000 }), ...replies }
    journals.push(journal)
    return { instance, journal }
  }
  const { instance, journal } = await open()
  const agentId = await newAgent(sql)
  const message: Scene['message'] = (sessionId, { queue, limits, parts, approval, session, ...wanted } = {}) => ({
    agentId,
    sessionId,
    user: null,
    text: 'Hello',
    model: 'test-model',
    includeUsage: false,
    replyId: randomUUID(),
    idempotency: null,
    onBusy: 'reject',
    isRetry: false,
    configuration: null,
    mayStart: true,
    extras: { queue, limits, parts, approval, session },
    ...wanted,
  })
  return {
    database,
    sql,
    instance,
    journal,
    agentId,
    message,
    another: open,
    asked: () => asked,
    async waiting() {
      const rows = await sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return rows.length
    },
    async newSession() {
      const [row] = await sql<{ id: string }[]>`insert into sessions (agent_id) values (${agentId}) returning id`
      return row?.id ?? ''
    },
    async begin(sessionId, wanted) {
      const admission = await journal.admit(message(sessionId, wanted))
      if (admission.outcome !== 'admitted') throw new Error(`not admitted: ${admission.outcome}`)
      return admission.reply
    },
    async [Symbol.asyncDispose]() {
      for (const one of journals) await one.close()
      await database.drop()
    },
  }
}

/** What a settlement is given beside its reply. */
export const settling = ({ sql, instance }: Scene) => ({
  sql,
  instanceId: instance.id,
  contributions: contributions.settlement,
})

export async function newAgent(sql: Sql): Promise<string> {
  const [provider] = await sql<{ id: string }[]>`
    insert into providers (name, provider_type) values (${randomUUID()}, 'demo') returning id`
  const [agent] = await sql<{ id: string }[]>`
    insert into agents (name, provider_id, model) values ('Agent', ${provider?.id ?? ''}, 'test-model') returning id`
  return agent?.id ?? ''
}

export const textAt = (seq: number, text: string): StoredEvent => ({ seq, part: 0, event: { type: 'text', text } })

export const reasoningAt = (seq: number, text: string): StoredEvent => ({
  seq,
  part: 0,
  event: { type: 'reasoning', text },
})

export const toolCallAt = (seq: number, part: number, id: string): StoredEvent => ({
  seq,
  part,
  event: { type: 'tool_call', id, name: 'look', arguments: '{}', startedAt: '2026-01-01T00:00:00.000Z' },
})

export const toolResultAt = (seq: number, part: number, id: string, content = 'found'): StoredEvent => ({
  seq,
  part,
  event: { type: 'tool_result', id, ok: true, content, durationMs: 5 },
})

const usage = { promptTokens: 3, completionTokens: 4, estimated: false }

export const finished = (wanted: Partial<Settlement> = {}): Settlement => ({
  outcome: { type: 'finished', reason: 'stop', usage },
  events: null,
  endedAt: new Date(),
  requesterLost: false,
  reasoningMs: null,
  figures: null,
  title: null,
  ...wanted,
})

export const failed = (wanted: Partial<Settlement> = {}): Settlement =>
  finished({
    outcome: { type: 'failed', error: { code: 'provider_error', message: 'No.', detail: 'No, never.' }, usage },
    ...wanted,
  })
