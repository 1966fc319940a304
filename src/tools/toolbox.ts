/** The tools of one reply, as the generate loop calls them (contract section 6). */

import type {
  AskingElement,
  CallOfTool,
  CheckedToolbox,
  MissingServer,
  MissingTools,
  OwnTool,
  ToolAnswer,
  Toolbox,
  ToolSpec,
} from '../actors/ports/index.ts'
import type { ConfiguredTools } from '../persistence/records/tools/configured-tools.ts'
import { partyOf, type ReplyValues, valuesWithoutSession } from '../templates/placeholders.ts'
import { parseExact } from '../untrusted/exact-json.ts'
import { isObject } from '../untrusted/is-object.ts'
import { isWithinBounds } from '../untrusted/json/json-bounds.ts'
import { namesTwice } from '../untrusted/json/names-twice.ts'
import { type AskAgents, agentTools, type CalledAgent } from './agent-tools.ts'
import { builtInTools } from './built-in/built-in-tools.ts'
import { callHttpTool, type HttpTool } from './http-tools/http-tool.ts'
import type { Mcp, McpServer, ToolLog } from './mcp/mcp.ts'
import type { Grants } from './mcp-servers/grants.ts'
import { mcpTools } from './mcp-servers/offered-tools.ts'
import { type Approvals, keysToApprove } from './naming/approvals.ts'
import { createNames, keyOfTool, type NameTool, plainName } from './naming/tool-names.ts'
import type { Offered, Once, Tool } from './offered.ts'
import type { Outbound } from './outbound/outbound.ts'
import { checkArguments, matches } from './schemas/arguments.ts'

export interface ToolboxConfig extends Approvals {
  httpTools: readonly HttpTool[]
  /** The servers. `*` in `toolNames` means all tools of the server. */
  mcpServers: readonly { server: McpServer; toolNames: readonly string[] }[]
  builtInToolIds: readonly string[]
  agentTools: readonly CalledAgent[]
  /** The configured tools, including those that cannot be used now: names depend on them. */
  configured: ConfiguredTools
}

/** Encrypts the state that a server wants back, and decrypts it. */
export interface RequestStates {
  seal(state: string): string
  /** Throws if no key decrypts it. */
  open(sealed: string): string
}

export interface ToolboxWorld {
  outbound: Outbound
  mcp: Pick<Mcp, 'toolsWithin' | 'call'>
  /** The longest delay of a reply by a dead MCP server (contract section 6), 3,000 ms by default. */
  mcpListMs?: number | undefined
  log: ToolLog
  /** The session's values, for the tools that use them. */
  values?: ReplyValues
  /** The number of MCP calls in a row that led to the reply. Absent when none did. */
  depth?: number | undefined
  /** The encryption of what servers send with their questions. Absent where no server may ask. */
  states?: RequestStates
  /** The grants of users that sign in at servers. Absent where none may. */
  grants?: Grants
  /** The sessions that answer calls of agents. Absent where no agent may be asked. */
  children?: AskAgents | undefined
}

/** The bounds of one provider event. */
const ARGUMENT_BOUNDS = { values: 20_000, depth: 200 }

/**
 * Creates a toolbox. Rejects only with the signal's reason, on abort. An MCP server that does not answer is
 * missing, and logged.
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
  const signIns = kinds.flatMap((kind) => kind.signIns ?? [])
  const offeredSignIns = signIns.filter(({ isOffered }) => isOffered).map(({ tool }) => tool)
  const chosen = withoutNamesakes([...kinds.flatMap((kind) => kind.chosen), ...offeredSignIns], world.log)
  const toApprove = keysToApprove(config, {
    tools: kinds.flatMap((kind) => [...kind.chosen, ...(kind.others ?? [])]),
    answering: new Set(kinds.flatMap(({ answering = [] }) => answering)),
  })
  const byName = new Map(chosen.map((tool) => [tool.name, tool]))
  const byKey = new Map(chosen.map((tool) => [keyOfTool(tool.identity), tool]))
  const hidden = new Map(signIns.map(({ tool }) => [keyOfTool(tool.identity), tool]))
  const missing = missingTools(kinds.flatMap((kind) => kind.missing ?? []))
  const underWay = createUnderWay()
  const find = ({ name, tool: key }: Omit<CallOfTool, 'id'>) =>
    key === undefined ? byName.get(name) : (byKey.get(key) ?? hidden.get(key))
  return {
    tools: chosen.map(specOf),
    ...(missing && { missing }),
    own: new Map(
      Array.from(byKey, ([key, { name, notes, start }]): [string, OwnTool] => [
        name,
        { key, needsApproval: toApprove.has(key), ...(notes && { notes }), ...(start && { start }) },
      ]),
    ),
    asking: async (call) => {
      const tool = find(call)
      const elements = tool === undefined ? [] : (toApprove.get(keyOfTool(tool.identity)) ?? [])
      return await elementsThatAsk(elements, call.arguments, tool?.owner ?? '')
    },
    call: async (call, signal, key) => {
      const tool = find(call)
      if (tool === undefined) return { ok: false, content: `${notHere(call)}.` }
      const { id: callId, again, joins } = call
      const { mayLeave, isAlone } = underWay
      const once = { signal, key, callId, again, joins, mayLeave, isAlone }
      if (tool.start === undefined) return underWay.during(() => callTool(tool, call, once, world.log))
      return underWay.beginning((begun) => {
        const asking: Tool['call'] = (args, how) => {
          begun()
          return tool.call(args, how)
        }
        return callTool({ ...tool, call: asking }, call, once, world.log)
      })
    },
    check: async (call) => {
      const tool = find(call)
      if (tool === undefined) return notHere(call)
      const args = parsed(call.arguments)
      if (typeof args === 'string' || tool.inputSchema === null) return typeof args === 'string' ? args : null
      return await checkArguments(tool.inputSchema, args, tool.owner)
    },
  }
}

/** The toolbox of an agent without tools, of whatever kind. */
export const noTools: CheckedToolbox = {
  tools: [],
  own: new Map(),
  asking: async () => [],
  call: async (call) => ({ ok: false, content: `${notHere(call)}.` }),
  check: async (call) => notHere(call),
}

/** Counts calls that only this instance can wait for; and pictures, which are stored nowhere. */
function createUnderWay() {
  let calls = 0
  const prepared = new Set<() => void>()
  let pictures = false
  return {
    mayLeave: () => calls === 0 && !pictures,
    isAlone: () => calls === 0 && prepared.size === 0,
    /** Counts a call of an agent until `begun` is called: from there on its maker knows of it. */
    async beginning(make: (begun: () => void) => Promise<ToolAnswer>): Promise<ToolAnswer> {
      const begun = () => void prepared.delete(begun)
      prepared.add(begun)
      return await make(begun).finally(begun)
    },
    async during(make: () => Promise<ToolAnswer>): Promise<ToolAnswer> {
      calls += 1
      try {
        const answer = await make()
        if (answer.pictures !== undefined) pictures = true
        return answer
      } finally {
        calls -= 1
      }
    },
  }
}

/** Returns the elements that a call's arguments match. A call whose arguments cannot be judged matches each of them. */
async function elementsThatAsk(
  elements: readonly AskingElement[],
  text: string,
  owner: string,
): Promise<readonly AskingElement[]> {
  if (elements.every(({ when }) => when === null)) return elements
  const args = parsed(text)
  if (typeof args === 'string' || namesTwice(text)) return elements
  const asks = await Promise.all(
    elements.map(async ({ when }) => when === null || (await matches(when, args, `when:${owner}`)) !== false),
  )
  return elements.filter((_, index) => asks[index])
}

const notHere = ({ name, tool }: Omit<CallOfTool, 'id'>): string =>
  tool === undefined
    ? `There is no tool named ${name}`
    : `The tool that was called ${name} when it was asked for is not here now. The call was not made`

/** Returns the servers that are missing, in the words of the names of tools. Null when none is. */
function missingTools(servers: readonly MissingServer[]): MissingTools | null {
  if (servers.length === 0) return null
  const words = servers.map(({ server, reason }) => `${plainName(server)} (${reason})`).join(', ')
  return { servers, words, fails: false }
}

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
  agentTools,
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

function builtIns(
  { builtInToolIds }: ToolboxConfig,
  { outbound, values = valuesWithoutSession() }: ToolboxWorld,
  nameTool: NameTool,
): Offered {
  const of = partyOf(values)
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
        call: (args, { signal }) => tool.call(args, { outbound, signal, of }),
      }
    }),
  }
}
