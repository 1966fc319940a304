/** The tools of one reply, as the generate loop calls them (contract section 6). */
import type {
  CallOfTool,
  CheckedToolbox,
  ConfiguredTools,
  OwnTool,
  ToolAnswer,
  Toolbox,
  ToolIdentity,
  ToolSpec,
} from '../actors/ports/index.ts'
import { type ReplyValues, valuesWithoutSession } from '../templates/placeholders.ts'
import { parseExact } from '../untrusted/exact-json.ts'
import { isObject } from '../untrusted/is-object.ts'
import { isWithinBounds } from '../untrusted/json-bounds.ts'
import { builtInTools } from './built-in/built-in-tools.ts'
import { callHttpTool, type HttpTool } from './http-tools/http-tool.ts'
import type { Mcp, McpServer, McpTool, ToolLog } from './mcp/mcp.ts'
import { type Approvals, keysToApprove } from './naming/approvals.ts'
import { bearersOf, createNames, keyOfTool, mcpTool, type NameTool } from './naming/tool-names.ts'
import type { Outbound } from './outbound/outbound.ts'
import { checkArguments, type JsonSchema } from './schemas/arguments.ts'

export interface ToolboxConfig extends Approvals {
  httpTools: readonly HttpTool[]
  /** The servers. `*` in `toolNames` means all tools of the server. */
  mcpServers: readonly { server: McpServer; toolNames: readonly string[] }[]
  builtInToolIds: readonly string[]
  /** The configured tools, including those that cannot be used now: names depend on them. */
  configured: ConfiguredTools
}

export interface ToolboxWorld {
  outbound: Outbound
  mcp: Pick<Mcp, 'toolsWithin' | 'call'>
  log: ToolLog
  /** The session's values, for the tools that use them. */
  values?: ReplyValues
}

interface Tool {
  identity: ToolIdentity
  fullName: string
  /** The name that the model sees. */
  name: string
  /** The author of the schema: an MCP server's id, or the tool's own. */
  owner: string
  description: string
  /** The schema of the arguments. Null allows any object. */
  inputSchema: JsonSchema | null
  call(args: Record<string, unknown>, once: Once): Promise<ToolAnswer>
}

/** The tools of one kind. `chosen`: the tools that the agent has. */
interface Offered {
  chosen: Tool[]
  /** Further tools that the servers offer. */
  others?: Omit<Tool, 'call'>[]
  answering?: string[]
}

/** The context of one call. `key` identifies it. */
interface Once {
  signal: AbortSignal
  key: string
}

/** The bounds of one provider event. */
const ARGUMENT_BOUNDS = { values: 20_000, depth: 200 }

/** The longest delay of a reply by a dead MCP server (contract section 6). */
const LIST_MS = 3_000

/**
 * Creates a toolbox. Rejects only with the signal's reason, on abort. An MCP server that does not answer is left out
 * and logged.
 */
export async function createToolbox(
  config: ToolboxConfig,
  world: ToolboxWorld,
  signal: AbortSignal = new AbortController().signal,
): Promise<CheckedToolbox> {
  const nameTool = createNames(config.configured)
  const kinds: Offered[] = await Promise.all(
    Object.values(toolsOf).map((open) => open(config, world, nameTool, signal)),
  )
  const chosen = withoutNamesakes(
    kinds.flatMap((kind) => kind.chosen),
    world.log,
  )
  const toApprove = keysToApprove(config, {
    tools: kinds.flatMap((kind) => [...kind.chosen, ...(kind.others ?? [])]),
    answering: new Set(kinds.flatMap(({ answering = [] }) => answering)),
  })
  const byName = new Map(chosen.map((tool) => [tool.name, tool]))
  const byKey = new Map(chosen.map((tool) => [keyOfTool(tool.identity), tool]))
  const find = ({ name, tool: key }: Omit<CallOfTool, 'id'>) => (key === undefined ? byName.get(name) : byKey.get(key))
  return {
    tools: chosen.map(specOf),
    own: new Map(
      Array.from(byKey, ([key, { name }]): [string, OwnTool] => [name, { key, needsApproval: toApprove.has(key) }]),
    ),
    call: async (call, signal, key) => {
      const tool = find(call)
      if (tool === undefined) return { ok: false, content: `${missing(call)}.` }
      return callTool(tool, call, { signal, key }, world.log)
    },
    check: async (call) => {
      const tool = find(call)
      if (tool === undefined) return missing(call)
      const args = parsed(call.arguments)
      if (typeof args === 'string' || tool.inputSchema === null) return typeof args === 'string' ? args : null
      return await checkArguments(tool.inputSchema, args, tool.owner)
    },
  }
}

const missing = ({ name, tool }: Omit<CallOfTool, 'id'>): string =>
  tool === undefined
    ? `There is no tool named ${name}`
    : `The tool that was called ${name} when it was asked for is not here now. The call was not made`

/** Removes tools whose names are equal because their endings are the same by chance: a name must mean one tool. */
function withoutNamesakes(tools: readonly Tool[], log: ToolLog): Tool[] {
  const byName = Map.groupBy(tools, ({ name }) => name)
  return tools.filter(({ name, fullName }) => {
    const isOne = byName.get(name)?.length === 1
    if (!isOne) log.warn({ tool: fullName, name }, 'A tool is left out: another one has its name.')
    return isOne
  })
}

/** The kinds of tools, in the order in which the model gets them. */
const toolsOf = {
  httpTools: ({ httpTools }, world, nameTool) => ({ chosen: httpTools.map((tool) => httpTool(tool, world, nameTool)) }),
  mcpServers: mcpTools,
  builtInToolIds: builtIns,
} satisfies Record<ToolKind, ToolsOf>

type ToolKind = Exclude<keyof ToolboxConfig, keyof Approvals | 'configured'>

type ToolsOf = (
  config: ToolboxConfig,
  world: ToolboxWorld,
  nameTool: NameTool,
  signal: AbortSignal,
) => Offered | Promise<Offered>

/** Describes a tool to the model. Providers require a type and properties, even where the schema has none. */
const specOf = ({ name, description, inputSchema }: Tool): ToolSpec => ({
  name,
  description,
  inputSchema: { properties: {}, ...inputSchema, type: 'object' },
})

async function callTool(tool: Tool, call: CallOfTool, once: Once, log: ToolLog): ReturnType<Toolbox['call']> {
  const { signal } = once
  const args = parsed(call.arguments)
  if (typeof args === 'string') return { ok: false, content: `${call.name} was not called: ${args}.` }
  const reason = tool.inputSchema === null ? null : await checkArguments(tool.inputSchema, args, tool.owner)
  signal.throwIfAborted()
  if (reason !== null) return { ok: false, content: `${call.name} was not called: ${reason}.` }
  try {
    return await tool.call(args, once)
  } catch (error) {
    signal.throwIfAborted()
    log.warn({ err: error, tool: call.name }, 'A tool failed unexpectedly.')
    return { ok: false, content: `${call.name} failed.` }
  }
}

/** Parses arguments. A string is the reason why they are invalid. */
function parsed(text: string): Record<string, unknown> | string {
  if (text.trim() === '') return {}
  if (!isWithinBounds(text, ARGUMENT_BOUNDS)) return 'the arguments hold too many values'
  try {
    const args = parseExact(text)
    return isObject(args) ? args : 'the arguments are not a JSON object'
  } catch (error) {
    return `the arguments are not valid JSON (${error instanceof Error ? error.message : String(error)})`
  }
}

function httpTool(
  tool: HttpTool,
  { outbound, values = valuesWithoutSession() }: ToolboxWorld,
  nameTool: NameTool,
): Tool {
  const { id, name: fullName, description, inputSchema } = tool
  const named = { identity: { httpToolId: id }, fullName }
  const call: Tool['call'] = async (args, { signal, key }) => {
    const { ok, content, pictures } = await callHttpTool(outbound, tool, args, signal, key, values)
    return { ok, content, ...(pictures && { pictures }) }
  }
  return { ...named, name: nameTool(named), owner: id, description, inputSchema, call }
}

function builtIns({ builtInToolIds }: ToolboxConfig, { outbound }: ToolboxWorld, nameTool: NameTool): Offered {
  const tools = builtInTools.filter(({ id }) => builtInToolIds.includes(id))
  return {
    chosen: tools.map((tool) => {
      const named = { identity: { builtInToolId: tool.id }, fullName: tool.name }
      return {
        ...named,
        name: nameTool(named),
        owner: tool.id,
        description: tool.description,
        inputSchema: tool.inputSchema,
        call: (args, { signal }) => tool.call(args, { outbound, signal }),
      }
    }),
  }
}

/** Loads the tools of all servers in parallel, in configured order. */
async function mcpTools(
  { mcpServers }: ToolboxConfig,
  world: ToolboxWorld,
  nameTool: NameTool,
  signal: AbortSignal,
): Promise<Offered> {
  const { mcp, log } = world
  const wanted = mcpServers.filter(({ toolNames }) => toolNames.length > 0)
  const lists = wanted.map(async ({ server, toolNames }): Promise<Required<Offered> | null> => {
    try {
      const offered = await mcp.toolsWithin(LIST_MS, server, signal)
      const isChosen = (name: string) => toolNames.includes('*') || toolNames.includes(name)
      const siblings = bearersOf(offered.filter(({ name }) => isChosen(name)).map(({ name }) => mcpTool(server, name)))
      const tools = offered.map((tool) => toolOfServer(server, tool, world, (named) => nameTool(named, siblings)))
      const [chosen = [], others = []] = [true, false].map((is) =>
        tools.filter((_, index) => isChosen(offered[index]?.name ?? '') === is),
      )
      return { chosen, others, answering: [server.id] }
    } catch (error) {
      signal.throwIfAborted()
      const reason = error instanceof Error ? error.message : String(error)
      log.warn({ mcpServer: server.name, err: error, reason }, 'A reply continues without an MCP server.')
      return null
    }
  })
  const here = (await Promise.all(lists)).filter((list) => list !== null)
  return {
    chosen: here.flatMap(({ chosen }) => chosen),
    others: here.flatMap(({ others }) => others),
    answering: here.flatMap(({ answering }) => answering),
  }
}

function toolOfServer(
  server: McpServer,
  { name, description, inputSchema }: McpTool,
  { mcp, values }: Pick<ToolboxWorld, 'mcp' | 'values'>,
  nameTool: NameTool,
): Tool {
  const named = mcpTool(server, name)
  return {
    ...named,
    name: nameTool(named),
    owner: server.id,
    description,
    inputSchema,
    call: (args, { signal, key }) => mcp.call(server, name, args, signal, { key, values }),
  }
}
