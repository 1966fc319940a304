/** The chosen MCP servers at which each user signs in. An administrator tries a sign-in in a session of the playground. */
import { Button, Group, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { wordsOf } from '../../../api.ts'
import { mcpServerResource } from '../../../mcp-servers/resource.ts'
import { startSession } from '../../../playground/acting-as/start-session.ts'
import type { AgentValues } from '../../agent-values.ts'
import { playgroundPath } from '../../resource.ts'

interface SignInServersProps {
  chosen: AgentValues['mcpServers']
  /** Absent while the agent is being created. */
  agentId: string | undefined
}

export function SignInServers({ chosen, agentId }: SignInServersProps) {
  const servers = useQuery({ ...mcpServerResource.all, enabled: chosen.length > 0 }).data ?? []
  const asking = servers.filter(
    ({ id, auth }) => auth === 'user' && chosen.some(({ mcpServerId }) => mcpServerId === id),
  )
  if (asking.length === 0) return null
  return (
    <Group gap="sm" mt={8}>
      <Text fz="sm">Each user signs in at: {asking.map(({ name }) => name).join(', ')}.</Text>
      {agentId !== undefined && <TrySignIn agentId={agentId} />}
    </Group>
  )
}

/** A user of the playground alone, whose grants the users of the agent do not have. */
const TRIED_BY = 'sign-in test'

function TrySignIn({ agentId }: { agentId: string }) {
  const navigate = useNavigate()
  const starting = useMutation({
    mutationFn: () => startSession(agentId, { user: TRIED_BY, metadata: {} }),
    onSuccess: (id) => void navigate(`${playgroundPath(agentId)}/${id}`),
  })
  return (
    <>
      <Button variant="default" size="compact-sm" loading={starting.isPending} onClick={() => starting.mutate()}>
        Try a sign-in
      </Button>
      {starting.error && <Text fz="sm">{wordsOf(starting.error)}</Text>}
    </>
  )
}
