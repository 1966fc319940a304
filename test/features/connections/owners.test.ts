/** Whose connections a client secret sees (contract section 27). */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished } from 'vitest'
import { verifies } from '../../verifies.ts'
import { openFrontDoor } from '../users/access/front-door-scene.ts'

verifies('contract-27.connections', 'a client secret lists and removes its user’s alone', async () => {
  const door = await openFrontDoor({ instances: 1 })
  onTestFinished(() => door.close())
  const server = { name: 'shop', transport: 'streamable_http', url: 'https://example.com/mcp', auth: 'user' }
  const { id: mcpServerId } = (await door.asKey('POST', '/api/v1/mcp-servers', server)).json
  for (const user of ['anna', 'bert'])
    await door.here.sql`
      insert into mcp_connections (id, agent_id, end_user, mcp_server_id, sealed, scope)
      values (${randomUUID()}, ${door.agentId}, ${user}, ${mcpServerId}, '', 'orders')`
  const secret = await door.secret('anna')
  const of = (user: string, rest = '') => `${door.deploy()}/users/${user}/connections${rest}`
  const count = async (user: string) => (await door.asKey('GET', of(user))).json.connections.length
  expect((await door.as(secret, 'GET', of('bert'))).status).toBe(404)
  expect((await door.as(secret, 'DELETE', of('bert', `/${mcpServerId}`))).status).toBe(404)
  const { id: session } = (await door.asKey('POST', `${door.deploy()}/sessions`, { user: 'anna' })).json
  const bound = await door.secret('anna', { session_id: session })
  expect((await door.as(bound, 'GET', of('anna'))).status).toBe(404)
  expect((await door.as(secret, 'GET', of('anna'))).json.connections).toMatchObject([{ server: 'shop' }])
  expect((await door.as(secret, 'DELETE', of('anna', `/${mcpServerId}`))).status).toBe(204)
  expect([await count('anna'), await count('bert')]).toEqual([0, 1])
})
