/** Requests to models, rebuilt from the stored texts (contract section 16). */
import type { LeftReason } from '../../../actors/ports/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isoTime } from '../../../persistence/postgres/page.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { framesOf, type Shown, type ShownRow, shownOf } from '../../../persistence/replies/settling/stored-reply.ts'
import { decodeRequest, type MessageName, type Reference, referencesIn, type Stored } from './request-references.ts'

export interface ModelRequestShown {
  turn: number
  at: string
  providerId: string
  model: string
  body: Record<string, unknown>
  /** The part of the history that was not sent. */
  left: { messages: number; tokens: number; reason: LeftReason | null }
}

interface RequestRow extends Omit<ModelRequestShown, 'body' | 'left'> {
  body: string
  historyFrom: number | null
  reason: LeftReason | null
}

/** Returns the requests, oldest first. Null if there is no such reply. */
export async function readRequests(sql: Sql, messageId: string): Promise<ModelRequestShown[] | null> {
  if (!isUuid(messageId)) return null
  const [reply] = await sql<{ sessionId: string; position: number; asked: number }[]>`
    select session_id as "sessionId", position, coalesce(parent, position - 1) as asked from messages where id = ${messageId} and first_seq is not null`
  if (reply === undefined) return null
  const rows = await sql<RequestRow[]>`
    with sent as (
      select turn, at, provider_id::text, model, body, history_from, left_reason, 0 as run
        from model_requests where session_id = ${reply.sessionId} and message_id = ${messageId}
      union all
      select (q.sent ->> 0)::smallint, to_timestamp((q.sent ->> 1)::float8 / 1000), q.sent ->> 2, q.sent ->> 3,
             q.sent ->> 4, (q.sent ->> 5)::integer, q.sent ->> 6, r.seq
        from step_runs r cross join lateral jsonb_array_elements(r.requests) as q (sent)
       where r.session_id = ${reply.sessionId} and r.message_id = ${messageId}
    )
    select distinct on (turn) turn, ${isoTime(sql, 'at')} as at, provider_id as "providerId", model, body,
           history_from as "historyFrom", left_reason as reason
      from sent order by turn, run desc`
  if (rows.length === 0) return []
  const { asked } = reply
  const references = rows.flatMap(({ body }) => referencesIn(body))
  const positionOf = (name: MessageName) => (name === 'own' ? reply.position : name === 'asked' ? asked : name)
  const messages = await readMessages(sql, reply.sessionId, messagesIn(references).map(positionOf))
  const texts = await readTexts(sql, references)
  const summaries = await readSummaries(sql, reply.sessionId, references)
  const left = await leftOut(sql, reply.sessionId, asked, [...new Set(rows.map((row) => row.historyFrom ?? asked))])
  const words = new Map<number, readonly string[]>()
  const stored: Stored = {
    content: (name) => messages.get(positionOf(name))?.content,
    call: (name, n) => messages.get(positionOf(name))?.calls[n],
    result: (name, n) => messages.get(positionOf(name))?.results[n],
    text: (hash) => texts.get(hash),
    summary: (id) => summaries.get(id),
    word: (turn, n) => words.get(turn)?.[n],
  }
  return rows.map(({ historyFrom, reason, body, ...row }) => {
    const decoded = decodeRequest(body, stored)
    words.set(row.turn, decoded.words)
    const { messages: count = 0, tokens = 0 } = left.get(historyFrom ?? asked) ?? {}
    // Requests of older versions name no reason: their budget was the only one.
    const why = count === 0 ? null : (reason ?? 'budget')
    return { ...row, body: decoded.body, left: { messages: count, tokens, reason: why } }
  })
}

const messagesIn = (references: readonly Reference[]): MessageName[] =>
  references.flatMap((reference) => {
    const [kind, name] = reference
    return kind === 'm' || kind === 'a' || kind === 'o' || kind === 'r' ? [name] : []
  })

interface SentTexts {
  content: string
  calls: string[]
  results: string[]
}

async function readMessages(
  sql: Sql,
  sessionId: string,
  positions: readonly number[],
): Promise<Map<number, SentTexts>> {
  const wanted = [...new Set(positions)]
  const rows = await sql<(ShownRow & { position: number })[]>`
    select m.position, m.status, m.first_seq, m.content, m.tool_events, m.reasoning, m.frame_ends, ${framesOf(sql)}
      from messages m where m.session_id = ${sessionId} and m.position = any(${wanted}::integer[])`
  return new Map(rows.map((row) => [row.position, sentTexts(shownOf(row))]))
}

function sentTexts({ content, others }: Shown): SentTexts {
  const sent: SentTexts = { content, calls: [], results: [] }
  for (const { event } of others) {
    switch (event.type) {
      case 'tool_call':
        sent.calls.push(event.arguments)
        break
      case 'tool_result':
        sent.results.push(event.content)
        break
      case 'text':
      case 'reasoning':
      case 'tool_begun':
      case 'tool_asked':
      case 'tool_unknown':
      case 'model':
        break // no request refers to them
      default:
        event satisfies never
    }
  }
  return sent
}

async function readTexts(sql: Sql, references: readonly Reference[]): Promise<Map<string, string>> {
  const hashes = references.flatMap((reference) => {
    const [kind, hash] = reference
    return kind === 't' || kind === 'j' ? [hash] : []
  })
  if (hashes.length === 0) return new Map()
  const rows = await sql<{ hash: string; content: string }[]>`
    select encode(hash, 'hex') as hash, content from request_texts
     where hash = any(array(select decode(h, 'hex') from unnest(${[...new Set(hashes)]}::text[]) as h))`
  return new Map(rows.map(({ hash, content }) => [hash, content]))
}

async function readSummaries(
  sql: Sql,
  sessionId: string,
  references: readonly Reference[],
): Promise<Map<string, string>> {
  const ids = references.flatMap((reference) => (reference[0] === 's' ? [reference[1]] : []))
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: string; summary: string }[]>`
    select id, summary from checkpoints where session_id = ${sessionId} and id = any(${[...new Set(ids)]}::text[]::uuid[])`
  return new Map(rows.map(({ id, summary }) => [id, summary]))
}

/**
 * Returns how many messages on the path to `asked` precede each of `from`, and about how many bytes are stored of them.
 */
async function leftOut(
  sql: Sql,
  sessionId: string,
  asked: number,
  from: readonly number[],
): Promise<Map<number, { messages: number; tokens: number }>> {
  const rows = await sql<{ from: number; messages: number; tokens: number }[]>`
    select f.position as from, count(m.position)::integer as messages,
           coalesce(sum(ceil((octet_length(m.content) + coalesce(octet_length(m.tool_events::text), 0)) / 4.0)), 0)::integer as tokens
      from unnest(${[...from]}::integer[]) as f (position)
     cross join path_lines(${sessionId}, ${asked}) l
      join messages m on m.session_id = ${sessionId} and m.position between l.first_at and l.last_at
       and m.position < least(${asked}, f.position)
     group by f.position`
  return new Map(rows.map((row) => [row.from, row]))
}
