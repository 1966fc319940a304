import { operations } from '../../operation.ts'
import { Connections } from '../../schemas/conversation/connections.ts'

const path = '/api/v1/agents/{agent_id}/deploy/users/{user}/connections'
const unknown = 'There is no such connection, or it belongs to another user.'

export const connections = operations({
  listUserConnections: {
    method: 'get',
    path,
    scope: 'deploy',
    secret: 'handler',
    summary: 'List the MCP servers that a user has signed in at, oldest first',
    description: 'An unknown user has none.',
    responses: { 200: Connections },
    errors: { 404: unknown },
  },
  deleteUserConnection: {
    method: 'delete',
    path: `${path}/{mcp_server_id}`,
    scope: 'deploy',
    secret: 'handler',
    summary: "Remove a user's sign-in at an MCP server",
    description: 'From 2 s on no instance sends its token. A call under way ends as it will.',
    responses: { 204: null },
    errors: { 404: unknown },
  },
})
