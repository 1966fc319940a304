/** Whose connections are found, listed and removed (contract section 27). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect } from 'vitest'
import {
  deleteConnection,
  deleteUserConnections,
  findGrant,
  listConnections,
  userConnections,
} from '../../../../src/features/connections/store/connections.ts'
import { newAgent, openScene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openScene()
afterAll(() => scene[Symbol.asyncDispose]())
const { sql, agentId } = scene
const other = await newAgent(sql)
const servers = await sql<{ id: string; name: string }[]>`
  insert into mcp_servers (name, transport, url)
  select name, 'streamable_http', 'https://a.test/' from unnest(array['shop', 'bank']) name returning id, name`
const idOf = (name: string) => servers.find((one) => one.name === name)?.id ?? ''
const [shop, bank] = [idOf('shop'), idOf('bank')]
beforeEach(() => sql`delete from mcp_connections`)

/** Stores a connection that was made in this minute, and whose token ends in so many seconds. */
async function connected(user: string, serverId: string, { agent = agentId, minute = 0, endsIn = 3600 } = {}) {
  const id = randomUUID()
  await sql`
    insert into mcp_connections (id, agent_id, end_user, mcp_server_id, sealed, created_at, expires_at)
    values (${id}, ${agent}, ${user}, ${serverId}, '', ${new Date(Date.UTC(2026, 0, 1, 0, minute))},
            clock_timestamp() + make_interval(secs => ${endsIn}))`
  return id
}

verifies('contract-27.connections', 'they are listed oldest first, by server, agent and user', async () => {
  const later = await connected('ann', shop, { minute: 2 })
  const first = await connected('ann', bank, { minute: 1 })
  const bens = await connected('ben', shop, { minute: 3 })
  const others = await connected('ann', shop, { agent: other, minute: 4 })
  const named = await userConnections(sql, { agentId, user: 'ann' })
  expect(named.map(({ server }) => server)).toEqual(['bank', 'shop'])
  const any = { serverId: null, agentId: null, user: null }
  const list = async (filters: object, page = { limit: 9, offset: 0 }) => {
    const { items, total } = await listConnections(sql, { ...any, ...filters }, page)
    return [items.map(({ id }) => id), total]
  }
  expect(await list({})).toEqual([[first, later, bens, others], 4])
  expect(await list({}, { limit: 2, offset: 1 })).toEqual([[later, bens], 4])
  expect(await list({ serverId: shop, agentId, user: 'ann' })).toEqual([[later], 1])
  expect(await list({ user: 'ann' })).toEqual([[first, later, others], 3])
  expect([await list({ agentId: other }), await list({ serverId: bank })]).toEqual([
    [[others], 1],
    [[first], 1],
  ])
  expect(await list({ serverId: 'x' })).toEqual([[], 0])
})

verifies('contract-27.connections-go', 'one is removed at its own server, a user’s with one agent', async () => {
  const id = await connected('ann', shop)
  const kept = [await connected('ben', shop), await connected('ann', shop, { agent: other })]
  const remove = (meant: Parameters<typeof deleteConnection>[1]) => sql.begin((tx) => deleteConnection(tx, meant))
  expect(await remove({ id, serverId: bank })).toBeNull()
  expect(await remove({ agentId, user: 'ann', serverId: bank })).toBeNull()
  expect(await remove({ id, serverId: shop })).toEqual({ id, server: 'shop', user: 'ann' })
  await connected('ann', bank)
  for (const [agent, user] of [
    [agentId, 'ann'],
    [agentId, 'ben'],
    [other, 'ann'],
  ])
    await sql`
      with session as (insert into sessions (agent_id, end_user) values (${agent ?? ''}, ${user ?? ''}) returning id)
      insert into mcp_sign_ins (state_hash, browser_hash, session_id, mcp_server_id, reply_id, place, end_user, sealed)
      select decode(${randomUUID().replaceAll('-', '')}, 'hex'), '', id, ${shop}, gen_random_uuid(), 1, ${user ?? ''}, ''
        from session`
  await deleteUserConnections(sql, agentId, 'ann')
  const left = await sql<{ id: string }[]>`select id from mcp_connections`
  expect(left.map((one) => one.id).toSorted()).toEqual(kept.toSorted())
  const signIns = await sql`
    select s.agent_id as agent, i.end_user as user from mcp_sign_ins i join sessions s on s.id = i.session_id
     order by i.end_user desc`
  expect(signIns).toEqual([
    { agent: agentId, user: 'ben' },
    { agent: other, user: 'ann' },
  ])
})

verifies(
  'contract-27.refresh',
  'a token counts as over half a minute before its end, and is its user’s alone',
  async () => {
    const opened = JSON.stringify({
      issuer: { server: 'https://a.test/', metadata: null, resource: 'https://a.test/', client: { client_id: 'c' } },
      ...{ token: 't', refreshToken: null, scope: null, expiresIn: null },
    })
    const sealing = { seal: (text: string) => text, open: () => opened }
    const found = async (user: string, serverId: string, agent = agentId) => {
      const [session] = await sql<{ id: string }[]>`
      insert into sessions (agent_id, end_user) values (${agent}, ${user}) returning id`
      return (await findGrant(sql, sealing, { sessionId: session?.id ?? '', serverId }))?.isOver
    }
    await connected('ann', shop, { endsIn: 25 })
    await connected('ann', bank, { endsIn: 600 })
    expect([await found('ann', shop), await found('ann', bank)]).toEqual([true, false])
    expect([await found('ben', shop), await found('ann', shop, other)]).toEqual([undefined, undefined])
  },
)
