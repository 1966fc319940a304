import { Button } from '@mantine/core'
import { IconServer2 } from '@tabler/icons-react'
import { Link } from 'react-router'
import { EmptyState } from '../blocks/empty-state.tsx'
import { type Column, ListPage } from '../blocks/list-page.tsx'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { type McpServer, mcpServerList } from './queries.ts'

const columns: Column<McpServer>[] = [
  { header: 'URL', width: '40%', cell: ({ url }) => url },
  {
    header: 'Transport',
    width: '10rem',
    minor: true,
    cell: ({ transport }) => (transport === 'sse' ? 'SSE' : 'Streamable HTTP'),
  },
  { header: 'Changed', width: '10rem', minor: true, cell: ({ updatedAt }) => <RelativeTime iso={updatedAt} /> },
]

export function Component() {
  return (
    <ListPage
      title="MCP servers"
      description="Tools that others have built. Agents use all of a server’s tools, or the ones that you tick."
      list={mcpServerList}
      name={({ name }) => name}
      linkTo={({ id }) => `/tools/mcp/${id}`}
      columns={columns}
      create={{ label: 'Connect a server', to: '/tools/mcp/new' }}
      empty={
        <EmptyState
          icon={IconServer2}
          title="No MCP servers yet"
          action={
            <Button component={Link} to="/tools/mcp/new">
              Connect the first one
            </Button>
          }
        >
          An MCP server offers tools by the Model Context Protocol: tickets, databases, search, your own services.
        </EmptyState>
      }
    />
  )
}
