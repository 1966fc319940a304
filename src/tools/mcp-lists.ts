/** What each MCP server offers, as far as a model can be offered it, kept for some minutes. */
import { setImmediate } from 'node:timers/promises'
import type { Tool } from '@modelcontextprotocol/client'
import { checkSchema } from './arguments.ts'
import { keyOf } from './mcp-connections.ts'
import type { McpServer } from './mcp-transport.ts'

export interface McpTool {
  name: string
  description: string
  /** JSON Schema of an object. */
  inputSchema: Record<string, unknown>
}

/** Of one server. More than any model takes. */
const MAX_TOOLS = 500
const MAX_DESCRIPTION = 8_192

interface List {
  tools: Promise<McpTool[]>
  /** By `performance.now()`; infinite while loading. */
  until: number
  /** A change was told while it was loading: whoever waits takes it, nobody else. */
  isStale: boolean
}

export interface McpLists {
  /** The list, loaded when none is kept; all who ask meanwhile wait for the same. Rejects as loading does. */
  get(server: McpServer): Promise<McpTool[]>
  /** The server has another one now. */
  drop(server: McpServer): void
}

/** `load` calls `asking` before it asks: changes told before that are in its answer. `keepMs` is a list's life. */
export function createLists(
  load: (server: McpServer, asking: () => void) => Promise<McpTool[]>,
  keepMs: number,
): McpLists {
  const lists = new Map<string, List>()
  return {
    get(server) {
      const key = keyOf(server)
      const known = lists.get(key)
      if (known !== undefined && performance.now() < known.until) return known.tools
      const list: List = { tools: Promise.resolve([]), until: Number.POSITIVE_INFINITY, isStale: false }
      const drop = () => lists.get(key) === list && lists.delete(key)
      lists.set(key, list)
      list.tools = load(server, () => {
        list.isStale = false
      })
      list.tools.then(() => {
        list.until = performance.now() + keepMs
        if (list.isStale) drop()
      }, drop)
      return list.tools
    },
    drop(server) {
      const list = lists.get(keyOf(server))
      if (list?.until === Number.POSITIVE_INFINITY) list.isStale = true
      else lists.delete(keyOf(server))
    },
  }
}

/** The usable tools, each name once. `skip` is told of the others, with a reason. */
export async function usableTools(
  tools: readonly Tool[],
  skip: (name: string, reason: string) => void,
): Promise<McpTool[]> {
  const usable = new Map<string, McpTool>()
  for (const { name, description = '', inputSchema } of tools) {
    if (usable.size === MAX_TOOLS) {
      skip(name, `the server offers more than ${MAX_TOOLS} tools`)
      break
    }
    const reason = name === '' ? 'it has no name' : usable.has(name) ? 'its name is taken' : checkSchema(inputSchema)
    if (reason !== null) skip(name, reason)
    else usable.set(name, { name, description: description.slice(0, MAX_DESCRIPTION).toWellFormed(), inputSchema })
    // A schema takes about a millisecond to compile: others have their turn in between.
    await setImmediate()
  }
  return [...usable.values()]
}
