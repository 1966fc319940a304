import Type from 'typebox'
import { operations } from '../../operation.ts'
import { page } from '../../schemas/basics.ts'
import { McpConnectionList } from '../../schemas/conversation/connections.ts'

const path = '/api/v1/mcp-servers/{id}/connections'

export const mcpConnections = operations({
  listMcpConnections: {
    method: 'get',
    refusesUnknown: true,
    path,
    scope: 'management',
    role: 'editor',
    summary: 'List the users who have signed in at an MCP server, oldest first',
    query: Type.Object({
      agentId: Type.Optional(Type.String({ description: 'Only connections with this agent.' })),
      user: Type.Optional(Type.String({ description: 'Only connections of this user.' })),
      ...page.properties,
    }),
    responses: { 200: McpConnectionList },
    errors: { 404: 'There is no such MCP server.' },
  },
  deleteMcpConnection: {
    method: 'delete',
    path: `${path}/{connection_id}`,
    scope: 'management',
    role: 'editor',
    summary: "Remove a user's sign-in at an MCP server",
    responses: { 204: null },
    errors: { 404: 'There is no such connection.' },
  },
})
