/** Every tool that a request may be given: a hundred of each kind, the most that the server lists at once. */
import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'
import type { ToolKey } from './overrides.ts'

export interface ToolOption {
  value: string
  label: string
}

const query = { limit: 100 }
const option = ({ id, name }: { id: string; name: string }): ToolOption => ({ value: id, label: name })

export const toolOptions = queryOptions({
  queryKey: ['tools', 'options'],
  queryFn: async ({ signal }): Promise<Record<ToolKey, ToolOption[]>> => {
    const [http, mcp, builtin] = await Promise.all([
      api.GET('/api/v1/http-tools', { params: { query }, signal }),
      api.GET('/api/v1/mcp-servers', { params: { query }, signal }),
      api.GET('/api/v1/built-in-tools', { signal }),
    ])
    return {
      http: http.httpTools.map(option),
      mcp: mcp.mcpServers.map(option),
      builtin: builtin.builtInTools.map(option),
    }
  },
})
