/** HTTP tools: one request each, with placeholders for the model's arguments. */
import type { AnySql, Tx } from '../../postgres/database.ts'
import { type Fragment, listByAge, type Page, type PageQuery, timestamps } from '../../postgres/page.ts'
import { isUuid } from '../../postgres/uuid.ts'
import type { StoredHeaders } from './secret-headers.ts'

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'

export interface HttpToolFields {
  name: string
  description: string
  method: HttpMethod
  /** May contain `{{argument}}`, like header values and the body. */
  url: string
  body: string | null
  /** JSON Schema of an object. Null allows any arguments. */
  inputSchema: Record<string, unknown> | null
}

/** What callers read: secret headers as `***`. Times are ISO 8601 UTC. */
export interface HttpTool extends HttpToolFields {
  id: string
  headers: Record<string, string>
  createdAt: string
  updatedAt: string
}

/** What a call needs; secret headers are encrypted. */
export type StoredHttpTool = HttpToolFields & StoredHeaders & { id: string }

export type NewHttpTool = StoredHttpTool

/** Absent fields keep their value. */
export type HttpToolChanges = { [Field in keyof HttpToolFields]?: HttpToolFields[Field] | undefined } & {
  sealedHeaders?: StoredHeaders | undefined
}

const fields = (sql: AnySql): Fragment =>
  sql`id, name, description, method, url, headers, body, input_schema as "inputSchema"`

const columns = (sql: AnySql): Fragment => sql`${fields(sql)}, ${timestamps(sql)}`

const stored = (sql: AnySql): Fragment => sql`${fields(sql)}, secret_headers as "secretHeaders"`

/** Oldest first. */
export const listHttpTools = (sql: AnySql, query: PageQuery): Promise<Page<HttpTool>> =>
  listByAge<HttpTool>(sql, 'http_tools', columns(sql), query)

/** Null when there is no such tool. */
export async function findHttpTool(sql: AnySql, id: string): Promise<HttpTool | null> {
  if (!isUuid(id)) return null
  const [tool] = await sql<HttpTool[]>`select ${columns(sql)} from http_tools where id = ${id}`
  return tool ?? null
}

/** Those that exist, in any order. Ids are UUIDs. */
export const storedHttpTools = async (sql: AnySql, ids: readonly string[]): Promise<StoredHttpTool[]> =>
  ids.length === 0
    ? []
    : [...(await sql<StoredHttpTool[]>`select ${stored(sql)} from http_tools where id = any (${[...ids]}::uuid[])`)]

export async function createHttpTool(sql: AnySql, tool: NewHttpTool): Promise<HttpTool> {
  const { id, name, description, method, url, headers, secretHeaders, body, inputSchema } = tool
  const [created] = await sql<HttpTool[]>`
    insert into http_tools (id, name, description, method, url, headers, secret_headers, body, input_schema)
    values (${id}, ${name}, ${description}, ${method}, ${url}, ${JSON.stringify(headers)}::text::json, ${secretHeaders},
      ${body}, ${inputSchema && JSON.stringify(inputSchema)}::text::json)
    returning ${columns(sql)}`
  if (created === undefined) throw new Error('The new HTTP tool was not returned.')
  return created
}

export type DecideHttpTool = (tool: StoredHttpTool) => HttpToolChanges

/**
 * `decide` gets the stored tool, locked until the changes are written. It may throw: then nothing changes. Null when there is no
 * such tool.
 */
export async function changeHttpTool(tx: Tx, id: string, decide: DecideHttpTool): Promise<HttpTool | null> {
  const [tool] = await tx<StoredHttpTool[]>`select ${stored(tx)} from http_tools where id = ${id} for no key update`
  if (tool === undefined) return null
  const { sealedHeaders, ...changes } = decide(tool)
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  const next: StoredHttpTool = { ...tool, ...Object.fromEntries(given), ...sealedHeaders }
  const [updated] = await tx<HttpTool[]>`
    update http_tools set
      name = ${next.name}, description = ${next.description}, method = ${next.method}, url = ${next.url},
      headers = ${JSON.stringify(next.headers)}::text::json, secret_headers = ${next.secretHeaders},
      body = ${next.body}, input_schema = ${next.inputSchema && JSON.stringify(next.inputSchema)}::text::json,
      updated_at = clock_timestamp()
    where id = ${id}
    returning ${columns(tx)}`
  return updated ?? null
}

/** Removes it from every agent too. False when there is no such tool. */
export async function deleteHttpTool(sql: AnySql, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { count } = await sql`delete from http_tools where id = ${id}`
  return count > 0
}
