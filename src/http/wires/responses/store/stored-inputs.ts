/** Messages as the Responses API lists them: the inputs of requests, and whole replies (contract section 24). */
import type { MessageCuts, MessagePart } from '../../../../actors/ports/index.ts'
import type { CallDecision, Outcome, StoredEvent } from '../../../../actors/reply/reply-event.ts'
import { batchesOf, partsOf, wholePath } from '../../../../features/sessions/index.ts'
import type { AnySql, Sql } from '../../../../persistence/postgres/database.ts'
import type { Fragment } from '../../../../persistence/postgres/page.ts'
import { type PartRow, partOf, partRow, readParts } from '../../../../persistence/replies/reading/part-rows.ts'
import { type OutcomeRow, outcomeOf } from '../../../../persistence/replies/settling/stored-outcome.ts'
import { type EventRow, eventsOf, framesOf } from '../../../../persistence/replies/settling/stored-reply.ts'
import { decodeCuts } from '../../../../persistence/replies/stored/stored-columns.ts'
import { encoderOf } from './stored-responses.ts'

/** The decision about a pending call. */
export interface StoredDecision {
  callId: string
  kind: string
  /** The decision. The column may be null, but calls without a decision are not read. */
  decision: CallDecision | null
  output: string | null
  reason: string | null
  /** The message that holds the call, and the parts of its output. */
  heldBy: string
  parts: readonly MessagePart[]
}

type DecisionRow = Omit<StoredDecision, 'parts'> & { parts: PartRow[] | null }

const decisionOf = (sql: Sql, { parts, ...row }: DecisionRow): StoredDecision => ({
  ...row,
  parts: (parts ?? []).map((part) => partOf(sql, part)),
})

/** Returns a subquery: the parts of the output of `waiting_calls w`. Null without any. */
const partsOfOutput = (sql: AnySql): Fragment => sql`(
  select jsonb_agg(${partRow(sql)} order by p.n)
    from message_parts p where p.message_id = w.reply_id and p.call_id = w.call_id)`

export interface StoredQuestion {
  id: string
  content: string
  parts: MessagePart[]
}

/** Returns a user message, also one in a queue. It is null when there is no such message. */
export async function questionOf(sql: Sql, messageId: string): Promise<StoredQuestion | null> {
  const [row] = await sql<{ id: string; content: string }[]>`
    select id, content from messages where id = ${messageId}
     union all
    select id, content from queued_messages where id = ${messageId}`
  return row ? { ...row, parts: await readParts(sql, messageId) } : null
}

export type StoredTurn =
  | (StoredQuestion & { role: 'user'; position: number; cuts: MessageCuts | null })
  | {
      role: 'assistant'
      id: string
      position: number
      model: string | null
      createdAt: Date
      /** The version of the encoder that names its items. */
      encoder: number
      /** The reply that it continues, after decisions about its calls. Null when it answers a message. */
      continues: string | null
      decisions: StoredDecision[]
      /** The outputs that a message behind it brought for its calls. */
      answers: StoredDecision[]
      /** The parts of the outputs of its calls. */
      parts: readonly MessagePart[]
      events: StoredEvent[]
      /** True for a message that was given with the session, not generated in it. */
      isGiven: boolean
      /** The outcome of the reply. Null while it runs, and for a given message. */
      outcome: Outcome | null
    }

type TurnRow = EventRow &
  OutcomeRow & {
    id: string
    role: 'user' | 'assistant'
    position: number
    model: string | null
    created_at: Date
    encoder: number
    continues: string | null
    parts: PartRow[] | null
    cuts: unknown
    decisions: DecisionRow[] | null
    answers: DecisionRow[] | null
  }

const decisionRow = (sql: AnySql): Fragment => sql`
  jsonb_build_object('callId', w.call_id, 'kind', w.kind, 'decision', w.decision, 'output', w.output, 'reason', w.reason,
                     'heldBy', w.reply_id, 'parts', ${partsOfOutput(sql)})`

/** Returns a subquery: the outputs that a message behind `messages m` brought for its calls. Null without any. */
const answerRows = (sql: AnySql): Fragment => sql`
  case when m.finish_reason = 'tool_calls' then (
    select jsonb_agg(${decisionRow(sql)} order by w.place) from waiting_calls w
     where w.reply_id = m.id and w.decided_in is null and w.decision = 'respond' and w.kind = 'caller') end`

/** Returns a subquery: the decisions that began `messages m`, in the order of the calls. Null without any. */
const decisionRows = (sql: AnySql): Fragment => sql`
  case when m.continues is not null then (
    select jsonb_agg(${decisionRow(sql)} order by w.place) from waiting_calls w
     where w.decided_in = m.id and w.decision is not null and w.kind <> 'child'
       and w.reply_id in (m.continues, (select b.continues from messages b where b.id = m.continues))) end`

/** Returns the decisions that began a reply (`before`), or the outputs that a message behind it brought for its calls. */
export async function decisionsOf(sql: Sql, replyId: string, which: 'before' | 'behind'): Promise<StoredDecision[]> {
  const [row] = await sql<{ decisions: DecisionRow[] | null }[]>`
    select ${which === 'before' ? decisionRows(sql) : answerRows(sql)} as decisions from messages m where m.id = ${replyId}`
  return (row?.decisions ?? []).map((one) => decisionOf(sql, one))
}

/** Returns a subquery: where a user message was joined, which its reply has stored. Null when it was not. */
const cutsOf = (sql: AnySql): Fragment => sql`
  case when m.role = 'user' then (
    select r.facts #> '{response,cuts}' from messages r
     where r.session_id = m.session_id and r.position = m.position + 1 and r.role = 'assistant') end`

/** Returns the messages of a session that fulfil a condition on `messages m`, in their order. */
async function turnsWhere(sql: Sql, sessionId: string, condition: Fragment): Promise<StoredTurn[]> {
  const rows = await sql<TurnRow[]>`
    select m.*, ${encoderOf(sql)} as encoder, ${framesOf(sql)}, ${partsOf(sql)} as parts, ${decisionRows(sql)} as decisions,
           ${answerRows(sql)} as answers, ${cutsOf(sql)} as cuts
      from messages m where m.session_id = ${sessionId} and ${condition} order by m.position`
  return rows.map((row) => turnOf(sql, row))
}

/** Returns these messages of a session, on whatever branch they are, in their order. */
export const readTurnsOf = (sql: Sql, sessionId: string, ids: readonly string[]) =>
  turnsWhere(sql, sessionId, sql`m.id = any(${[...ids]}::uuid[])`)

/** Returns the messages of a session whose ids are in this range. */
export const readTurnsIn = (sql: Sql, sessionId: string, { first, last }: { first: string; last: string }) =>
  turnsWhere(sql, sessionId, sql`m.id between ${first} and ${last}`)

/** Returns the first messages of a session. */
export const readFirstTurns = async (sql: Sql, sessionId: string, count: number) =>
  count === 0 ? [] : await turnsWhere(sql, sessionId, sql`m.position < ${count}`)

/** Yields the messages on a session's path, read only as far as they are consumed. */
export async function* readTurns(sql: Sql, sessionId: string, order: 'asc' | 'desc'): AsyncGenerator<StoredTurn> {
  const batches = await batchesOf(sql, sessionId, wholePath, Number.POSITIVE_INFINITY)
  for (const batch of order === 'asc' ? batches : batches.toReversed()) {
    const turns = await turnsWhere(sql, sessionId, sql`m.position = any(${[...batch]}::integer[])`)
    yield* order === 'asc' ? turns : turns.toReversed()
  }
}

function turnOf(sql: Sql, row: TurnRow): StoredTurn {
  const { id, role, position, content, model, continues } = row
  const parts = row.parts?.map((part) => partOf(sql, part)) ?? []
  if (role === 'user') return { id, role, position, content, parts, cuts: decodeCuts(row.cuts) }
  // A copied reply was not generated in its session either, but has its model and reads as a reply. A copy of a waiting reply
  // by an earlier version does not say which of its calls were shown: all of them are, as they were then.
  const isOldCopy = row.finish_reason === 'tool_calls' && row.shown_calls === null
  const isGiven = row.first_seq === null && (model === null || isOldCopy)
  const hasFrames = row.status === 'streaming' || row.frame_ends !== null
  const whole: StoredEvent[] = content === '' ? [] : [{ seq: 1, part: 0, event: { type: 'text', text: content } }]
  return {
    id,
    role,
    position,
    model,
    createdAt: row.created_at,
    encoder: row.encoder,
    continues,
    decisions: row.decisions?.map((one) => decisionOf(sql, one)) ?? [],
    answers: row.answers?.map((one) => decisionOf(sql, one)) ?? [],
    parts,
    events: hasFrames ? eventsOf(row) : whole,
    isGiven,
    outcome: isGiven ? null : outcomeOf(row),
  }
}
