/** Makes messages searchable in the background: what is new, then what was there before, newest first. */
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { pause } from '../../../async/pause.ts'
import { type Sql, type Tx, withoutIdling } from '../../../persistence/postgres/database.ts'
import type { Fragment } from '../../../persistence/postgres/page.ts'
import { signatureOf } from '../text/signature.ts'
import { isFull, makeSlices } from './slices.ts'

/** Messages, and bytes of text, that are made searchable at once: nothing else waits for long. */
const AT_ONCE = 1000
const BYTES_AT_ONCE = 2 ** 20
/** The time in which transactions end that were writing sessions, most often. */
const WRITE_MS = 10

/** Returns the words of signatures by which an agent's messages, or its user's alone, are found. No text holds them. */
export const scopeWords = (agentId: string, user: string | null): string[] => [
  agentWord(agentId),
  ...(user === null ? [] : [userWord(agentId, user)]),
]
const agentWord = (agentId: string): string => `=a${agentId}`
const userWord = (agentId: string, user: string): string =>
  `=u${createHash('sha256').update(`${agentId} ${user}`).digest('hex').slice(0, 32)}`

interface Unindexed {
  id: string
  sessionId: string
  agentId: string
  user: string | null
  content: string
  at: string
}

interface Progress {
  changed: number | null
  backlog: number | null
}

/** Returns whether all that was stored before is searchable. */
export async function isIndexed(sql: Sql): Promise<boolean> {
  const [row] = await sql<Progress[]>`select changed, backlog from signature_progress`
  return row?.changed != null && row.backlog === 0
}

/**
 * Returns whether a session has changed since all was made searchable, or something is left of before. Reads two pages.
 */
export async function isBehind(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ isBehind: boolean }[]>`
    select changed is distinct from coalesce(pg_sequence_last_value('session_changes'::regclass), 0)
           or backlog is distinct from 0 as "isBehind" from signature_progress`
  return row?.isBehind ?? false
}

/**
 * The step that makes some messages searchable and returns whether more are waiting. One instance at a time does it;
 * where it ends in the middle, the next goes on, since what is done and how far it has come are one transaction.
 */
export type IndexStep = () => Promise<boolean>

interface Horizon {
  /** The highest number of a change. */
  last: number
  /** The transactions that may still commit a lower one. */
  writers: string[]
}

/**
 * Has the statements of this transaction enter tables by their keys, as few new messages are found: choosing that anew
 * took longer than reading.
 */
const enteredByKeys = (tx: Tx): Fragment =>
  tx`set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
     set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
     set_config('max_parallel_workers_per_gather', '0', true)`

/**
 * Makes the step. It remembers the transactions that may still commit a session with a lower number. `rest`: waits while such
 * transactions end.
 */
export function createIndexing(sql: Sql, rest: () => Promise<unknown> = () => pause(WRITE_MS)): IndexStep {
  let earlier: Horizon | null = null

  /** Returns the number up to which all changes are visible. Null when that is not known yet. */
  function safeUpTo(now: Horizon): number | null {
    if (now.writers.length === 0) {
      earlier = null
      return now.last
    }
    const isOver = earlier !== null && !earlier.writers.some((one) => now.writers.includes(one))
    const safe = isOver ? (earlier?.last ?? null) : null
    if (isOver || earlier === null) earlier = now
    return safe
  }

  return () =>
    sql.begin(async (tx) => {
      const [row] = await tx<(Progress & Horizon & { held: boolean; isFull: boolean })[]>`
        select pg_try_advisory_xact_lock(hashtextextended('signature_progress', 0)) as held,
               p.changed, p.backlog, h.given as last, h.writers, ${isFull(tx)} as "isFull"
          from signature_progress p, session_horizon() h, (select ${enteredByKeys(tx)}) s`
      if (!row?.held) return false
      if (row.isFull) {
        await makeSlices(tx)
        return true
      }
      let safe = safeUpTo(row)
      if (safe !== row.last) {
        // Else the sessions of this step would be read once more by the next one.
        await rest()
        const [later] = await tx<Horizon[]>`select given as last, writers from session_horizon()`
        if (later !== undefined) safe = safeUpTo(later) ?? safe
      }
      // A restored database may have fallen behind what it had done.
      if (row.changed === null || row.backlog === null || row.changed > row.last) {
        if (safe !== null)
          await tx`
            update signature_progress set changed = ${safe}, backlog = (select coalesce(max(num), 0) from sessions)`
        return safe !== null
      }
      const { messages, isAll } = await unindexed(tx, { after: row.changed })
      await addSignatures(tx, messages, isAll && safe !== null && safe > row.changed ? { changed: safe } : {})
      return !isAll || (await oldOnes(tx, row.backlog))
    })
}

async function oldOnes(tx: Tx, backlog: number): Promise<boolean> {
  if (backlog === 0) return false
  const [range] = await tx<{ low: number | null }[]>`
    select min(num) as low from (select num from sessions where num <= ${backlog} order by num desc limit 50) s`
  const low = range?.low ?? 0
  const { messages, isAll } = await unindexed(tx, { from: low, to: backlog })
  await addSignatures(tx, messages, isAll ? { backlog: low === 0 ? 0 : low - 1 } : {})
  return true
}

/**
 * Reads messages without signatures, of sessions that changed after a number or of a range of sessions, newest first.
 * `isAll`: there are no others.
 */
async function unindexed(
  tx: Tx,
  of: { after: number } | { from: number; to: number },
): Promise<{ messages: Unindexed[]; isAll: boolean }> {
  const which = 'after' in of ? tx`s.change > ${of.after}` : tx`s.num between ${of.from} and ${of.to}`
  const order = 'after' in of ? tx`s.change` : tx`s.num`
  const messages = await tx<(Unindexed & { found: number })[]>`
    with found as materialized (
      select m.id, m.session_id, s.agent_id, s.end_user, m.content, m.created_at
        from sessions s join messages m on m.session_id = s.id
       where ${which} and m.status <> 'streaming' and not exists (
         select 1 from message_signatures w where w.session_id = m.session_id and w.message_id = m.id)
       order by ${order} desc, m.position desc limit ${AT_ONCE}
    ), few as (
      select *, sum(octet_length(content)) over newest - octet_length(content) as before, count(*) over ()::integer as found
        from found window newest as (order by created_at desc, id)
    )
    select id, session_id as "sessionId", agent_id as "agentId", end_user as "user", content, created_at::text as at, found
      from few where before < ${BYTES_AT_ONCE} order by created_at, id`
  const [{ found } = { found: 0 }] = messages
  return { messages, isAll: found < AT_ONCE && messages.length === found }
}

/** Text whose signatures are made at once, in UTF-16 code units: the transaction does not idle for long. */
const SHORT = 2 ** 16
/** Signatures that are made before others have their turn: some milliseconds at most. */
const AT_A_TIME = 32

/** Stores the signatures of messages, and how far this makes it. */
async function addSignatures(
  tx: Tx,
  messages: readonly Unindexed[],
  done: { changed?: number; backlog?: number },
): Promise<void> {
  if (messages.length === 0 && done.changed === undefined && done.backlog === undefined) return
  const sign = async () => {
    const signatures: Buffer[] = []
    for (const { content, agentId, user } of messages) {
      signatures.push(await signatureOf(content, scopeWords(agentId, user)))
      if (signatures.length % AT_A_TIME === 0) await setImmediate()
    }
    return signatures
  }
  const length = messages.reduce((sum, { content }) => sum + content.length, 0)
  const signatures = length < SHORT ? await sign() : await withoutIdling(tx, sign)
  const bytes = signatures.reduce((sum, { length }) => sum + length, 0)
  await tx`
    with added as (
      insert into message_signatures (message_id, session_id, num, at, signature)
      select r.id, r.session_id, p.given + r.n, r.at, r.signature
        from signature_progress p, unnest(${messages.map(({ id }) => id)}::uuid[],
               ${messages.map(({ sessionId }) => sessionId)}::uuid[], ${messages.map(({ at }) => at)}::text[]::timestamptz[],
               ${signatures.map((one) => `\\x${one.toString('hex')}`)}::text[]::bytea[]) with ordinality as r(id, session_id, at, signature, n)
    )
    update signature_progress
       set given = given + ${messages.length}, open_bytes = open_bytes + ${bytes},
           changed = greatest(changed, ${done.changed ?? null}::bigint),
           backlog = least(backlog, ${done.backlog ?? null}::bigint)`
}
