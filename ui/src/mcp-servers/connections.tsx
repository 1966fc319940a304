/** The users who have signed in at an MCP server, each removable. */
import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { wordsOf } from '../api.ts'
import { Panel } from '../blocks/panel.tsx'
import { wholeNumber } from '../blocks/words.ts'
import { useRefusal } from '../login/roles.ts'
import { type McpConnection, mcpConnections, removeConnection } from './resource.ts'

export function Connections({ serverId }: { serverId: string }) {
  const refusal = useRefusal('change')
  const { data, error } = useQuery({ ...mcpConnections(serverId), enabled: refusal === undefined })
  return (
    <Panel title={data ? `Signed-in users (${data.total})` : 'Signed-in users'}>
      {refusal !== undefined && <Text fz="sm">{refusal}</Text>}
      {error && <Text fz="sm">{wordsOf(error)}</Text>}
      {data?.connections.length === 0 && (
        <Text c="dimmed" fz="sm">
          Nobody yet: a user is asked when an agent needs the server.
        </Text>
      )}
      <Stack gap="xs">
        {data?.connections.map((one) => (
          <Connection key={one.id} serverId={serverId} connection={one} />
        ))}
      </Stack>
      {data && data.total > data.connections.length && (
        <Anchor component={Link} to={`/connections?server=${serverId}`} fz="sm">
          All {wholeNumber(data.total)} of them
        </Anchor>
      )}
    </Panel>
  )
}

function Connection({ serverId, connection: { id, user, scope } }: { serverId: string; connection: McpConnection }) {
  const removal = useMutation({ mutationFn: () => removeConnection(serverId, id) })
  return (
    <Group justify="space-between" wrap="nowrap">
      <div style={{ overflowWrap: 'anywhere' }}>
        <Anchor component={Link} to={`/connections?user=${encodeURIComponent(user)}`} fz="sm">
          {user}
        </Anchor>
        {scope !== null && (
          <Text fz="xs" c="dimmed">
            {scope}
          </Text>
        )}
      </div>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Remove the sign-in of ${user}`}
        loading={removal.isPending}
        onClick={() => removal.mutate()}
      >
        Remove
      </Button>
    </Group>
  )
}
