/** The sign-ins of a user at MCP servers, through the client. */
import { expect } from 'vitest'
import { verifies } from '../verifies.ts'
import { openClientScene } from './scene.ts'

const { agent, agentId, app, call } = await openClientScene()

verifies(['contract-11.client', 'contract-27.connections'], 'they are listed, and removed', async () => {
  const fields = { name: 'shop', transport: 'streamable_http', url: 'https://shop.example/mcp', auth: 'user' }
  const mcpServerId: string = (await call('POST', '/api/v1/mcp-servers', fields)).json.id
  for (const user of ['ann/b', 'bob'])
    await app.sql`
      insert into mcp_connections (agent_id, end_user, mcp_server_id, sealed, scope)
      values (${agentId}, ${user}, ${mcpServerId}, '', 'orders')`
  expect(await agent.connections('ann/b')).toEqual([
    { mcp_server_id: mcpServerId, server: 'shop', scope: 'orders', created_at: expect.any(String) },
  ])
  await agent.disconnect('ann/b', mcpServerId)
  expect([await agent.connections('ann/b'), (await agent.connections('bob')).length]).toEqual([[], 1])
  await expect(agent.disconnect('ann/b', mcpServerId)).rejects.toMatchObject({ status: 404 })
})
