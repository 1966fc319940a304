/** Wires up the tools for requests and replies. */
import { createSignIns, type SignIns } from '../features/connections/index.ts'
import { askAgain, type Sql } from '../persistence/postgres/database.ts'
import { requestStateContext, type Secrets } from '../persistence/records/access/secrets.ts'
import { readyTools } from '../persistence/records/tools/ready-tools.ts'
import { choosesNone } from '../persistence/records/tools/tool-kinds.ts'
import { valuesWithoutSession } from '../templates/placeholders.ts'
import { builtInTools } from '../tools/built-in/built-in-tools.ts'
import { callHttpTool } from '../tools/http-tools/http-tool.ts'
import type { Mcp, McpServer, ToolLog } from '../tools/mcp/mcp.ts'
import { filledServer } from '../tools/mcp-servers/filled-server.ts'
import type { Grants } from '../tools/mcp-servers/grants.ts'
import { readSignInState } from '../tools/mcp-servers/sign-in-state.ts'
import { workOutNames } from '../tools/naming/approvals.ts'
import type { Outbound } from '../tools/outbound/outbound.ts'
import { fetchPicture } from '../tools/outbound/picture.ts'
import { checkArguments, checkSchema } from '../tools/schemas/arguments.ts'
import { createToolbox, noTools } from '../tools/toolbox.ts'
import { parseExact } from '../untrusted/exact-json.ts'
import type { LateChildren } from './features/children.ts'
import type { HttpDependencies } from './routes.ts'

export interface ToolParts {
  sql: Sql
  secrets: Secrets
  outbound: Outbound
  mcp: Mcp
  mcpListMs: number | undefined
  grants: Grants
  children: LateChildren
  /** The time for which a reply retries to read its tools while the database is down (milliseconds). */
  waitLimitMs: number
  log: ToolLog
}

type ToolDependencies = Pick<
  HttpDependencies,
  | 'openToolbox'
  | 'builtInTools'
  | 'workOutNames'
  | 'checkSchema'
  | 'checkContent'
  | 'callHttpTool'
  | 'discoverTools'
  | 'callMcpTool'
  | 'discoveryWarning'
  | 'onMcpServerChange'
  | 'fetchPicture'
>

export function toolDependencies({
  sql,
  secrets,
  outbound,
  mcp,
  mcpListMs,
  grants,
  children,
  waitLimitMs,
  log,
}: ToolParts): ToolDependencies {
  const states = {
    seal: (state: string) => secrets.seal(state, requestStateContext),
    open: (sealed: string) => secrets.open(sealed, requestStateContext),
  }
  return {
    async openToolbox(choice, signal, values, depth) {
      if (choosesNone(choice)) return noTools
      const ready = await askAgain(() => readyTools(sql, secrets, choice), waitLimitMs)
      for (const secret of ready.unreadable)
        log.warn({ secret }, 'No key decrypts its headers: a reply continues without it.')
      const asking =
        ready.agentTools.length > 0 && values?.sessionId ? { sessionId: values.sessionId, mcpDepth: depth ?? 0 } : null
      const asked = asking && ((await children.opened?.within(asking)) ?? undefined)
      const asks = asked && { children: asked }
      const world = { outbound, mcp, mcpListMs, log, states, grants, depth, ...(values && { values }), ...asks }
      return createToolbox(ready, world, signal)
    },
    builtInTools,
    workOutNames,
    checkSchema,
    checkContent: (schema, content) => checkArguments(schema, Object(parseExact(content)), 'content'),
    async callHttpTool(tool, args, { user, metadata, signal }) {
      const reason = tool.inputSchema && (await checkArguments(tool.inputSchema, args, tool.id))
      if (reason !== null) return { ok: false, status: null, content: reason, body: null }
      return callHttpTool(outbound, tool, args, signal, null, { ...valuesWithoutSession(), user, metadata })
    },
    discoverTools: async (server, signal) => mcp.tools(withoutSession(server), signal),
    async callMcpTool(server, { tool, args }, signal) {
      const filled = filledServer(server, valuesWithoutSession())
      if ('reason' in filled) return { ok: false, content: filled.words }
      const { ok, content, challenge } = await mcp.call(filled.server, tool, args, signal)
      const signsIn = server.auth === 'user' && challenge !== undefined
      return signsIn ? { ok, content: 'The MCP server wants a sign-in: each user signs in at it.' } : { ok, content }
    },
    discoveryWarning: async (server) => mcp.warning(withoutSession(server)),
    onMcpServerChange: (id) => mcp.forget(id),
    fetchPicture: (url, options) => fetchPicture(outbound, url, options),
  }
}

/** Returns the server as it is reached outside of sessions. Throws where a header needs a value of one. */
function withoutSession(server: McpServer): McpServer {
  const filled = filledServer(server, valuesWithoutSession())
  if ('reason' in filled) throw new Error(filled.words)
  return filled.server
}

type SignInOptions = Parameters<typeof createSignIns>[0]

/** Opens the sign-ins of users at MCP servers. */
export const openSignIns = (
  { publicUrl, ...stored }: Pick<SignInOptions, 'sql' | 'secrets' | 'fetchFor'> & { publicUrl(): string | null },
  beginning: Pick<SignInOptions, 'owner' | 'generate'>,
): SignIns => createSignIns({ ...stored, ...beginning, publicUrl: () => publicUrl() ?? '', readState: readSignInState })
