/** Summaries of conversations (contract section 19), and the sessions that are held while one is made on its own. */
import type { Checkpoint, Journal, ReplyInfo } from '../../../actors/ports/index.ts'
import type { RestState, Usage } from '../../../actors/reply/reply-event.ts'
import { retry } from '../../../async/retry.ts'
import { askAgain, changedNothing, isUnavailable, type Sql } from '../../../persistence/postgres/database.ts'
import { isoTime } from '../../../persistence/postgres/page.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import type { Owner } from '../../../persistence/replies/admission/admission-answer.ts'

export interface CheckpointOptions {
  sql: Sql
  instance: { id: string; epoch(): number }
  /** The longest wait of a hold for a database that is away. */
  waitMs: number
}

const backOff = { firstMs: 20, longestMs: 500, mayPass: isUnavailable }

export interface SessionToHold {
  agentId: string
  sessionId: string
  /** UUID that the session is held by. */
  hold: string
}

export interface HeldSession {
  rest: RestState
  /** Position of its path's last message. Negative: it has none. */
  historyEnd: number
}

/** `position`: of the last message that it covers. */
export interface NewCheckpoint extends Checkpoint {
  model: string
  usage: Usage
}

/** The summaries of sessions. */
export interface Summaries {
  /**
   * Stores a summary of a session's path, however long the database is away. `fenced`: or the session is gone.
   * Idempotent.
   */
  keepCheckpoint(
    place: Pick<ReplyInfo, 'sessionId' | 'epoch'> & { hold?: string },
    checkpoint: NewCheckpoint,
  ): Promise<'stored' | 'fenced'>
}

/** The sessions that are held while a summary is made on its own. */
export interface Holds {
  /** Holds a session as a reply would, for a summary that no reply waits for. Null when it cannot be held now. */
  hold(session: SessionToHold, epoch: number): Promise<HeldSession | null>
  /**
   * Releases a hold, however long the database is away. Idempotent; a hold ends with its epoch, too. Resolves to the id
   * of the reply to the queued message that begins with it. Null when none does.
   */
  release(place: Pick<ReplyInfo, 'sessionId' | 'epoch'>, hold: string): Promise<string | null>
  /**
   * Releases what this instance holds without `isRunning` there: a call to hold that had no answer was carried out late.
   * Resolves to the replies that begin with it, as `release` does.
   */
  releaseLate(isRunning: (hold: string) => boolean): Promise<string[]>
}

/** Creates the store of summaries. Once it is closed it tries nothing again. */
export function createCheckpoints({
  sql,
  instance,
  waitMs,
}: CheckpointOptions): Summaries & Holds & Pick<Journal, 'isHeld'> & { close(): void } {
  const { id } = instance
  let closed = false
  /** Calls to hold that had no answer, with their sessions: any may be carried out yet, as long as their epoch is there. */
  const unanswered = new Map<string, { sessionId: string; epoch: number }>()
  const isOwn = (epoch: number) => epoch === instance.epoch() && !closed
  return {
    keepCheckpoint(place, checkpoint) {
      const { epoch } = place
      const tryOnce = async () =>
        isOwn(epoch) ? await storeCheckpoint(sql, { id, epoch }, place, checkpoint) : ('fenced' as const)
      return retry(tryOnce, backOff)
    },
    hold(session, epoch) {
      const note = (error: unknown) => {
        if (!changedNothing(error)) unanswered.set(session.hold, { sessionId: session.sessionId, epoch })
        throw error
      }
      return askAgain(() => holdSession(sql, { id, epoch }, session).catch(note), waitMs)
    },
    release({ sessionId, epoch }, hold) {
      // What this instance held under an epoch that it has given up holds nothing.
      const tryOnce = async () => (isOwn(epoch) ? await releaseSession(sql, { id, epoch }, sessionId, hold) : null)
      return retry(tryOnce, backOff)
    },
    async releaseLate(isRunning) {
      const next: string[] = []
      for (const [hold, { sessionId, epoch }] of unanswered) {
        if (isRunning(hold)) continue
        if (!isOwn(epoch)) unanswered.delete(hold)
        else if (await isHeld(sql, sessionId, hold)) {
          const begun = await releaseSession(sql, { id, epoch }, sessionId, hold)
          if (begun !== null) next.push(begun)
        }
      }
      return next
    },
    isHeld: (sessionId, hold) => isHeld(sql, sessionId, hold),
    close() {
      closed = true
    },
  }
}

/**
 * Stores a checkpoint. Idempotent. `fenced`: this instance was declared lost, or the session is gone, or is no longer
 * held by `hold`.
 */
async function storeCheckpoint(
  sql: Sql,
  owner: Owner,
  { sessionId, hold = null }: { sessionId: string; hold?: string | null },
  { id, position, summary, model, usage }: NewCheckpoint,
): Promise<'stored' | 'fenced'> {
  const { promptTokens, completionTokens, estimated, ...counted } = usage
  const { count } = await sql`
    with owner as materialized (
      select 1 from instances i where i.id = ${owner.id} and i.epoch = ${owner.epoch} for key share
    ), held as materialized (
      select s.id from sessions s
       where s.id = ${sessionId} and (${hold}::text is null or s.compaction ->> 'id' = ${hold}) and exists (select 1 from owner)
         for no key update
    ), stored as (
    insert into checkpoints (id, session_id, position, summary, model, prompt_tokens, completion_tokens, usage_estimated, counted)
    select ${id}, h.id, ${position}, ${summary}, ${model}, ${promptTokens}, ${completionTokens}, ${estimated},
           ${JSON.stringify(counted)}::text::jsonb
      from held h
    on conflict (id) do update set summary = excluded.summary
    returning session_id, xmax = 0 as is_new
    )
    update sessions s
       set bytes = s.bytes + case when t.is_new then octet_length(${summary}::text) else 0 end
      from stored t where s.id = t.session_id`
  return count > 0 ? 'stored' : 'fenced'
}

/**
 * Holds a session as a reply would. Idempotent. Null if a reply or another compaction runs, or calls are pending. The
 * session's own row decides: an admission changes it under the same lock.
 */
async function holdSession(
  sql: Sql,
  owner: Owner,
  { agentId, sessionId, hold }: SessionToHold,
): Promise<HeldSession | null> {
  const mark = JSON.stringify({ id: hold, instance_id: owner.id, epoch: owner.epoch })
  const [held] = await sql<HeldSession[]>`
    with owner as materialized (
      select 1 from instances i where i.id = ${owner.id} and i.epoch = ${owner.epoch} for key share
    )
    update sessions s set compaction = ${mark}::text::jsonb
     where s.id = ${sessionId} and s.agent_id = ${agentId} and s.status not in ('streaming', 'waiting')
       and (s.compaction is null or s.compaction ->> 'id' = ${hold} or not is_compacting(s.compaction)) and exists (select 1 from owner)
    returning s.status as rest,
              coalesce(s.head, (select max(m.position) from messages m where m.session_id = s.id), -1) as "historyEnd"`
  return held ?? null
}

/**
 * Releases a session. Idempotent. Returns the id of the reply to the queued message that begins with it. Null if none
 * does.
 */
async function releaseSession(sql: Sql, owner: Owner, sessionId: string, hold: string): Promise<string | null> {
  const [row] = await sql<{ next: string | null }[]>`
    select release_session(${owner.id}, ${owner.epoch}, ${sessionId}, ${hold}) as next`
  return row?.next ?? null
}

async function isHeld(sql: Sql, sessionId: string, hold: string): Promise<boolean> {
  const rows = await sql`
    select 1 from sessions where id = ${sessionId} and compaction ->> 'id' = ${hold} and is_compacting(compaction)`
  return rows.length > 0
}

export interface StoredCheckpoint {
  id: string
  throughMessageId: string
  summary: string
  model: string
  usage: Usage
  createdAt: string
}

interface Row extends Omit<StoredCheckpoint, 'usage'> {
  promptTokens: number
  completionTokens: number
  estimated: boolean
  cached: number | null
  written: number | null
  reasoned: number | null
}

/** Returns the checkpoints of a session, oldest first. */
export async function listCheckpoints(
  sql: Sql,
  sessionId: string,
  id: string | null = null,
): Promise<StoredCheckpoint[]> {
  if (!isUuid(sessionId)) return []
  const rows = await sql<Row[]>`
    select c.id, m.id as "throughMessageId", c.summary, c.model, c.prompt_tokens as "promptTokens",
           c.completion_tokens as "completionTokens", c.usage_estimated as estimated,
           (c.counted ->> 'cachedTokens')::float8 as cached, (c.counted ->> 'cacheWriteTokens')::float8 as written,
           (c.counted ->> 'reasoningTokens')::float8 as reasoned, ${isoTime(sql, 'c.created_at')} as "createdAt"
      from checkpoints c join messages m on m.session_id = c.session_id and m.position = c.position
     where c.session_id = ${sessionId} and (${id}::uuid is null or c.id = ${id}::uuid)
     order by c.created_at, c.id`
  return rows.map(({ promptTokens, completionTokens, estimated, cached, written, reasoned, ...checkpoint }) => ({
    ...checkpoint,
    usage: {
      promptTokens,
      completionTokens,
      estimated,
      ...(cached !== null && { cachedTokens: cached }),
      ...(written !== null && { cacheWriteTokens: written }),
      ...(reasoned !== null && { reasoningTokens: reasoned }),
    },
  }))
}

/** Returns the metadata of a session that counts in prompts and tools: a client secret has set none of it. */
export async function countedMetadata(sql: Sql, id: string): Promise<Record<string, string>> {
  const [row] = await sql<{ metadata: Record<string, string> }[]>`
    select metadata - uncounted as metadata from sessions where id = ${id}`
  return row?.metadata ?? {}
}
