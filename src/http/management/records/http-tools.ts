/** HTTP tools (contract section 2, specification 2.5 and 4.8). */
import { randomUUID } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { headerChange } from '../../../features/audit/routes/changes.ts'
import { choicesWith } from '../../../features/audit/routes/dependents.ts'
import { recordCreation, recordDeletion, recordUpdate } from '../../../features/audit/routes/record-change.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import type { Secrets } from '../../../persistence/records/access/secrets.ts'
import * as httpTools from '../../../persistence/records/tools/http-tools.ts'
import { openHeaders, type StoredHeaders } from '../../../persistence/records/tools/secret-headers.ts'
import { type ToolTemplates, toolTemplateProblem } from '../../../templates/tool-template.ts'
import { badRequest, missing } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'
import { listAs } from '../../server/paging/list.ts'
import { connectionSignal } from '../../streaming/reply-stream.ts'
import { newHeaders, updatedHeaders } from './header-input.ts'
import { checkToolAddress, toolOrigin } from './web-address.ts'

/** A tool as it is called: headers in plain text. */
export type CallableTool = Omit<httpTools.StoredHttpTool, 'secretHeaders'>

/** What a call of a tool brought. `status` and `body` are null where there was no answer; `content` says why. */
export interface ToolAnswer {
  ok: boolean
  status: number | null
  content: string
  body: string | null
}

export interface HttpToolDependencies {
  sql: Sql
  secrets: Pick<Secrets, 'seal' | 'open'>
  /** Why this is no JSON Schema of an object; null when it is one. */
  checkSchema(schema: Record<string, unknown>): Promise<string | null>
  /** Checks the arguments, then calls the tool, within its own limits. Never rejects but on abort. */
  callHttpTool(tool: CallableTool, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolAnswer>
}

const contextOf = (id: string) => `http-tool:${id}` as const

export const httpToolHandlers = (deps: HttpToolDependencies) => {
  const { sql } = deps
  return {
    listHttpTools: ({ query }) => listAs('httpTools', query, (page) => httpTools.listHttpTools(sql, page)),
    createHttpTool: async ({ body, request }) => {
      const tool = await newHttpTool(deps, body)
      return recordCreation(sql, request, 'httpTool', (tx) => httpTools.createHttpTool(tx, tool))
    },
    getHttpTool: async ({ params }) => (await httpTools.findHttpTool(sql, params.id)) ?? missing('HTTP tool'),
    updateHttpTool: async ({ params: { id }, body, request }) => {
      const changes = await httpToolChanges(deps, body)
      const updated = await recordUpdate(sql, request, 'httpTool', {
        find: (tx) => httpTools.findHttpTool(tx, id),
        update: (tx) => httpTools.changeHttpTool(tx, id, changes),
        more: (before) => headerChange(before.headers, body.headers),
      })
      return updated ?? missing('HTTP tool')
    },
    deleteHttpTool: async ({ params: { id }, request }) => {
      const deleted = await recordDeletion(sql, request, 'httpTool', {
        find: (tx) => httpTools.findHttpTool(tx, id),
        dependents: (tx) => choicesWith(tx, id),
        remove: (tx) => httpTools.deleteHttpTool(tx, id),
      })
      if (!deleted) missing('HTTP tool')
    },
    testHttpTool: async ({ params: { id }, body, reply }) => {
      const [stored] = isUuid(id) ? await httpTools.storedHttpTools(sql, [id]) : []
      return testStored(deps, stored ?? missing('HTTP tool'), body.arguments ?? {}, reply)
    },
  } satisfies Handlers<'httpTools'>
}

type Writing = Pick<HttpToolDependencies, 'secrets' | 'checkSchema'>
type Headers = Readonly<Record<string, string>> | null

type HttpToolInput = Pick<httpTools.HttpToolFields, 'name' | 'description' | 'method' | 'url'> & {
  headers?: Headers | undefined
  body?: string | null | undefined
  inputSchema?: Record<string, unknown> | null | undefined
}

/** A tool to be stored. Rejects with 400. */
export async function newHttpTool(deps: Writing, given: HttpToolInput): Promise<httpTools.NewHttpTool> {
  const { name, description, method, url, headers, body, inputSchema } = given
  checkToolAddress(url)
  await checkInputSchema(deps, inputSchema)
  const id = randomUUID()
  const sealed = newHeaders(deps.secrets, contextOf(id), headers)
  const fields = { name, description, method, url, body: body ?? null, inputSchema: inputSchema ?? null }
  checkTemplates({ ...fields, headers: headers ?? {} })
  return { id, ...fields, ...sealed }
}

type Given<Input> = { [Field in keyof Input]?: Input[Field] | undefined }

/** What is given changes, the rest stays. Rejects with 400; throws it when it is called with the stored tool. */
export async function httpToolChanges(deps: Writing, given: Given<HttpToolInput>): Promise<httpTools.DecideHttpTool> {
  const { headers, name, description, method, url, body, inputSchema } = given
  if (url !== undefined) checkToolAddress(url)
  await checkInputSchema(deps, inputSchema)
  return (stored) => {
    const moves = url !== undefined && toolOrigin(url) !== toolOrigin(stored.url)
    const sealedHeaders = updatedHeaders(deps.secrets, contextOf(stored.id), headers, stored, moves)
    checkTemplates({
      url: url ?? stored.url,
      body: body === undefined ? stored.body : body,
      inputSchema: inputSchema === undefined ? stored.inputSchema : inputSchema,
      headers: readableHeaders(deps, { id: stored.id, ...(sealedHeaders ?? stored) }),
    })
    return { name, description, method, url, body, inputSchema, sealedHeaders }
  }
}

/** Throws 400 for a name that stands for nothing. */
function checkTemplates(templates: ToolTemplates): void {
  const problem = toolTemplateProblem(templates)
  if (problem !== null) badRequest(problem)
}

/** Headers that no key opens are sent with no call: what they name does not matter. */
function readableHeaders({ secrets }: Writing, { id, headers, secretHeaders }: StoredHeaders & { id: string }) {
  try {
    return openHeaders(secrets, contextOf(id), { headers, secretHeaders })
  } catch {
    return headers
  }
}

async function checkInputSchema(
  { checkSchema }: Writing,
  schema: Record<string, unknown> | null | undefined,
): Promise<void> {
  const fault = schema ? await checkSchema(schema) : null
  if (fault !== null) badRequest(`inputSchema: ${fault}`)
}

/** Always an answer: what went wrong is what the caller asked about. */
async function testStored(
  { secrets, callHttpTool }: HttpToolDependencies,
  { secretHeaders, ...tool }: httpTools.StoredHttpTool,
  args: Record<string, unknown>,
  reply: FastifyReply,
) {
  const begin = performance.now()
  const answerWith = (answer: { ok: boolean; status: number | null; body: string | null; message: string }) => {
    return { ...answer, latencyMs: Math.round(performance.now() - begin) }
  }
  const failed = (message: string) => answerWith({ ok: false, status: null, body: null, message })
  let headers: Record<string, string>
  try {
    headers = openHeaders(secrets, contextOf(tool.id), { headers: tool.headers, secretHeaders })
  } catch {
    return failed('The stored secret headers cannot be decrypted. Set them again.')
  }
  const caller = connectionSignal(reply)
  try {
    const { ok, status, content, body } = await callHttpTool({ ...tool, headers }, args, caller)
    if (status === null) return failed(content)
    return answerWith({
      ok,
      status,
      body,
      message: ok ? `The tool answered with status ${status}.` : `The tool failed with status ${status}.`,
    })
  } catch (error) {
    if (caller.aborted) return failed('The caller has gone.')
    reply.log.error({ err: error, httpToolId: tool.id }, 'the test of an HTTP tool failed by a fault of ours')
    return failed('The test failed by a fault of the server.')
  }
}
