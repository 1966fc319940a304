/** HTTP tools: one request each, with placeholders for the model's arguments. */
import { parseExact } from '../../../untrusted/exact-json.ts'
import type { AnySql, Tx } from '../../postgres/database.ts'
import { type Fragment, timestamps } from '../../postgres/page.ts'
import { readRecords, recordTable } from '../../record-table.ts'
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

/** A tool as callers read it: secret headers as `***`. Times are ISO 8601 UTC. */
export interface HttpTool extends HttpToolFields {
  id: string
  headers: Record<string, string>
  createdAt: string
  updatedAt: string
}

/** The data that a call needs; secret headers are encrypted. */
export type StoredHttpTool = HttpToolFields & StoredHeaders & { id: string }

export type NewHttpTool = StoredHttpTool

/** Absent fields keep their value. */
export type HttpToolChanges = { [Field in keyof HttpToolFields]?: HttpToolFields[Field] | undefined } & {
  sealedHeaders?: StoredHeaders | undefined
}

const fields = (sql: AnySql): Fragment =>
  sql`id, name, description, method, url, headers, body, input_schema::text as "inputSchema"`

const columns = (sql: AnySql): Fragment => sql`${fields(sql)}, ${timestamps(sql)}`

const stored = (sql: AnySql): Fragment => sql`${fields(sql)}, secret_headers as "secretHeaders"`

/** A row as it is selected: its schema is read as text, since the driver's numbers lose digits. */
type Row<Tool extends HttpToolFields> = Omit<Tool, 'inputSchema'> & { inputSchema: string | null }

const readTool = <Tool extends { inputSchema: string | null }>({ inputSchema, ...tool }: Tool) => ({
  ...tool,
  inputSchema: inputSchema === null ? null : Object(parseExact(inputSchema)),
})

const table = readRecords(recordTable<Row<HttpTool>>('http_tools', columns), readTool)
export const { list: listHttpTools, find: findHttpTool } = table

/** Reads those tools that exist, in any order. Ids are UUIDs. */
export const storedHttpTools = async (sql: AnySql, ids: readonly string[]): Promise<StoredHttpTool[]> =>
  ids.length === 0
    ? []
    : (
        await sql<Row<StoredHttpTool>[]>`select ${stored(sql)} from http_tools where id = any (${[...ids]}::uuid[])`
      ).map(readTool)

export function createHttpTool(sql: AnySql, tool: NewHttpTool): Promise<HttpTool> {
  const { id, name, description, method, url, headers, secretHeaders, body, inputSchema } = tool
  return table.insert(
    sql,
    sql`(id, name, description, method, url, headers, secret_headers, body, input_schema)
    values (${id}, ${name}, ${description}, ${method}, ${url}, ${JSON.stringify(headers)}::text::json, ${secretHeaders},
      ${body}, ${inputSchema && JSON.stringify(inputSchema)}::text::json)`,
  )
}

export type DecideHttpTool = (tool: StoredHttpTool) => HttpToolChanges

/**
 * Changes a tool. `decide` gets the stored tool, locked until the changes are written. It may throw: then nothing changes.
 * Null when there is no such tool.
 */
export async function changeHttpTool(tx: Tx, id: string, decide: DecideHttpTool): Promise<HttpTool | null> {
  const [row] = await tx<Row<StoredHttpTool>[]>`
    select ${stored(tx)} from http_tools where id = ${id} for no key update`
  if (row === undefined) return null
  const tool = readTool(row)
  const { sealedHeaders, ...changes } = decide(tool)
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  const next: StoredHttpTool = { ...tool, ...Object.fromEntries(given), ...sealedHeaders }
  return await table.update(
    tx,
    id,
    tx`
      name = ${next.name}, description = ${next.description}, method = ${next.method}, url = ${next.url},
      headers = ${JSON.stringify(next.headers)}::text::json, secret_headers = ${next.secretHeaders},
      body = ${next.body}, input_schema = ${next.inputSchema && JSON.stringify(next.inputSchema)}::text::json`,
  )
}

/** A removal, which also takes the tool from every agent. */
export const deleteHttpTool = table.remove
