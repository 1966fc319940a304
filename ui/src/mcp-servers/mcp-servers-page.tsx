import { ListPage } from '../blocks/pages/list-page.tsx'
import { mcpServerResource } from './resource.ts'

export const Component = () => (
  <ListPage
    resource={mcpServerResource}
    description="Tools built by others. Agents use all of a server’s tools, or only those you select."
    columns={[
      { header: 'URL', width: '40%', cell: ({ url }) => url },
      {
        header: 'Transport',
        width: '10rem',
        minor: true,
        cell: ({ transport }) => (transport === 'sse' ? 'SSE' : 'Streamable HTTP'),
      },
    ]}
    create="Connect a server"
    createFirst="Connect the first one"
  >
    An MCP server offers tools by the Model Context Protocol: tickets, databases, search, your own services.
  </ListPage>
)
