/** What the playground's requests change of the agent: it lies in the address, so that it can be sent to a friend. */
import { useSearchParams } from 'react-router'
import type { ChatRequest } from './connection-machine.ts'

export const numberKeys = ['temperature', 'topP', 'topK', 'maxToolCalls'] as const
export const toolKeys = ['http', 'mcp', 'builtin'] as const
export type NumberKey = (typeof numberKeys)[number]
export type ToolKey = (typeof toolKeys)[number]
export type OverrideKey = NumberKey | ToolKey | 'provider' | 'model'
const keys: readonly OverrideKey[] = ['provider', 'model', ...numberKeys, ...toolKeys]

export const overrideNames: Record<OverrideKey, string> = {
  provider: 'Provider',
  model: 'Model',
  temperature: 'Temperature',
  topP: 'Top P',
  topK: 'Top K',
  maxToolCalls: 'Tool calls',
  http: 'HTTP tools',
  mcp: 'MCP servers',
  builtin: 'Built-in tools',
}

/** As the address has them; lists are divided by commas, an empty one means none. */
export type Overrides = Partial<Record<OverrideKey, string>>

export function useOverrides() {
  const [search, setSearch] = useSearchParams()
  const overrides: Overrides = {}
  for (const key of keys) {
    const value = search.get(key)
    if (value !== null) overrides[key] = value
  }
  /** Null: the agent's own setting again. */
  const set = (changes: Partial<Record<OverrideKey, string | null>>) =>
    setSearch(
      () => {
        // Not the router's own idea of it, which is that of the last render: a second change before the next loses the first.
        const after = new URLSearchParams(location.search)
        for (const [key, value] of Object.entries(changes)) {
          if (value === null) after.delete(key)
          else after.set(key, value)
        }
        return after
      },
      { replace: true },
    )
  const clear = () => set(Object.fromEntries(keys.map((key) => [key, null])))
  return { overrides, set, clear }
}

export const listOf = (text: string): string[] => text.split(',').filter((part) => part !== '')

/** The request's part that the overrides make; what a number is, and what a tool, the server says. */
export function requestPart(overrides: Overrides): Omit<ChatRequest, 'message' | 'sessionId'> {
  const { provider, model, http, mcp, builtin } = overrides
  const numbers = numberKeys.flatMap((key) => {
    const value = overrides[key]
    return value === undefined ? [] : [[key, Number(value)] as const]
  })
  const config = {
    ...(provider !== undefined && { providerId: provider }),
    ...(model !== undefined && { model }),
    ...Object.fromEntries(numbers),
  }
  return {
    ...(Object.keys(config).length > 0 && { configOverrides: config }),
    ...(http !== undefined && { httpToolIds: listOf(http) }),
    ...(mcp !== undefined && { mcpServers: listOf(mcp).map((mcpServerId) => ({ mcpServerId, toolNames: ['*'] })) }),
    ...(builtin !== undefined && { builtInToolIds: listOf(builtin) }),
  }
}
