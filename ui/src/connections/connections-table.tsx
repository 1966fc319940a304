import { Anchor, Button, Table, VisuallyHidden } from '@mantine/core'
import { Link } from 'react-router'
import { AwaitedRows } from '../blocks/awaited/awaited-rows.tsx'
import blocks from '../blocks/blocks.module.css'
import { DeleteButton } from '../blocks/delete-button.tsx'
import { useFocusBeside } from '../blocks/pages/focus-beside.ts'
import { RelativeTime, TimeUntil } from '../blocks/relative-time.tsx'
import { useRefusal } from '../login/roles.ts'
import { removeConnection, type UserConnection } from '../mcp-servers/resource.ts'
import { serverNow } from '../shell/server-clock.ts'
import classes from './connections.module.css'

interface ConnectionsTableProps {
  /** Undefined until they are read. */
  connections: readonly UserConnection[] | undefined
  /** The user whose connections are shown; '' for all. */
  user: string
  isStale: boolean
}

const COLUMNS = 7

export const ConnectionsTable = ({ connections, user, isStale }: ConnectionsTableProps) => (
  <div className={blocks.card}>
    <Table className={`${blocks.table} ${classes.table}`} aria-label="Connections" aria-busy={isStale || !connections}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th className={classes.user ?? ''}>User</Table.Th>
          <Table.Th>MCP server</Table.Th>
          <Table.Th data-minor>Agent</Table.Th>
          <Table.Th data-wide className={classes.scopes ?? ''}>
            Scopes
          </Table.Th>
          <Table.Th data-minor className={classes.time ?? ''}>
            Since
          </Table.Th>
          <Table.Th data-wide className={classes.time ?? ''}>
            Token expires
          </Table.Th>
          <Table.Th className={classes.act ?? ''}>
            <VisuallyHidden>Disconnect</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {connections?.map((connection) => (
          <Row key={connection.id} connection={connection} />
        ))}
        {connections === undefined && <AwaitedRows columns={COLUMNS} />}
        {connections?.length === 0 && (
          <Table.Tr>
            <Table.Td colSpan={COLUMNS} ta="center" c="dimmed" py="lg">
              {user === '' ? 'No results' : 'This user has signed in nowhere'}
            </Table.Td>
          </Table.Tr>
        )}
      </Table.Tbody>
    </Table>
  </div>
)

function Row({ connection }: { connection: UserConnection }) {
  const { id, mcpServerId, server, agentId, agentName, user, scope, createdAt, expiresAt } = connection
  const refusal = useRefusal('delete')
  const row = useFocusBeside<HTMLTableRowElement>()
  return (
    <Table.Tr {...row}>
      <Table.Td className={classes.whole ?? ''}>
        <Anchor component={Link} to={`?user=${encodeURIComponent(user)}`} fz="inherit">
          <bdi>{user}</bdi>
        </Anchor>
      </Table.Td>
      <Table.Td className={classes.whole ?? ''}>
        <Anchor component={Link} to={`/tools/mcp/${mcpServerId}`} fz="inherit">
          <bdi>{server}</bdi>
        </Anchor>
      </Table.Td>
      <Table.Td data-minor title={agentName}>
        <Anchor component={Link} to={`/agents/${agentId}`} fz="inherit">
          <bdi>{agentName}</bdi>
        </Anchor>
      </Table.Td>
      <Table.Td data-wide>
        {scope === null
          ? 'Not stated'
          : scope.split(' ').map((one) => (
              <div key={one} className={classes.scope} title={one}>
                {one}
              </div>
            ))}
      </Table.Td>
      <Table.Td data-minor>
        <RelativeTime iso={createdAt} />
      </Table.Td>
      <Table.Td data-wide>
        {expiresAt === null ? (
          'Not stated'
        ) : Date.parse(expiresAt) > serverNow() ? (
          <TimeUntil iso={expiresAt} />
        ) : (
          'Renewed on next use'
        )}
      </Table.Td>
      <Table.Td ta="end">
        <DeleteButton
          noun="connection"
          name={`${user} at ${server}`}
          remove={() => removeConnection(mcpServerId, id)}
          onDeleted={() => undefined}
          trigger={(ask) => (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`Disconnect ${user} from ${server} with ${agentName}`}
              disabled={refusal !== undefined}
              title={refusal}
              onClick={ask}
            >
              Disconnect
            </Button>
          )}
        >
          Within two seconds its token is no longer sent. The user is asked to sign in again when {agentName} next needs
          the server.
        </DeleteButton>
      </Table.Td>
    </Table.Tr>
  )
}
