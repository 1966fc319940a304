import { NewPage } from '../blocks/pages/new-page.tsx'
import { RecordPage } from '../blocks/pages/record-page.tsx'
import { Connections } from './connections.tsx'
import { Discovery } from './discovery.tsx'
import { McpServerForm } from './mcp-server-form.tsx'
import { createMcpServer, mcpServerResource, updateMcpServer } from './resource.ts'

export const New = () => (
  <NewPage
    resource={mcpServerResource}
    title="Connect an MCP server"
    description="Its tools can then be selected in an agent’s settings."
  >
    {(onCreated) => <McpServerForm server={null} save={createMcpServer} onSaved={onCreated} />}
  </NewPage>
)

export const Existing = () => (
  <RecordPage
    resource={mcpServerResource}
    deletion="Its address and headers are deleted permanently, and agents that use it lose its tools."
    side={({ id, auth }) => (
      <>
        <Discovery serverId={id} isSignedIn={auth === 'user'} />
        {auth === 'user' && <Connections serverId={id} />}
      </>
    )}
  >
    {(server, onSaved, edits) => (
      <McpServerForm server={server} save={(fields) => updateMcpServer(server.id, fields, edits)} onSaved={onSaved} />
    )}
  </RecordPage>
)
