/**
 * The agent's tools that need an approval before they are called. Unlike the overrides above it, a switch changes the
 * agent at once.
 */
import { Stack, Switch, Text, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { askedBy, type KnownTool, withAsking } from '../../agents/approvals.ts'
import { type AgentTools, agentResource, agentTools, toolsPath } from '../../agents/resource.ts'
import { useKnownTools } from '../../agents/use-known-tools.ts'
import { api } from '../../api.ts'
import { useEdits } from '../../blocks/editing/edits.ts'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { queryClient } from '../../query-client.ts'

export function AskFirst({ agentId }: { agentId: string }) {
  const { data: tools } = useQuery(agentTools(agentId))
  return tools ? <Switches agentId={agentId} tools={tools} /> : null
}

function Switches({ agentId, tools }: { agentId: string; tools: AgentTools }) {
  const known = useKnownTools(tools)
  const edits = useEdits()
  const { approvals } = tools
  const isEvery = approvals === '*' || approvals.includes('*')
  const saving = useMutation({
    mutationFn({ tool, asks }: { tool: KnownTool; asks: boolean }) {
      const body = { ...tools, approvals: withAsking(approvals === '*' ? [] : approvals, tool, asks) }
      const path = toolsPath(agentId)
      edits.hold(path)
      const params = { path: { agent_id: agentId } }
      return edits.put(path, (headers) => api.PUT('/api/v1/agents/{agent_id}/tools', { params, body, headers }))
    },
    // What the next switch builds on: the tools are read again, but later.
    onSuccess: (saved) => queryClient.setQueryData(agentTools(agentId).queryKey, saved),
    onSettled: agentResource.changed,
  })
  if (known.length === 0) return null
  return (
    <Stack gap="xs" mt="lg" component="section" aria-labelledby="ask-first">
      <Title order={3} id="ask-first" fz="sm">
        Ask first
      </Title>
      <Text fz="xs" c="dimmed">
        Calls of these tools wait for an approval, from the next message on, for everybody who talks to this agent.
        {isEvery && ' Its approvals name every tool: change that on its page.'}
      </Text>
      {known.map((tool) => {
        const by = askedBy(tool, approvals)
        return (
          <Switch
            key={tool.label}
            label={tool.label}
            checked={by !== null}
            disabled={by === 'wider' || saving.isPending}
            onChange={({ currentTarget: { checked } }) => saving.mutate({ tool, asks: checked })}
          />
        )
      })}
      <ErrorAlert error={saving.error} />
    </Stack>
  )
}
