/** HTTP tools as callers send them, in a request or in an import. */
import { randomUUID } from 'node:crypto'
import type { Secrets } from '../../../persistence/records/access/secrets.ts'
import type * as httpTools from '../../../persistence/records/tools/http-tools.ts'
import { type ToolTemplates, toolTemplateProblem } from '../../../templates/tool-template.ts'
import { exactObject } from '../../../untrusted/exact-json.ts'
import { badRequest } from '../http-error.ts'
import { newHeaders, readableHeaders, updatedHeaders } from './header-input.ts'
import { checkToolAddress, toolOrigin } from './web-address.ts'

export const contextOf = (id: string) => `http-tool:${id}` as const

export interface HttpToolWriting {
  secrets: Pick<Secrets, 'seal' | 'open'>
  /** Resolves to the reason why this is no JSON Schema of an object; null when it is one. */
  checkSchema(schema: Record<string, unknown>): Promise<string | null>
}

type Headers = Readonly<Record<string, string>> | null

type HttpToolInput = Pick<httpTools.HttpToolFields, 'name' | 'description' | 'method' | 'url'> & {
  headers?: Headers | undefined
  body?: string | null | undefined
  inputSchema?: Record<string, unknown> | null | undefined
}

/** Returns a tool to be stored. Rejects with 400. */
export async function newHttpTool(deps: HttpToolWriting, given: HttpToolInput): Promise<httpTools.NewHttpTool> {
  const { name, description, method, url, headers, body } = given
  const inputSchema = given.inputSchema && exactObject(given.inputSchema)
  checkToolAddress(url)
  await checkInputSchema(deps, inputSchema)
  const id = randomUUID()
  const sealed = newHeaders(deps.secrets, contextOf(id), headers)
  const fields = { name, description, method, url, body: body ?? null, inputSchema: inputSchema ?? null }
  checkTemplates({ ...fields, headers: headers ?? {} })
  return { id, ...fields, ...sealed }
}

type Given<Input> = { [Field in keyof Input]?: Input[Field] | undefined }

/**
 * Returns the change of a stored tool: what is given changes, the rest stays. Rejects with 400; throws it when it is
 * called with the stored tool.
 */
export async function httpToolChanges(
  deps: HttpToolWriting,
  given: Given<HttpToolInput>,
): Promise<httpTools.DecideHttpTool> {
  const { headers, name, description, method, url, body } = given
  const inputSchema = given.inputSchema && exactObject(given.inputSchema)
  if (url !== undefined) checkToolAddress(url)
  await checkInputSchema(deps, inputSchema)
  return (stored) => {
    const moves = url !== undefined && toolOrigin(url) !== toolOrigin(stored.url)
    const sealedHeaders = updatedHeaders(deps.secrets, contextOf(stored.id), headers, stored, moves)
    checkTemplates({
      url: url ?? stored.url,
      body: body === undefined ? stored.body : body,
      inputSchema: inputSchema === undefined ? stored.inputSchema : inputSchema,
      headers: readableHeaders(deps.secrets, contextOf(stored.id), sealedHeaders ?? stored),
    })
    return { name, description, method, url, body, inputSchema, sealedHeaders }
  }
}

/** Throws 400 for a name that stands for nothing. */
function checkTemplates(templates: ToolTemplates): void {
  const problem = toolTemplateProblem(templates)
  if (problem !== null) badRequest(problem)
}

async function checkInputSchema(
  { checkSchema }: HttpToolWriting,
  schema: Record<string, unknown> | null | undefined,
): Promise<void> {
  const fault = schema ? await checkSchema(schema) : null
  if (fault !== null) badRequest(`inputSchema: ${fault}`)
}
