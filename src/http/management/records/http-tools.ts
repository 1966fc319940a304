/** HTTP tools (contract section 2, specification 2.5 and 4.8). */
import type { FastifyReply } from 'fastify'
import { headerChange, recordCreation, recordDeletion, recordUpdate } from '../../../features/audit/index.ts'
import { forgetToolInDrafts } from '../../../features/versions/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import * as httpTools from '../../../persistence/records/tools/http-tools.ts'
import { openHeaders } from '../../../persistence/records/tools/secret-headers.ts'
import { exactObject } from '../../../untrusted/exact-json.ts'
import { patternWarning } from '../../../untrusted/json/schema-patterns.ts'
import { contextOf, type HttpToolWriting, httpToolChanges, newHttpTool } from '../../server/fields/http-tool-input.ts'
import { missing } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'
import { listAs } from '../../server/paging/list.ts'
import { connectionSignal } from '../../streaming/reply-stream.ts'
import { choicesWith } from './dependents.ts'

/** A tool as it is called: headers in plain text. */
export type CallableTool = Omit<httpTools.StoredHttpTool, 'secretHeaders'>

/** The outcome of a tool's call. `status` and `body` are null where there was no answer; `content` says why. */
export interface ToolAnswer {
  ok: boolean
  status: number | null
  content: string
  body: string | null
}

export interface HttpToolDependencies extends HttpToolWriting {
  sql: Sql
  /** Checks the arguments, then calls the tool, within its own limits. Never rejects but on abort. */
  callHttpTool(
    tool: CallableTool,
    args: Record<string, unknown>,
    by: TriedBy & { signal: AbortSignal },
  ): Promise<ToolAnswer>
}

/** The values of the session for which a tool is tried. */
interface TriedBy {
  user: string | null
  metadata: Record<string, string>
}

export const httpToolHandlers = (deps: HttpToolDependencies) => {
  const { sql } = deps
  return {
    listHttpTools: ({ query }) => listAs('httpTools', query, (page) => httpTools.listHttpTools(sql, page)),
    createHttpTool: async ({ body, request }) => {
      const tool = await newHttpTool(deps, body)
      return withWarning(await recordCreation(sql, request, 'httpTool', (tx) => httpTools.createHttpTool(tx, tool)))
    },
    getHttpTool: async ({ params }) => (await httpTools.findHttpTool(sql, params.id)) ?? missing('HTTP tool'),
    updateHttpTool: async ({ params: { id }, body, request }) => {
      const changes = await httpToolChanges(deps, body)
      const updated = await recordUpdate(sql, request, 'httpTool', {
        find: (tx) => httpTools.findHttpTool(tx, id),
        update: (tx) => httpTools.changeHttpTool(tx, id, changes),
        more: (before) => headerChange(before.headers, body.headers),
      })
      return updated ? withWarning(updated) : missing('HTTP tool')
    },
    deleteHttpTool: async ({ params: { id }, request }) => {
      const deleted = await recordDeletion(sql, request, 'httpTool', {
        find: (tx) => httpTools.findHttpTool(tx, id),
        dependents: (tx) => choicesWith(tx, id),
        remove: async (tx) => {
          const removed = await httpTools.deleteHttpTool(tx, id)
          if (removed) await forgetToolInDrafts(tx, id)
          return removed
        },
      })
      if (!deleted) missing('HTTP tool')
    },
    testHttpTool: async ({ params: { id }, body, reply }) => {
      const [stored] = isUuid(id) ? await httpTools.storedHttpTools(sql, [id]) : []
      const by = { user: body.user ?? null, metadata: body.metadata ?? {} }
      return testStored(deps, stored ?? missing('HTTP tool'), { args: exactObject(body.arguments ?? {}), by }, reply)
    },
  } satisfies Handlers<'httpTools'>
}

/** Adds a warning to a saved tool whose schema is not applied as a whole. */
function withWarning<Tool extends Pick<httpTools.HttpToolFields, 'inputSchema'>>(
  tool: Tool,
): Tool & { warning?: string } {
  const warning = patternWarning(tool.inputSchema)
  return warning === null ? tool : { ...tool, warning }
}

/** Tests a stored tool. Always resolves to an answer: what went wrong is what the caller asked about. */
async function testStored(
  { secrets, callHttpTool }: HttpToolDependencies,
  { secretHeaders, ...tool }: httpTools.StoredHttpTool,
  { args, by }: { args: Record<string, unknown>; by: TriedBy },
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
    const { ok, status, content, body } = await callHttpTool({ ...tool, headers }, args, { ...by, signal: caller })
    if (status === null) return failed(content)
    // Words that came in a header alone.
    const words = body === '' ? content.replace(/^.*\n\n/, '') : ''
    const failure = `The tool failed with status ${status}${words === '' ? '.' : `: ${words}`}`
    return answerWith({ ok, status, body, message: ok ? `The tool answered with status ${status}.` : failure })
  } catch (error) {
    if (caller.aborted) return failed('The caller has gone.')
    reply.log.error({ err: error, httpToolId: tool.id }, 'the test of an HTTP tool failed by a fault of ours')
    return failed('The test failed by a fault of the server.')
  }
}
