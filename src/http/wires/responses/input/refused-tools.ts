/** Tools that OpenAI's servers run, and what stands in for each here (contract section 32). */

const fetching = "the agent's tool web_fetch, or an HTTP tool or MCP server of the agent"
const callersOwn = 'a tool of type "function" that the caller runs, or an MCP server of the agent'

/** The words for what to use instead, by the beginning of the tool's type. The first one that fits counts. */
const instead: readonly (readonly [string, string])[] = [
  ['web_search', fetching],
  ['file_search', 'an HTTP tool or MCP server of the agent, or send the file as input_file'],
  ['mcp', 'an MCP server of the agent'],
]

/** The number of characters of a type that an error repeats. */
const SHOWN = 100

/** Returns the message for a tool of this type, beginning with its field. */
export function toolRefusal(type: unknown, index: number): string {
  const named = typeof type === 'string' ? JSON.stringify(type.slice(0, SHOWN)) : 'what was sent'
  const [, use] = (typeof type === 'string' && instead.find(([start]) => type.startsWith(start))) || ['', callersOwn]
  return `tools.${index}.type: must be "function", not ${named}: use ${use}`
}
