/** An HTTP tool as its form has it. */
import { ApiError, wordsOf } from '../api.ts'
import { type HeaderRow, headersOf, rowsOf } from '../blocks/forms/header-rows.ts'
import type { HttpTool, HttpToolFields } from './resource.ts'
import { draftOf, type SchemaDraft, schemaOf } from './schema-draft.ts'

export interface ToolValues {
  name: string
  description: string
  method: HttpTool['method']
  url: string
  headers: HeaderRow[]
  body: string
  inputSchema: SchemaDraft
}

export const valuesOf = (tool: HttpTool | null): ToolValues => ({
  name: tool?.name ?? '',
  description: tool?.description ?? '',
  method: tool?.method ?? 'GET',
  url: tool?.url ?? '',
  headers: rowsOf(tool?.headers ?? {}),
  body: tool?.body ?? '',
  inputSchema: draftOf(tool?.inputSchema ?? null),
})

/** Rejects like the server, with a message that names the field, where the schema cannot be sent at all. */
export async function fieldsOf({ headers, body, inputSchema, url, ...fields }: ToolValues): Promise<HttpToolFields> {
  return {
    ...fields,
    url: url.trim(),
    headers: headersOf(headers),
    body: body === '' ? null : body,
    inputSchema: sentSchema(inputSchema),
  }
}

function sentSchema(draft: SchemaDraft) {
  try {
    return schemaOf(draft)
  } catch (error) {
    throw new ApiError(400, `inputSchema: ${wordsOf(error)}`)
  }
}

/** Returns the schema as it is now; null while it cannot be read. */
export function describedIn(draft: SchemaDraft): Record<string, unknown> | null {
  try {
    return schemaOf(draft)
  } catch {
    return null
  }
}
