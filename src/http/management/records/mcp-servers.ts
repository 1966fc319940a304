/** MCP servers (contract section 2, specification 2.6 and 4.9). */
import type { ToolSpec } from '../../../actors/ports/index.ts'
import { headerChange, recordCreation, recordDeletion, recordUpdate } from '../../../features/audit/index.ts'
import { forgetToolInDrafts } from '../../../features/versions/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import type { Secrets } from '../../../persistence/records/access/secrets.ts'
import * as mcpServers from '../../../persistence/records/tools/mcp-servers.ts'
import { openHeaders } from '../../../persistence/records/tools/secret-headers.ts'
import { exactObject } from '../../../untrusted/exact-json.ts'
import { contextOf, mcpServerChanges, newMcpServer } from '../../server/fields/mcp-server-input.ts'
import { HttpError, missing } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'
import { listAs } from '../../server/paging/list.ts'
import { connectionSignal } from '../../streaming/reply-stream.ts'
import { choicesWith } from './dependents.ts'

/** A server as it is connected to: headers in plain text. */
export type ReachableServer = Omit<mcpServers.StoredMcpServer, 'secretHeaders' | 'sealedClientSecret'>

export interface McpServerDependencies {
  sql: Sql
  secrets: Pick<Secrets, 'seal' | 'open'>
  publicUrl(): string | null
  /**
   * Resolves to the tools that the server offers, minutes old at most. Rejects with an error whose message is fit for
   * an administrator.
   */
  discoverTools(server: ReachableServer, signal: AbortSignal): Promise<readonly ToolSpec[]>
  /** Calls a tool of the server, within the limits of a reply's call. Rejects on abort alone. */
  callMcpTool(
    server: ReachableServer,
    call: { tool: string; args: Record<string, unknown> },
    signal: AbortSignal,
  ): Promise<{ ok: boolean; content: string }>
  /** Returns why the list that was discovered may lack tools; null when it is whole. */
  discoveryWarning(server: ReachableServer): Promise<string | null>
  /** Tells that the server was changed or deleted: connections to what it was are of no use any more. */
  onMcpServerChange(id: string): void
}

export const mcpServerHandlers = (deps: McpServerDependencies) => {
  const { sql, onMcpServerChange } = deps
  return {
    listMcpServers: ({ query }) => listAs('mcpServers', query, (page) => mcpServers.listMcpServers(sql, page)),
    createMcpServer: ({ body, request }) => {
      const server = newMcpServer(deps, body)
      return recordCreation(sql, request, 'mcpServer', (tx) => mcpServers.createMcpServer(tx, server))
    },
    getMcpServer: async ({ params }) => (await mcpServers.findMcpServer(sql, params.id)) ?? missing('MCP server'),
    updateMcpServer: async ({ params: { id }, body, request }) => {
      const changes = mcpServerChanges(deps, body)
      const updated = await recordUpdate(sql, request, 'mcpServer', {
        find: (tx) => mcpServers.findMcpServer(tx, id),
        update: (tx) => mcpServers.changeMcpServer(tx, id, changes),
        more: (before) => headerChange(before.headers, body.headers),
      })
      if (updated) onMcpServerChange(updated.id)
      return updated ?? missing('MCP server')
    },
    deleteMcpServer: async ({ params: { id }, request }) => {
      const deleted = await recordDeletion(sql, request, 'mcpServer', {
        find: (tx) => mcpServers.findMcpServer(tx, id),
        dependents: (tx) => choicesWith(tx, id),
        remove: async (tx) => {
          const removed = await mcpServers.deleteMcpServer(tx, id)
          if (removed) await forgetToolInDrafts(tx, id)
          return removed
        },
      })
      if (!deleted) missing('MCP server')
      onMcpServerChange(id.toLowerCase())
    },
    listMcpServerTools: async ({ params: { id }, reply }) => {
      const [stored] = isUuid(id) ? await mcpServers.storedMcpServers(sql, [id]) : []
      const server = opened(deps, stored ?? missing('MCP server'))
      try {
        const tools = await deps.discoverTools(server, connectionSignal(reply))
        const warning = await deps.discoveryWarning(server)
        return {
          tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
          ...(warning === null ? {} : { warning }),
        }
      } catch (error) {
        reply.log.info({ err: error, mcpServerId: server.id }, 'an MCP server did not tell its tools')
        if (server.auth === 'user' && wantsSignIn(error))
          throw new HttpError(502, 'The MCP server did not tell its tools: each user signs in at it.')
        throw new HttpError(502, `The MCP server did not tell its tools: ${reasonOf(error)}`)
      }
    },
    testMcpServer: async ({ params: { id }, body, reply }) => {
      const [stored] = isUuid(id) ? await mcpServers.storedMcpServers(sql, [id]) : []
      const server = opened(deps, stored ?? missing('MCP server'))
      const call = { tool: body.tool, args: exactObject(body.arguments ?? {}) }
      const caller = connectionSignal(reply)
      const begin = performance.now()
      const { ok, content } = await deps.callMcpTool(server, call, caller).catch((error: unknown) => {
        if (!caller.aborted) throw error
        return { ok: false, content: 'The caller has gone.' }
      })
      return { ok, content, latencyMs: Math.round(performance.now() - begin) }
    },
  } satisfies Handlers<'mcpServers'>
}

function opened(
  { secrets }: McpServerDependencies,
  { secretHeaders, sealedClientSecret: _, ...server }: mcpServers.StoredMcpServer,
): ReachableServer {
  try {
    return {
      ...server,
      headers: openHeaders(secrets, contextOf(server.id), { headers: server.headers, secretHeaders }),
    }
  } catch {
    throw new HttpError(502, 'The stored secret headers cannot be decrypted. Set them again.')
  }
}

/** Returns whether the server answered with 401. */
const wantsSignIn = (error: unknown): boolean => {
  const { challenge }: { challenge?: { status: number } } = Object(error)
  return challenge?.status === 401
}

// A server may answer with a page of text, which would be the error's message.
const longestReason = 500

const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, longestReason).toWellFormed()
