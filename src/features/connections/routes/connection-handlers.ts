/** Lists and removes connections of users, on the deploy API and in management (contract section 27). */
import type { FastifyRequest } from 'fastify'
import { missing } from '../../../http/server/http-error.ts'
import type { Handlers } from '../../../http/server/mount.ts'
import { listAs } from '../../../http/server/paging/list.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { findMcpServer } from '../../../persistence/records/tools/mcp-servers.ts'
import { commitChange, originOf, writeEntries } from '../../audit/index.ts'
import { type Caller, type DeployHandlers, refuseBrokenUser } from '../../users/index.ts'
import { entryOf } from '../sign-in.ts'
import { deleteConnection, listConnections, type McpConnection, userConnections } from '../store/connections.ts'

interface Dependencies {
  sql: Sql
}

interface OfUser {
  agent_id: string
  user: string
}

/** Returns whose connections are meant. Throws 404 for another user's where a client secret asks, and 400. */
function ownerOf({ agent_id: agentId, user }: OfUser, caller: Caller) {
  if (caller.kind === 'secret' && (caller.user !== user || caller.sessionId !== null)) missing('connection')
  refuseBrokenUser(user)
  return isUuid(agentId) ? { agentId, user } : null
}

/** Removes a connection, with its entry in the audit. Throws 404. */
async function remove(
  sql: Sql,
  request: FastifyRequest,
  meant: Parameters<typeof deleteConnection>[1] | null,
): Promise<void> {
  await commitChange(sql, async (tx) => {
    const removed = (meant && (await deleteConnection(tx, meant))) ?? missing('connection')
    await writeEntries(tx, originOf(request), [entryOf('delete', removed.id, removed.server, removed.user)])
  })
}

/** Returns a connection as the list of its server has it. */
const ofServer = ({ id, agentId, user, scope, createdAt }: McpConnection) => ({ id, agentId, user, scope, createdAt })

export const connectionHandlers = ({ sql }: Dependencies) =>
  ({
    async listUserConnections({ params, caller }) {
      const owner = ownerOf(params, caller)
      return { connections: owner ? await userConnections(sql, owner) : [] }
    },
    async deleteUserConnection({ params, request, caller }) {
      const { mcp_server_id: serverId } = params
      const owner = ownerOf(params, caller)
      await remove(sql, request, owner && isUuid(serverId) ? { ...owner, serverId } : null)
    },
  }) satisfies DeployHandlers<'connections'>

export const mcpConnectionHandlers = ({ sql }: Dependencies) =>
  ({
    async listConnections({ query: { mcpServerId = null, agentId = null, user = null, ...page } }) {
      const filters = { serverId: mcpServerId, agentId, user }
      return await listAs('connections', page, (given) => listConnections(sql, filters, given))
    },
    async listMcpConnections({ params: { id }, query: { agentId = null, user = null, ...page } }) {
      const server = (await findMcpServer(sql, id)) ?? missing('MCP server')
      const filters = { serverId: server.id, agentId, user }
      return await listAs('connections', page, async (given) => {
        const { items, total } = await listConnections(sql, filters, given)
        return { items: items.map(ofServer), total }
      })
    },
    async deleteMcpConnection({ params: { id, connection_id: connectionId }, request }) {
      const isMeant = isUuid(id) && isUuid(connectionId)
      await remove(sql, request, isMeant ? { id: connectionId, serverId: id } : null)
    },
  }) satisfies Handlers<'mcpConnections'>
