/** The tools of one reply, as the generate loop calls them (contract section 6). */

import type { CheckedToolbox, Toolbox, ToolCall, ToolSpec } from '../actors/ports/index.ts'
import { type ReplyValues, valuesOfNobody } from '../templates/placeholders.ts'
import { isObject } from '../untrusted/is-object.ts'
import { isWithinBounds } from '../untrusted/json-bounds.ts'
import { builtInTools } from './built-in/built-in-tools.ts'
import { callHttpTool, type HttpTool } from './http-tools/http-tool.ts'
import type { Mcp, McpServer, McpTool, ToolLog } from './mcp/mcp.ts'
import type { Outbound } from './outbound/outbound.ts'
import { checkArguments, type JsonSchema } from './schemas/arguments.ts'
import { freeName, mcpToolName, plainName } from './tool-names.ts'

export interface ToolboxConfig {
  httpTools: readonly HttpTool[]
  /** `*` in `toolNames` means all tools of the server. */
  mcpServers: readonly { server: McpServer; toolNames: readonly string[] }[]
  builtInToolIds: readonly string[]
}

export interface ToolboxWorld {
  outbound: Outbound
  mcp: Pick<Mcp, 'toolsWithin' | 'call'>
  log: ToolLog
  /** Those of the session, for the tools that use them. Absent where there is no session. */
  values?: ReplyValues
  /** How long a reply waits for the lists of MCP servers. Milliseconds; 3000 by default. */
  listMs?: number
}

interface Tool {
  name: string
  /** Who wrote the schema: an MCP server's id, or the tool's own. */
  owner: string
  description: string
  /** Null allows any object. */
  inputSchema: JsonSchema | null
  call(args: Record<string, unknown>, once: Once): Promise<{ ok: boolean; content: string }>
}

/** What accompanies one call. `key` identifies it. */
interface Once {
  signal: AbortSignal
  key: string
}

/** The bounds of one provider event. */
const ARGUMENT_BOUNDS = { values: 20_000, depth: 200 }

/** A dead MCP server delays a reply by at most this (contract section 6). */
const LIST_MS = 3_000

/** Rejects only with the signal's reason, on abort. An MCP server that does not answer is left out and logged. */
export async function createToolbox(
  config: ToolboxConfig,
  world: ToolboxWorld,
  signal: AbortSignal = new AbortController().signal,
): Promise<CheckedToolbox> {
  const tools = new Map<string, Tool>()
  const add = (tool: Tool) => {
    const name = freeName(tool.name, (taken) => tools.has(taken))
    tools.set(name, { ...tool, name })
  }
  const offered = await Promise.all(Object.values(toolsOf).map((open) => open(config, world, signal)))
  for (const tool of offered.flat()) add(tool)
  return {
    tools: [...tools.values()].map(specOf),
    call: async (call, signal, key) => {
      const tool = tools.get(call.name)
      if (tool === undefined) return { ok: false, content: `There is no tool named ${call.name}.` }
      return callTool(tool, call, { signal, key }, world.log)
    },
    check: async ({ name, arguments: text }) => {
      const tool = tools.get(name)
      if (tool === undefined) return `there is no tool named ${name}`
      const args = parsed(text)
      if (typeof args === 'string' || tool.inputSchema === null) return typeof args === 'string' ? args : null
      return await checkArguments(tool.inputSchema, args, tool.owner)
    },
  }
}

/** The kinds of tools, in the order in which the model gets them. */
const toolsOf = {
  httpTools: ({ httpTools }, world) => httpTools.map((tool) => httpTool(tool, world)),
  mcpServers: mcpTools,
  builtInToolIds: builtIns,
} satisfies Record<keyof ToolboxConfig, ToolsOf>

type ToolsOf = (config: ToolboxConfig, world: ToolboxWorld, signal: AbortSignal) => Tool[] | Promise<Tool[]>

/** Providers require a type and properties, even where the schema has none. */
const specOf = ({ name, description, inputSchema }: Tool): ToolSpec => ({
  name,
  description,
  inputSchema: { properties: {}, ...inputSchema, type: 'object' },
})

async function callTool(tool: Tool, call: ToolCall, once: Once, log: ToolLog): ReturnType<Toolbox['call']> {
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

/** A string is the reason why they are invalid. Models may send empty text for no arguments. */
function parsed(text: string): Record<string, unknown> | string {
  if (text.trim() === '') return {}
  if (!isWithinBounds(text, ARGUMENT_BOUNDS)) return 'the arguments hold too many values'
  try {
    const args: unknown = JSON.parse(text)
    return isObject(args) ? args : 'the arguments are not a JSON object'
  } catch (error) {
    return `the arguments are not valid JSON (${error instanceof Error ? error.message : String(error)})`
  }
}

function httpTool(tool: HttpTool, { outbound, values = valuesOfNobody() }: ToolboxWorld): Tool {
  const { name, description, inputSchema } = tool
  const call: Tool['call'] = async (args, { signal, key }) => {
    const { ok, content } = await callHttpTool(outbound, tool, args, signal, key, values)
    return { ok, content }
  }
  return { name: plainName(name), owner: tool.id, description, inputSchema, call }
}

function builtIns({ builtInToolIds }: ToolboxConfig, { outbound }: ToolboxWorld): Tool[] {
  return builtInTools
    .filter(({ id }) => builtInToolIds.includes(id))
    .map((tool) => ({
      name: plainName(tool.name),
      owner: tool.id,
      description: tool.description,
      inputSchema: tool.inputSchema,
      call: (args, { signal }) => tool.call(args, { outbound, signal }),
    }))
}

/** The tools of all servers, loaded in parallel, in configured order. */
async function mcpTools({ mcpServers }: ToolboxConfig, world: ToolboxWorld, signal: AbortSignal): Promise<Tool[]> {
  const { log, mcp, listMs = LIST_MS } = world
  const wanted = mcpServers.filter(({ toolNames }) => toolNames.length > 0)
  const lists = wanted.map(async ({ server, toolNames }) => {
    try {
      const offered = await mcp.toolsWithin(listMs, server, signal)
      const all = toolNames.includes('*')
      return offered.filter(({ name }) => all || toolNames.includes(name)).map((tool) => mcpTool(server, tool, world))
    } catch (error) {
      signal.throwIfAborted()
      const reason = error instanceof Error ? error.message : String(error)
      log.warn({ mcpServer: server.name, err: error, reason }, 'A reply continues without an MCP server.')
      return []
    }
  })
  return (await Promise.all(lists)).flat()
}

const mcpTool = (
  server: McpServer,
  { name, description, inputSchema }: McpTool,
  { mcp, values }: Pick<ToolboxWorld, 'mcp' | 'values'>,
): Tool => ({
  name: mcpToolName(server.name, name),
  owner: server.id,
  description,
  inputSchema,
  call: (args, { signal, key }) => mcp.call(server, name, args, signal, { key, values }),
})
