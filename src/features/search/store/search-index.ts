/** Makes messages searchable in the background: what is new, then what was there before, newest first. */
import { createHash } from 'node:crypto'
import { type Sql, type Tx, withoutIdling } from '../../../persistence/postgres/database.ts'
import { lexemesOf } from '../text/words.ts'

/** Messages, and bytes of text, that are made searchable at once: nothing else waits for long. */
const AT_ONCE = 300
const BYTES_AT_ONCE = 2 ** 20

/** Returns the words of the index by which an agent's messages, or its user's alone, are found. No text holds them. */
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
  const [row] = await sql<Progress[]>`select changed, backlog from search_progress`
  return row?.changed != null && row.backlog === 0
}

/** Returns whether a session has changed since all was made searchable, or something is left of before. Reads two pages. */
export async function isBehind(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ isBehind: boolean }[]>`
    select changed is distinct from coalesce(pg_sequence_last_value('session_changes'::regclass), 0)
           or backlog is distinct from 0 as "isBehind" from search_progress`
  return row?.isBehind ?? false
}

/**
 * The step that makes some messages searchable and returns whether more are waiting. One instance at a time does it; where it ends in the middle,
 * the next goes on, since what is done and how far it has come are one transaction.
 */
export type IndexStep = () => Promise<boolean>

/** Makes the step. It remembers the transactions that may still commit a session with a lower number. */
export function createIndexing(sql: Sql): IndexStep {
  let earlier: { given: number; writers: string[] } | null = null

  /** Returns the number up to which all changes are visible. Null when that is not known yet. */
  async function safeUpTo(tx: Tx): Promise<number | null> {
    const [now] = await tx<{ given: string; writers: string[] }[]>`select given::text, writers from session_horizon()`
    const { given, writers } = { given: Number(now?.given ?? 0), writers: now?.writers ?? [] }
    if (writers.length === 0) {
      earlier = null
      return given
    }
    const isOver = earlier !== null && !earlier.writers.some((one) => writers.includes(one))
    const safe = isOver ? (earlier?.given ?? null) : null
    if (isOver || earlier === null) earlier = { given, writers }
    return safe
  }

  async function newOnes(tx: Tx, changed: number): Promise<boolean> {
    const safe = await safeUpTo(tx)
    const { messages, isAll } = await unindexed(tx, { after: changed })
    await addWords(tx, messages)
    if (isAll && safe !== null && safe > changed) await tx`update search_progress set changed = ${safe}`
    return !isAll
  }

  return () =>
    sql.begin(async (tx) => {
      const [lock] = await tx<{ held: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtextextended('search_progress', 0)) as held`
      if (!lock?.held) return false
      const [row] = await tx<{ changed: string | null; backlog: string | null; given: string; last: string }[]>`
        select changed::text, backlog::text, coalesce(pg_sequence_last_value('session_changes'::regclass), 0)::text as given,
               coalesce((select max(num) from sessions), 0)::text as last from search_progress`
      if (row === undefined) return false
      // A restored database may have fallen behind what it had done.
      if (row.changed === null || row.backlog === null || Number(row.changed) > Number(row.given)) {
        const safe = await safeUpTo(tx)
        if (safe !== null) await tx`update search_progress set changed = ${safe}, backlog = ${row.last}::bigint`
        return safe !== null
      }
      if (await newOnes(tx, Number(row.changed))) return true
      return await oldOnes(tx, Number(row.backlog))
    })
}

async function oldOnes(tx: Tx, backlog: number): Promise<boolean> {
  if (backlog === 0) return false
  const [range] = await tx<{ low: string | null }[]>`
    select min(num)::text as low from (select num from sessions where num <= ${backlog} order by num desc limit 50) s`
  const low = Number(range?.low ?? 0)
  const { messages, isAll } = await unindexed(tx, { from: low, to: backlog })
  await addWords(tx, messages)
  if (isAll) await tx`update search_progress set backlog = ${low === 0 ? 0 : low - 1}`
  return true
}

/** Reads messages without words, of sessions that changed after a number or of a range of sessions, newest first. `isAll`: there are no others. */
async function unindexed(
  tx: Tx,
  of: { after: number } | { from: number; to: number },
): Promise<{ messages: Unindexed[]; isAll: boolean }> {
  const which = 'after' in of ? tx`s.change > ${of.after}` : tx`s.num between ${of.from} and ${of.to}`
  const messages = await tx<(Unindexed & { found: number })[]>`
    with found as materialized (
      select m.id, m.session_id, s.agent_id, s.end_user, m.created_at, octet_length(m.content) as bytes
        from sessions s join messages m on m.session_id = s.id
       where ${which} and m.status <> 'streaming' and not exists (select 1 from message_words w where w.message_id = m.id)
       order by s.num desc, m.position desc limit ${AT_ONCE}
    ), few as (
      select *, sum(bytes) over (order by created_at desc, id) - bytes as before, count(*) over ()::integer as found from found
    )
    select f.id, f.session_id as "sessionId", f.agent_id as "agentId", f.end_user as "user", m.content, f.created_at::text as at, f.found
      from few f join messages m on m.id = f.id where f.before < ${BYTES_AT_ONCE}`
  const [{ found } = { found: 0 }] = messages
  return { messages, isAll: found < AT_ONCE && messages.length === found }
}

async function addWords(tx: Tx, messages: readonly Unindexed[]): Promise<void> {
  if (messages.length === 0) return
  const rows: object[] = []
  await withoutIdling(tx, async () => {
    for (const { id, sessionId, agentId, user, content, at } of messages) {
      const { lexemes, whole } = await lexemesOf(content)
      rows.push({ id, sessionId, at, whole, words: [...scopeWords(agentId, user), ...lexemes] })
    }
  })
  await tx`
    insert into message_words (message_id, session_id, at, whole, words)
    select r.id, r."sessionId", r.at, r.whole, array_to_tsvector(array(select jsonb_array_elements_text(r.words)))
      from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
           as r(id uuid, "sessionId" uuid, at timestamptz, whole boolean, words jsonb)
     where exists (select 1 from messages m where m.id = r.id)
    on conflict do nothing`
}
