/** A cache of the usable tools of each MCP server, kept for some minutes. */
import type { Tool } from '@modelcontextprotocol/client'
import { isObject } from '../../../untrusted/is-object.ts'
import { checkSchemas } from '../../schemas/arguments.ts'
import { keyOf } from '../mcp-connections.ts'
import { withNumbers } from '../mcp-numbers.ts'
import type { McpServer } from '../mcp-transport.ts'

export interface McpTool {
  name: string
  description: string
  /** JSON Schema of an object. */
  inputSchema: Record<string, unknown>
}

/** The most tools of one server: more than any model accepts. */
const MAX_TOOLS = 500
const MAX_DESCRIPTION = 8_192
/** The longest name. The protocol recommends 128. */
const MAX_NAME = 256
/** The most bytes of names, descriptions and schemas of one server: 250,000 tokens, sent with each model call. */
const MAX_LIST_BYTES = 1024 * 1024

interface List {
  tools: Promise<McpTool[]>
  /** The end of the list's validity, by `performance.now()`; infinite while loading. */
  until: number
  /** True when the list changed while loading: it is returned to callers that already wait, and to no others. */
  isStale: boolean
}

export interface McpLists {
  /** Returns the list, loaded when it is not cached; concurrent callers share one load. Rejects as loading does. */
  get(server: McpServer): Promise<McpTool[]>
  /** Drops a list that the server has changed. */
  drop(server: McpServer): void
}

/**
 * Creates the cache. `load` calls `asking` before its request: earlier changes are in the response. `keepMs`: how long
 * a list is cached.
 */
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

/**
 * Returns the usable tools, with unique names. `skip` is called for the others, with a reason. `owner`: the server's
 * id.
 */
export async function usableTools(
  offered: readonly Tool[],
  owner: string,
  skip: (name: string, reason: string) => void,
): Promise<McpTool[]> {
  const tools = offered.slice(0, 2 * MAX_TOOLS).map((tool) => ({ ...tool, inputSchema: schemaOf(tool) }))
  const reasons = await checkSchemas(
    tools.map(({ inputSchema }) => inputSchema),
    owner,
  )
  const usable = new Map<string, McpTool>()
  let bytes = 0
  for (const [index, { name, description = '', inputSchema }] of tools.entries()) {
    if (usable.size === MAX_TOOLS) {
      skip(name, `the server offers more than ${MAX_TOOLS} tools`)
      break
    }
    const tool = { name, description: description.slice(0, MAX_DESCRIPTION).toWellFormed(), inputSchema }
    const size = Buffer.byteLength(JSON.stringify(tool))
    const reason = flawOfName(name, usable) ?? reasons[index] ?? null
    if (reason !== null) skip(name, reason)
    else if (bytes + size > MAX_LIST_BYTES) skip(name, `the list is larger than ${MAX_LIST_BYTES / 1024} KiB`)
    else {
      usable.set(name, tool)
      bytes += size
    }
  }
  return [...usable.values()]
}

/** Returns a tool's schema with the digits that the server wrote. */
function schemaOf({ inputSchema }: Tool): Record<string, unknown> {
  const schema = withNumbers(inputSchema)
  return isObject(schema) ? schema : inputSchema
}

function flawOfName(name: string, taken: ReadonlyMap<string, unknown>): string | null {
  if (name === '') return 'it has no name'
  if (name.length > MAX_NAME) return `its name is longer than ${MAX_NAME} characters`
  return taken.has(name) ? 'its name is taken' : null
}
