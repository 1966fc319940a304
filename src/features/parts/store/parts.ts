/**
 * Pictures and files: their bytes once a content, in pieces, and which message has which. Whoever stores a message with
 * parts keeps their contents first (`keepContents`), admits the message, and lets go (`releaseContents`).
 */
import { createHash } from 'node:crypto'
import type { MessagePart, PartIdentity } from '../../../actors/ports/index.ts'
import { copyIn } from '../../../persistence/postgres/copy.ts'
import { type AnySql, codeOf, type Sql, type Tx } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { type PartRow, partColumns, partOf } from '../../../persistence/replies/reading/part-rows.ts'

/** Bytes of a message that is being sent. */
export interface NewContent {
  /** Hex. */
  sha256: string
  size: number
  /** Null when they are stored already. */
  pieces: readonly Uint8Array[] | null
  /** The key of bytes that are stored already. Null when the key is their SHA-256. */
  storedAs?: string | null
  /** The text that models are sent in its place, which is stored with the bytes. */
  text?: Buffer | undefined
}

/** The owner of stored bytes: the messages of one user with one agent. */
export interface PartOwner {
  agentId: string
  /** The session, whose user decides if it exists. Null if it is about to be created. */
  sessionId: string | null
  user: string | null
}

/**
 * Returns a key in hex. Contents of other owners have other keys, so that no response time reveals them (contract
 * section 26).
 */
const keyOf = (owner: string, sha256: string): string =>
  createHash('sha256').update(owner).update(sha256, 'hex').digest('hex')

async function ownerOf(sql: AnySql, { agentId, sessionId, user }: PartOwner): Promise<string> {
  const [row] =
    sessionId === null
      ? []
      : await sql<{ user: string | null }[]>`
          select end_user as "user" from sessions where id = ${sessionId} and agent_id = ${agentId}`
  return JSON.stringify([agentId.toLowerCase(), row ? row.user : user])
}

/** Small enough that no statement holds others up, and a multiple of 3: base64 in pieces is base64. */
export const PIECE_BYTES = 192 * 1024

/** A content that was deleted between two looks is stored anew. */
const MOST_TRIES = 5

const FOREIGN_KEY_VIOLATION = '23503'

/**
 * Stores the contents that are not there yet, and keeps all of them for the request `uploadId`, in a transaction of their
 * own. The keys under which they are, in their order; null when one that was stored already is gone. Rejects as a query does.
 */
export async function keepContents(
  sql: Sql,
  uploadId: string,
  { owner, contents }: { owner: PartOwner; contents: readonly NewContent[] },
): Promise<string[] | null> {
  const named = await ownerOf(sql, owner)
  const keyed = contents.map((content) => ({
    ...content,
    key: content.pieces === null ? (content.storedAs ?? content.sha256) : keyOf(named, content.sha256),
  }))
  // Deduplicated and in one global order, so that uploads cannot deadlock.
  const once = new Map(keyed.map((content) => [content.key, content]))
  for (const content of keyed) if (content.pieces !== null) once.set(content.key, content)
  const sorted = [...once.values()].sort((one, other) => (one.key < other.key ? -1 : 1))
  for (let tries = 1; ; tries++) {
    try {
      await sql.begin(async (tx) => {
        for (const content of sorted) await keepContent(tx, uploadId, content)
      })
      return keyed.map(({ key }) => key)
    } catch (error) {
      if (codeOf(error) !== FOREIGN_KEY_VIOLATION) throw error
      if (tries < MOST_TRIES) continue
      if (sorted.some(({ pieces }) => pieces === null)) return null
      throw error
    }
  }
}

type Keyed = NewContent & { key: string }

async function keepContent(tx: Tx, uploadId: string, content: Keyed): Promise<void> {
  const { key, pieces, text } = content
  if (pieces !== null) await addContent(tx, { ...content, pieces })
  if (text !== undefined) await addText(tx, key, text)
  await tx`
    insert into part_uploads (id, sha256) values (${uploadId}, decode(${key}, 'hex')) on conflict do nothing`
}

/** Stores a content unless it exists. */
async function addContent(tx: Tx, { key, size, pieces }: Keyed & { pieces: readonly Uint8Array[] }): Promise<void> {
  const [made] = await tx`
    insert into part_contents (sha256, size) values (decode(${key}, 'hex'), ${size})
    on conflict do nothing returning 1 as made`
  if (made === undefined) return
  let n = 0
  let stored = 0
  for (const piece of ofSize(pieces, PIECE_BYTES)) {
    await copyPiece(tx, { key, n: n++, piece })
    stored += piece.length
  }
  if (stored !== size) throw new Error(`A picture or file came to be stored with ${stored} of ${size} bytes.`)
}

/** Stores the text that models are sent in place of a content. */
export async function addText(sql: AnySql, key: string, text: Buffer): Promise<void> {
  await sql`
    insert into part_texts (sha256, size, text) values (decode(${key}, 'hex'), ${text.length}, ${text})
    on conflict do nothing`
}

/** Returns the sizes of the texts that are stored of an owner's contents, by their SHA-256. */
export async function textSizes(
  sql: Sql,
  owner: PartOwner,
  sha256s: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const named = await ownerOf(sql, owner)
  const byKey = new Map(sha256s.map((sha256) => [keyOf(named, sha256), sha256]))
  const rows = await sql<{ key: string; size: number }[]>`
    select encode(t.sha256, 'hex') as key, t.size from part_texts t
     where t.sha256 in (select decode(k, 'hex') from unnest(${[...byKey.keys()]}::text[]) k)`
  return new Map(rows.map(({ key, size }) => [byKey.get(key) ?? '', size]))
}

/** Stores a piece of a content. */
export async function copyPiece(tx: Tx, { key, n, piece }: { key: string; n: number; piece: Buffer }): Promise<void> {
  const row = [rowHead(key, n, piece.length), piece, END_OF_COPY]
  await copyIn(tx`copy part_pieces (sha256, n, bytes) from stdin (format binary)`, row)
}

/** Returns the part of a row before its bytes in the binary format: the signature, no flags, and the columns before. */
function rowHead(key: string, n: number, length: number): Buffer {
  const head = Buffer.alloc(69)
  let at = head.write('PGCOPY\n\xff\r\n\0', 'latin1') + 8
  at = head.writeInt16BE(3, at)
  at = head.writeInt32BE(32, at)
  at += head.write(key, at, 'hex')
  at = head.writeInt32BE(4, at)
  at = head.writeInt32BE(n, at)
  head.writeInt32BE(length, at)
  return head
}

const END_OF_COPY = Buffer.from('ffff', 'hex')

/**
 * Returns the same bytes in pieces of this size; the last one may be smaller. They are copied only where two lie apart.
 */
function* ofSize(pieces: readonly Uint8Array[], size: number): Generator<Buffer> {
  let gathered: Uint8Array[] = []
  let length = 0
  const joined = (): Buffer => {
    const [first] = gathered
    if (first === undefined || gathered.length > 1) return Buffer.concat(gathered, length)
    return Buffer.from(first.buffer, first.byteOffset, first.length)
  }
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const taken = piece.subarray(at, at + size - length)
      gathered.push(taken)
      at += taken.length
      length += taken.length
      if (length < size) continue
      yield joined()
      gathered = []
      length = 0
    }
  }
  if (length > 0) yield joined()
}

/** Releases the contents of a request. Contents that no message has either are deleted. */
export async function releaseContents(sql: Sql, uploadId: string): Promise<void> {
  await sql`
    with released as (delete from part_uploads where id = ${uploadId} returning sha256)
    select forget_parts(array(select sha256 from released))`
}

/** Deletes what requests left that ended without releasing it. */
export async function tidyContents(sql: Sql): Promise<void> {
  await sql`delete from part_uploads where at < clock_timestamp() - interval '1 hour'`
  await sql`
    select forget_parts(array(
      select c.sha256 from part_contents c
       where not exists (select 1 from message_parts p where p.stored_as = c.sha256)
         and not exists (select 1 from message_parts p where p.sha256 = c.sha256 and p.stored_as is null)
         and not exists (select 1 from files f where f.stored_as = c.sha256)
         and not exists (select 1 from part_uploads u where u.sha256 = c.sha256) limit 1000))`
}

/** Returns the columns of an admission with parts. */
export const admittedParts = (parts: readonly (MessagePart | PartIdentity)[]): { parts?: Partial<PartRow>[] } =>
  parts.length === 0 ? {} : { parts: parts.map(rowOf) }

function rowOf(part: MessagePart | PartIdentity): Partial<PartRow> {
  const ofCall = part.callId === undefined ? {} : { call_id: part.callId }
  if (!('type' in part))
    return { ...('sourceUrl' in part ? { source_url: part.sourceUrl } : { sha256: part.sha256 }), ...ofCall }
  const {
    type,
    sha256,
    mediaType,
    filename,
    size,
    detail,
    sourceUrl,
    place,
    storedAs = null,
    callId: _callId,
    n: _n,
    read: _,
    text: _text,
    ...others
  } = part
  others satisfies Record<string, never>
  return {
    type,
    sha256,
    media_type: mediaType,
    filename,
    size,
    detail,
    source_url: sourceUrl,
    text_place: place,
    stored_as: storedAs,
    ...ofCall,
  }
}

/** The place of a part to read: `n` counts the message's parts from 0. */
export interface PartPlace {
  agentId: string
  sessionId: string
  messageId: string
  n: string
}

/** Returns null when there is no such part. */
export async function findPart(sql: Sql, { agentId, sessionId, messageId, n }: PartPlace): Promise<MessagePart | null> {
  if (![agentId, sessionId, messageId].every(isUuid) || !/^\d{1,4}$/.test(n)) return null
  const [row] = await sql<PartRow[]>`
    select ${partColumns(sql)}
      from message_parts p
     where p.message_id = ${messageId} and p.session_id = ${sessionId} and p.n = ${Number(n)}
       and exists (select 1 from sessions s where s.id = p.session_id and s.agent_id = ${agentId})`
  return row ? partOf(sql, row) : null
}
