/** The tools of an agent's MCP servers, and the servers that give none (contract sections 6 and 27). */
import type { MissingServer } from '../../actors/ports/index.ts'
import { unlessAborted } from '../../async/unless-aborted.ts'
import { valuesWithoutSession } from '../../templates/placeholders.ts'
import type { Challenge, McpServer, McpTool } from '../mcp/mcp.ts'
import { bearersOf, mcpTool, type NameTool } from '../naming/tool-names.ts'
import type { Offered, Tool } from '../offered.ts'
import type { ToolboxConfig, ToolboxWorld } from '../toolbox.ts'
import { makeAskingCall } from './asking-call.ts'
import { filledServer } from './filled-server.ts'
import { type Grant, withGrant } from './grants.ts'
import { makeSignedInCall, signInTool } from './signed-in-call.ts'

/** The longest delay of a reply by a dead MCP server (contract section 6). */
const LIST_MS = 3_000

type OfServer = Required<Omit<Offered, 'missing'>>

/** Loads the tools of all servers in parallel, in configured order. Rejects only with the signal's reason, on abort. */
export async function mcpTools(
  { mcpServers, configured }: ToolboxConfig,
  world: ToolboxWorld,
  nameTool: NameTool,
  signal: AbortSignal,
): Promise<Offered> {
  const wanted = configured.mcpServers.filter(({ toolNames }) => toolNames.length > 0)
  const ready = new Map(mcpServers.map(({ server }) => [server.id, server]))
  const lists = await Promise.all(
    wanted.map(async ({ id, name, toolNames }): Promise<OfServer | MissingServer> => {
      const server = ready.get(id)
      const listed = server ? await listOf(server, toolNames, { world, nameTool, signal }) : 'unreachable'
      return typeof listed === 'string' ? { mcpServerId: id, server: name, reason: listed } : listed
    }),
  )
  const here = lists.filter((list) => 'chosen' in list)
  return {
    chosen: here.flatMap(({ chosen }) => chosen),
    others: here.flatMap(({ others }) => others),
    answering: here.flatMap(({ answering }) => answering),
    signIns: here.flatMap(({ signIns }) => signIns),
    missing: lists.filter((list) => 'reason' in list),
  }
}

interface Listing {
  world: ToolboxWorld
  nameTool: NameTool
  signal: AbortSignal
}

async function listOf(
  stored: McpServer,
  toolNames: readonly string[],
  { world, nameTool, signal }: Listing,
): Promise<OfServer | MissingServer['reason']> {
  const { mcp, mcpListMs = LIST_MS, log, values = valuesWithoutSession() } = world
  const leftOut = (reason: string, err?: unknown) =>
    log.warn(
      { mcpServer: stored.name, ...(err !== undefined && { err }), reason },
      'A reply continues without an MCP server.',
    )
  const filled = filledServer(stored, values)
  if ('reason' in filled) {
    leftOut(filled.words)
    return filled.reason
  }
  const { server } = filled
  const signsIn = server.auth === 'user'
  if (signsIn && (values.user === null || values.sessionId === null || world.grants === undefined)) {
    leftOut('Each user signs in at it, and the reply belongs to no user.')
    return 'no_user'
  }
  const signIn = (challenge?: Challenge) => signInTool({ server, challenge, world, nameTool })
  try {
    const offered = signsIn
      ? await signedInList(server, world, signal)
      : await mcp.toolsWithin(mcpListMs, server, signal)
    if (!Array.isArray(offered))
      return { chosen: [], others: [], answering: [], signIns: [{ tool: signIn(offered), isOffered: true }] }
    const isChosen = (name: string) => toolNames.includes('*') || toolNames.includes(name)
    const siblings = bearersOf(offered.filter(({ name }) => isChosen(name)).map(({ name }) => mcpTool(server, name)))
    const tools = offered.map((tool) => toolOfServer(server, tool, world, (named) => nameTool(named, siblings)))
    const [chosen = [], others = []] = [true, false].map((is) =>
      tools.filter((_, index) => isChosen(offered[index]?.name ?? '') === is),
    )
    const signIns = signsIn ? [{ tool: signIn(), isOffered: false }] : []
    return { chosen, others, answering: [server.id], signIns }
  } catch (error) {
    signal.throwIfAborted()
    leftOut(error instanceof Error ? error.message : String(error), error)
    return reasonOf(error)
  }
}

/** Returns the list of a server with the user's grant, or without one; or its challenge, when it demands a sign-in. */
async function signedInList(
  server: McpServer,
  { mcp, mcpListMs = LIST_MS, values, grants }: ToolboxWorld,
  signal: AbortSignal,
): Promise<McpTool[] | Challenge> {
  const asked = (grant: Grant | null) => mcp.toolsWithin(mcpListMs, withGrant(server, grant), signal)
  const within = AbortSignal.any([signal, AbortSignal.timeout(mcpListMs)])
  const grant = (await unlessAborted(grants?.find(server.id, values) ?? Promise.resolve(null), within)) ?? null
  try {
    return await asked(grant)
  } catch (error) {
    const challenge = unauthorizedIn(error)
    if (challenge === null) throw error
    const renewed = grant && (await unlessAborted(grants?.renew(grant) ?? Promise.resolve(null), within))
    if (!renewed) return challenge
    return await asked(renewed).catch((again: unknown) => {
      const refused = unauthorizedIn(again)
      if (refused === null) throw again
      return refused
    })
  }
}

/** Returns the challenge of a server that answered with 401. */
function unauthorizedIn(error: unknown): Challenge | null {
  const { challenge }: { challenge?: Challenge } = Object(error)
  return challenge?.status === 401 ? challenge : null
}

/** Returns the reason of a server's failure. It is read by its name: the class comes with the SDK, which loads late. */
const reasonOf = (error: unknown): MissingServer['reason'] =>
  error instanceof Error && 'reason' in error && isReason(error.reason) ? error.reason : 'invalid'

const isReason = (reason: unknown): reason is MissingServer['reason'] =>
  reason === 'unreachable' || reason === 'unauthorized' || reason === 'invalid'

function toolOfServer(
  server: McpServer,
  { name, description, inputSchema }: McpTool,
  world: Pick<ToolboxWorld, 'mcp' | 'values' | 'states' | 'depth' | 'grants'>,
  nameTool: NameTool,
): Tool {
  const named = mcpTool(server, name)
  return {
    ...named,
    name: nameTool(named),
    owner: server.id,
    description,
    inputSchema,
    call: (args, once) =>
      server.auth === 'user'
        ? makeSignedInCall(world, { server, name, args, once })
        : makeAskingCall(world, { server, name, args, once }),
  }
}
