import { notifications } from '@mantine/notifications'
import { useNavigate } from 'react-router'
import { Page } from '../blocks/page.tsx'
import { saved } from '../blocks/unsaved-guard.tsx'
import { McpServerForm } from './mcp-server-form.tsx'
import { createMcpServer } from './queries.ts'

export function Component() {
  const navigate = useNavigate()
  return (
    <Page
      title="Connect an MCP server"
      description="Its tools can then be ticked in an agent’s settings."
      back={{ to: '/tools/mcp', label: 'MCP servers' }}
      width="reading"
    >
      <McpServerForm
        server={null}
        save={createMcpServer}
        onSaved={({ id, name }) => {
          notifications.show({ message: `Stored the MCP server “${name}”.` })
          void navigate(`/tools/mcp/${id}`, { ...saved, replace: true })
        }}
      />
    </Page>
  )
}
