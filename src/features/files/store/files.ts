/** Uploaded files, as rows (contract section 32). */
import type { FilePurpose } from '../../../../openapi/schemas/deploy/files.ts'
import type { MessagePart } from '../../../actors/ports/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import type { Fragment } from '../../../persistence/postgres/page.ts'
import { readContent, textOf } from '../../../persistence/replies/reading/part-rows.ts'
import { isPictureType } from '../../parts/index.ts'
import type { StreamedContent } from './streamed-content.ts'

/** The files that a caller reaches: those of these agents (null: all, files of no agent too), and of this user (null: of all). */
export interface Reach {
  agentIds: readonly string[] | null
  user: string | null
}

export interface StoredFile {
  id: string
  agentId: string | null
  user: string | null
  filename: string
  purpose: FilePurpose
  mediaType: string
  size: number
  /** Hex. */
  sha256: string
  /** The key of its bytes, in hex. */
  storedAs: string
  /** Unix seconds. */
  created: number
  /** Unix seconds. Null for one that does not expire by itself. */
  expires: number | null
}

export interface NewFile extends Pick<StoredFile, 'id' | 'agentId' | 'user' | 'filename' | 'purpose' | 'mediaType'> {
  content: StreamedContent
  /** Seconds. */
  expiresAfter: number | null
}

/** The limits of what one user has with one agent. */
export interface OwnerLimits {
  fileBytes: number
  /** Sessions and files together. Null means no limit. */
  userBytes: number | null
}

/** The limit that a file would exceed. */
export type FileRefusal = 'too_many_files' | 'files_full' | 'user_full'

const MOST_FILES = 1000

/** Stores a file whose bytes are stored. `limits` null: none are looked at. */
export async function addFile(
  sql: Sql,
  { content, expiresAfter, ...file }: NewFile,
  limits: OwnerLimits | null,
): Promise<FileRefusal | null> {
  const row = {
    ...{ id: file.id, agent_id: file.agentId, end_user: file.user, filename: file.filename, purpose: file.purpose },
    ...{ media_type: file.mediaType, size: content.size, sha256: content.sha256, stored_as: content.key },
    expires_after: expiresAfter,
    ...(limits && { max_files: MOST_FILES, max_file_bytes: limits.fileBytes, max_user_bytes: limits.userBytes }),
  }
  const [added] = await sql<{ refusal: FileRefusal | null }[]>`
    select add_file(${JSON.stringify(row)}::text::jsonb) as refusal`
  return added?.refusal ?? null
}

const columns = (sql: Sql): Fragment => sql`
  f.id, f.agent_id as "agentId", f.end_user as "user", f.filename, f.purpose, f.media_type as "mediaType", f.size,
  encode(f.sha256, 'hex') as sha256, encode(f.stored_as, 'hex') as "storedAs",
  floor(extract(epoch from f.created_at))::float8 as created, floor(extract(epoch from f.expires_at))::float8 as expires`

const reached = (sql: Sql, { agentIds, user }: Reach): Fragment => sql`
  (f.expires_at is null or f.expires_at > clock_timestamp())
  ${agentIds === null ? sql`` : sql`and f.agent_id = any (${[...agentIds]}::uuid[])`}
  ${user === null ? sql`` : sql`and f.end_user = ${user}`}`

/** Returns null when there is no such file in this reach, or it has expired. */
export async function findFile(sql: Sql, id: string, reach: Reach): Promise<StoredFile | null> {
  const [file] = await sql<StoredFile[]>`
    select ${columns(sql)} from files f where f.id = ${id} and ${reached(sql, reach)}`
  return file ?? null
}

export interface FilePage {
  purpose: string | null
  user: string | null
  /** The file before the first one. */
  after: string | null
  order: 'asc' | 'desc'
  limit: number
}

/** Lists at most one file more than the page holds. Null: there is no file `after`. */
export async function listFiles(sql: Sql, reach: Reach, page: FilePage): Promise<StoredFile[] | null> {
  const { purpose, user, after, order, limit } = page
  let num: string | null = null
  if (after !== null) {
    const [row] = await sql<{ num: string }[]>`
      select f.num::text as num from files f where f.id = ${after} and ${reached(sql, reach)}`
    if (row === undefined) return null
    num = row.num
  }
  const isUp = order === 'asc'
  return await sql<StoredFile[]>`
    select ${columns(sql)} from files f
     where ${reached(sql, reach)}
       ${purpose === null ? sql`` : sql`and f.purpose = ${purpose}`}
       ${user === null ? sql`` : sql`and f.end_user = ${user}`}
       ${num === null ? sql`` : isUp ? sql`and f.num > ${num}::bigint` : sql`and f.num < ${num}::bigint`}
     order by ${isUp ? sql`f.num` : sql`f.num desc`} limit ${limit + 1}`
}

/** Deletes a file. Messages that use it keep its bytes. False: there is none in this reach. */
export async function deleteFile(sql: Sql, id: string, reach: Reach): Promise<boolean> {
  const [row] = await sql<{ deleted: boolean }[]>`
    with gone as (delete from files f where f.id = ${id} and ${reached(sql, reach)} returning f.stored_as)
    select forget_parts(array(select stored_as from gone)), exists (select from gone) as deleted`
  return row?.deleted === true
}

/** Returns the files of a user with an agent, oldest first. */
export async function filesOf(sql: Sql, agentId: string, user: string): Promise<StoredFile[]> {
  return await sql<StoredFile[]>`
    select ${columns(sql)} from files f
     where ${reached(sql, { agentIds: [agentId], user })} order by f.num`
}

/** Deletes the files of a user with an agent. */
export async function deleteFilesOf(sql: Sql, agentId: string, user: string): Promise<void> {
  await sql`
    with gone as (delete from files f where f.agent_id = ${agentId} and f.end_user = ${user} returning f.stored_as)
    select forget_parts(array(select stored_as from gone))`
}

/** Deletes what has expired, and after `retentionDays` what nobody used. Null: files without an end stay. */
export async function tidyFiles(sql: Sql, retentionDays: number | null): Promise<void> {
  await sql`
    with gone as (
      delete from files f
       where f.expires_at <= clock_timestamp()
          or f.expires_at is null and f.used_at < clock_timestamp() - make_interval(days => ${retentionDays}::integer)
      returning f.stored_as)
    select forget_parts(array(select stored_as from gone))`
}

/** The files that a message to an agent may use: the agent's, of this user (null: of all), and those of no agent. */
export interface UseReach {
  agentId: string
  takesOfNone: boolean
  user: string | null
}

/**
 * Returns a file as a part of a message, which refers to the file's bytes. It counts as used, once an hour. Null when there
 * is no such file in this reach, or it has expired.
 */
export async function findUsable(sql: Sql, id: string, reach: UseReach): Promise<MessagePart | null> {
  const { agentId, takesOfNone, user } = reach
  const isMeant = sql`
    f.id = ${id} and ${reached(sql, { agentIds: null, user })}
    and (f.agent_id = ${agentId} ${takesOfNone ? sql`or f.agent_id is null` : sql``})`
  const [file] = await sql<(StoredFile & { textSize: number | null })[]>`
    with used as (
      update files f set used_at = clock_timestamp()
       where ${isMeant} and f.used_at < clock_timestamp() - interval '1 hour')
    select ${columns(sql)}, t.size as "textSize"
      from files f left join part_texts t on t.sha256 = f.stored_as
     where ${isMeant}`
  return file === undefined ? null : partOf(sql, file)
}

const partOf = (sql: Sql, file: StoredFile & { textSize: number | null }): MessagePart => {
  const { sha256, mediaType, size, storedAs, textSize } = file
  const isPicture = isPictureType(mediaType)
  return {
    ...{ type: isPicture ? 'image_url' : 'file', sha256, mediaType, size, storedAs },
    ...{ filename: isPicture ? null : file.filename, detail: null, sourceUrl: null, place: 0 },
    read: () => readContent(sql, storedAs),
    ...(textSize !== null && { text: textOf(sql, storedAs, textSize) }),
  }
}

/** Reads the bytes of a file, a piece at a time. */
export const readFile = (sql: Sql, { storedAs }: StoredFile): AsyncIterable<Uint8Array> => readContent(sql, storedAs)
