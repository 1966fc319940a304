/** The sign-ins of users at MCP servers (contract section 27). */
import Type from 'typebox'
import { id, nullable, time } from '../basics.ts'

const scope = nullable(Type.String({ description: 'The scopes, divided by spaces. Null: the server named none.' }))

export const Connections = Type.Object(
  {
    connections: Type.Array(
      Type.Object(
        {
          mcp_server_id: id('Id of the MCP server.'),
          server: Type.String({ description: 'Its name.' }),
          scope,
          created_at: time('When the user signed in.'),
        },
        { title: 'Connection' },
      ),
    ),
  },
  { title: 'Connections' },
)

const connection = {
  id: id('Id of the connection.'),
  agentId: id('The agent with whose sessions it is used.'),
  user: Type.String({ description: 'The end user.' }),
  scope,
  createdAt: time('When the user signed in.'),
}

const paged = { total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer() }

export const McpConnectionList = Type.Object(
  { connections: Type.Array(Type.Object(connection, { title: 'McpConnection' })), ...paged },
  { title: 'McpConnectionList' },
)

export const ConnectionList = Type.Object(
  {
    connections: Type.Array(
      Type.Object(
        {
          ...connection,
          mcpServerId: id('Id of the MCP server.'),
          server: Type.String({ description: 'Its name.' }),
          agentName: Type.String({ description: "The agent's name." }),
          expiresAt: nullable(
            time(
              'When the access token ends. It is renewed on its next use where the server allows that. Null: no end.',
            ),
          ),
        },
        { title: 'UserConnection' },
      ),
    ),
    ...paged,
  },
  { title: 'ConnectionList' },
)
