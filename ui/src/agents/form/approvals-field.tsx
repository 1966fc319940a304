/** The tools whose calls wait for an approval. */
import { TagsInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { builtInTools } from '../../built-in-tools/queries.ts'
import { httpToolResource } from '../../http-tools/resource.ts'
import { mcpServerResource } from '../../mcp-servers/resource.ts'
import type { AgentValues } from '../agent-values.ts'
import { approvalsOf, knownTools, labelOf } from '../approvals.ts'

export function ApprovalsField({ form }: { form: UseFormReturnType<AgentValues> }) {
  const { httpToolIds, builtInToolIds, mcpServers, approvals } = form.values
  const http = useQuery(httpToolResource.all).data ?? []
  const builtIn = useQuery(builtInTools).data ?? []
  const servers = useQuery({ ...mcpServerResource.all, enabled: mcpServers.length > 0 }).data ?? []
  const known = knownTools({
    httpTools: http.filter(({ id }) => httpToolIds.includes(id)),
    builtInTools: builtIn.filter(({ id }) => builtInToolIds.includes(id)),
    mcpServers: mcpServers.flatMap(({ mcpServerId, toolNames }) => {
      const server = servers.find(({ id }) => id === mcpServerId)
      return server ? [{ id: server.id, name: server.name, toolNames }] : []
    }),
  })
  return (
    <TagsInput
      label="Approvals"
      description="Calls to these tools wait until somebody approves them, whatever the tools are called later. Choose tools, or type names that the model sees (server__tool for MCP); server__* means all tools of a server, * every tool. A name that no tool has makes every call wait. Empty: no call waits."
      placeholder="Name of a tool, or *"
      maw={560}
      clearable
      data={['*', ...known.map(({ label }) => label)]}
      value={approvals.map((approval) => labelOf(approval, known))}
      onChange={(labels) => form.setFieldValue('approvals', approvalsOf(labels, approvals, known))}
      error={form.errors.approvals}
    />
  )
}
