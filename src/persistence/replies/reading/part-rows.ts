/** The stored form of a message's parts, as all that read messages take them. */
import type { MessagePart, PartText, PartType } from '../../../actors/ports/index.ts'
import { type AnySql, askAgain, type Sql } from '../../postgres/database.ts'
import type { Fragment } from '../../postgres/page.ts'

/** A row of message_parts, as JSON. */
export interface PartRow {
  type: PartType
  sha256: string
  media_type: string
  filename: string | null
  size: number
  detail: MessagePart['detail']
  source_url: string | null
  text_place: number
  stored_as: string | null
  /** Absent in the rows that older versions write. */
  call_id?: string | null
  /** Absent where it is not read. */
  n?: number
  /** The size of the text that models are sent in its place. */
  text_size: number | null
}

/** Returns the row of `message_parts p`. */
export const partRow = (sql: AnySql): Fragment => sql`
  jsonb_build_object(
    'n', p.n, 'type', p.type, 'sha256', encode(p.sha256, 'hex'), 'media_type', p.media_type, 'filename', p.filename,
    'size', p.size, 'detail', p.detail, 'source_url', p.source_url, 'text_place', p.text_place,
    'stored_as', encode(p.stored_as, 'hex'), 'call_id', p.call_id, 'text_size', ${textSize(sql)})`

/** Returns a subquery: the parts of outputs in a session, of calls behind a position. It is null when there are none. */
export const outputPartsBehind = (sql: AnySql, sessionId: string, position: Fragment): Fragment => sql`(
  select jsonb_agg(${partRow(sql)} order by m.position, p.n)
    from message_parts p join messages m on m.id = p.message_id
   where p.session_id = ${sessionId} and p.call_id is not null and m.position > ${position})`

/** Returns the size of a part's text. Only documents have one: for other types nothing is looked up. */
const textSize = (sql: AnySql): Fragment => sql`
  case when p.media_type like 'application/vnd.%'
       then (select t.size from part_texts t where t.sha256 = coalesce(p.stored_as, p.sha256)) end`

/** Reads a row. The bytes are read when they are asked for. */
export const partOf = (sql: Sql, row: PartRow): MessagePart => ({
  type: row.type,
  sha256: row.sha256,
  mediaType: row.media_type,
  filename: row.filename,
  size: row.size,
  detail: row.detail,
  sourceUrl: row.source_url,
  place: row.text_place,
  storedAs: row.stored_as,
  ...(row.n !== undefined && { n: row.n }),
  ...(row.call_id != null && { callId: row.call_id }),
  read: () => readContent(sql, row.stored_as ?? row.sha256),
  ...(row.text_size !== null && { text: textOf(sql, row.stored_as ?? row.sha256, row.text_size) }),
})

/** Returns the text of a content by its key. */
export const textOf = (sql: Sql, key: string, size: number): PartText => ({ size, read: () => readText(sql, key) })

/** Reads a message's parts, in order. */
export async function readParts(sql: Sql, messageId: string): Promise<MessagePart[]> {
  const rows = await sql<PartRow[]>`
    select ${partColumns(sql)} from message_parts p where p.message_id = ${messageId} order by p.n`
  return rows.map((row) => partOf(sql, row))
}

/** Returns the columns of a `PartRow`, of `message_parts p`. */
export const partColumns = (sql: Sql): Fragment => sql`
  p.n, p.type, encode(p.sha256, 'hex') as sha256, p.media_type, p.filename, p.size, p.detail, p.source_url, p.text_place,
  encode(p.stored_as, 'hex') as stored_as, p.call_id, ${textSize(sql)} as text_size`

/** The longest wait of a reply for a database that is away. */
const WAIT_MS = 5000

/** Reads the bytes of a content by its key, a piece at a time. Ends early when it was deleted meanwhile. */
export async function* readContent(sql: Sql, key: string): AsyncGenerator<Uint8Array> {
  for (let n = 0; ; n++) {
    const [row] = await askAgain(
      () => sql<{ base64: string }[]>`
        select encode(bytes, 'base64') as base64 from part_pieces where sha256 = decode(${key}, 'hex') and n = ${n}`,
      WAIT_MS,
    )
    if (row === undefined) return
    yield Buffer.from(row.base64, 'base64') // line breaks are skipped
  }
}

const TEXT_PIECE_BYTES = 192 * 1024

/** Reads the text of a content, a piece at a time. Ends early when it was deleted meanwhile. */
async function* readText(sql: Sql, key: string): AsyncGenerator<Uint8Array> {
  for (let from = 1; ; from += TEXT_PIECE_BYTES) {
    const [row] = await askAgain(
      () => sql<{ base64: string }[]>`
        select encode(substring(text from ${from}::integer for ${TEXT_PIECE_BYTES}::integer), 'base64') as base64
          from part_texts where sha256 = decode(${key}, 'hex')`,
      WAIT_MS,
    )
    if (row === undefined || row.base64 === '') return
    yield Buffer.from(row.base64, 'base64')
  }
}
