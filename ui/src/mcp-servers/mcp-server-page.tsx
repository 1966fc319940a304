import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from 'react-router'
import { DeleteButton } from '../blocks/delete-button.tsx'
import { Page } from '../blocks/page.tsx'
import { Record } from '../blocks/record.tsx'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { SideBySide } from '../blocks/side-by-side.tsx'
import { saved } from '../blocks/unsaved-guard.tsx'
import { Discovery } from './discovery.tsx'
import { McpServerForm } from './mcp-server-form.tsx'
import { deleteMcpServer, type McpServer, mcpServerById, updateMcpServer } from './queries.ts'

const back = { to: '/tools/mcp', label: 'MCP servers' }

export function Component() {
  const { id = '' } = useParams()
  return (
    <Record query={useQuery(mcpServerById(id))} title="MCP server" back={back}>
      {(server) => <McpServerPage key={server.id} server={server} />}
    </Record>
  )
}

function McpServerPage({ server }: { server: McpServer }) {
  const navigate = useNavigate()
  const { id, name, updatedAt } = server
  return (
    <Page
      title={name}
      description={
        <>
          Changed <RelativeTime iso={updatedAt} />
        </>
      }
      back={back}
      actions={
        <DeleteButton
          kind="MCP server"
          name={name}
          remove={() => deleteMcpServer(id)}
          onDeleted={() => navigate('/tools/mcp', saved)}
        >
          Its address and headers are lost for good, and every agent that uses it loses its tools.
        </DeleteButton>
      }
    >
      <SideBySide side={<Discovery serverId={id} />}>
        <McpServerForm
          server={server}
          save={(fields) => updateMcpServer(id, fields)}
          onSaved={() => notifications.show({ message: 'Saved.' })}
        />
      </SideBySide>
    </Page>
  )
}
