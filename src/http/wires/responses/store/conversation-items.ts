/** Stores and takes back items of a conversation (contract section 32). */
import type { GivenMessage, SentMessage } from '../../../../actors/ports/index.ts'
import { givenRows } from '../../../../features/branches/index.ts'
import { admittedParts } from '../../../../features/parts/index.ts'
import type { Sql } from '../../../../persistence/postgres/database.ts'
import { limitColumns, type StorageLimits } from '../../../../persistence/replies/sessions/storage-limits.ts'
import { jsonText } from '../../../../persistence/replies/settling/stored-reply.ts'

export type Given =
  | { outcome: 'given' | 'repeated'; ids: string[] }
  | { outcome: 'not_found' | 'busy' | 'moved' | 'session_full' | 'user_full' | 'key_reused' }

export interface ToGive {
  sessionId: string
  messages: readonly GivenMessage[]
  /** The title of a session without one. Null when none can be derived. */
  title: string | null
  /** The message at the head. Null when there is none. */
  after: string | null
  idempotency: SentMessage['idempotency']
}

/** Stores messages behind the head, all of them or none. */
export async function giveMessages(sql: Sql, given: ToGive, limits: StorageLimits): Promise<Given> {
  const { rows, bytes } = givenRows(given.messages, admittedParts)
  const { sessionId, title, after, idempotency } = given
  const columns = jsonText({
    messages: rows,
    bytes,
    title: title ?? undefined,
    after: after ?? undefined,
    key: idempotency?.key,
    body_hash: idempotency?.bodyHash.toString('hex'),
    ...limitColumns(limits),
  })
  const [row] = await sql<{ outcome: Given['outcome'] }[]>`
    select give_messages(${sessionId}, ${columns}::text::jsonb) as outcome`
  const outcome = row?.outcome ?? 'not_found'
  if (outcome === 'given') return { outcome, ids: rows.map(({ id }) => id) }
  if (outcome !== 'repeated') return { outcome }
  return { outcome, ids: await givenTogether(sql, sessionId, idempotency?.key ?? '') }
}

/** Returns the messages that a key has stored, and that are still there. */
async function givenTogether(sql: Sql, sessionId: string, key: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select m.id from idempotency_keys k
      join messages last on last.id = k.reply_id
      join messages m on m.session_id = k.session_id and m.created_at = last.created_at and m.first_seq is null
     where k.session_id = ${sessionId} and k.key = ${key} order by m.position`
  return rows.map(({ id }) => id)
}

/** A message from which items were taken. `rest` null: nothing is left of it. */
export interface Shortened {
  id: string
  rest: GivenMessage | null
}

/** Takes items back. `changes`: the message at the head first. `call`: the call that goes with its output. */
export async function takeBack(
  sql: Sql,
  sessionId: string,
  { changes, call }: { changes: readonly Shortened[]; call: string | null },
): Promise<'taken' | 'not_found' | 'busy' | 'moved'> {
  const columns = changes.map(({ id, rest }) => {
    if (rest === null) return { id, gone: true }
    return { ...givenRows([rest]).rows[0], id }
  })
  const [row] = await sql<{ outcome: 'taken' | 'not_found' | 'busy' | 'moved' }[]>`
    select take_back(${sessionId}, ${jsonText(columns)}::text::jsonb, ${call}) as outcome`
  return row?.outcome ?? 'not_found'
}
