import Type from 'typebox'
import { operations } from '../../operation.ts'
import { page } from '../../schemas/basics.ts'
import { ConnectionList, McpConnectionList } from '../../schemas/conversation/connections.ts'

const path = '/api/v1/mcp-servers/{id}/connections'

const of = {
  agentId: Type.Optional(Type.String({ description: 'Only connections with this agent.' })),
  user: Type.Optional(Type.String({ description: 'Only connections of this user.' })),
}

export const mcpConnections = operations({
  listConnections: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/connections',
    scope: 'management',
    role: 'editor',
    summary: 'List the sign-ins of users at all MCP servers, oldest first',
    description: 'With `user`: what one user has signed in at, with every agent.',
    query: Type.Object({
      ...of,
      mcpServerId: Type.Optional(Type.String({ description: 'Only connections with this MCP server.' })),
      ...page.properties,
    }),
    responses: { 200: ConnectionList },
  },
  listMcpConnections: {
    method: 'get',
    refusesUnknown: true,
    path,
    scope: 'management',
    role: 'editor',
    summary: 'List the users who have signed in at an MCP server, oldest first',
    query: Type.Object({ ...of, ...page.properties }),
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
