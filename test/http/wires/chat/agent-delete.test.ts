/** Contract section 2: deleting an agent ends its stateless replies too, on whichever instance they run. */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { createAgent, startTestApp, type TestApp } from '../../../support/app.ts'
import { type FreshDatabase, freshDatabase } from '../../../support/database.ts'
import { startUpstream, type Upstream, type UpstreamCall } from '../../../support/network/upstream.ts'
import { startRedis } from '../../../support/programs/redis.ts'
import { contentOf, openSse } from '../../../support/streams/sse.ts'
import { inTier } from '../../../support/tier.ts'
import { verifies } from '../../../verifies.ts'
import { call } from '../../scene.ts'

const deletedFrame =
  'data: {"error":{"message":"The agent was deleted.","type":"server_error","code":"session_deleted","param":null}}\n\n'
const hello = { messages: [{ role: 'user', content: 'go' }] }

describe.each(inTier([{ redis: false }, { redis: true }]))('two instances, redis: $redis', ({ redis }) => {
  let database: FreshDatabase
  let up: Upstream
  let instances: [TestApp, TestApp]
  let closing: AsyncDisposableStack
  beforeAll(async () => {
    await using stack = new AsyncDisposableStack()
    database = await freshDatabase({ version: 18 })
    stack.defer(() => database.drop())
    const server = redis ? stack.use(await startRedis()) : null
    const settings = server ? { CACHE_PROVIDER: 'redis', CACHE_URL: server.url } : {}
    up = stack.use(await startUpstream())
    const open = async () => stack.use(await startTestApp({ settings, database }))
    instances = [await open(), await open()]
    closing = stack.move()
  })
  afterAll(() => closing?.disposeAsync())

  const newAgent = async () => {
    const { agentId } = await createAgent(instances[0], { type: 'openai-compatible', baseUrl: up.url })
    return `/api/v1/agents/${agentId}`
  }
  const nextCall = () => new Promise<UpstreamCall>((resolve) => up.next(resolve))
  const completions = (instance: TestApp, agent: string) => `${instance.url}${agent}/deploy/chat/completions`
  /** A stream that has said `Par` and stands still. */
  async function running(instance: TestApp, agent: string) {
    const next = nextCall()
    const stream = await openSse(completions(instance, agent), { ...hello, stream: true })
    const provider = await next
    await provider.text('Par')
    for (const _ of ['role', 'text']) await stream.next()
    return { stream, provider }
  }

  verifies(
    ['contract-2.agent-delete', 'contract-4.delete'],
    'a stateless stream ends with the error chunk of a deleted session, and its provider call with it',
    async () => {
      const [agent, spared] = [await newAgent(), await newAgent()]
      const ended = [await running(instances[0], agent), await running(instances[1], agent)]
      const other = await running(instances[1], spared)
      expect(
        (await call(`${instances[0].url}${agent.slice(0, -36)}${agent.slice(-36).toUpperCase()}`, 'DELETE')).status,
      ).toBe(204)
      for (const { stream, provider } of ended) {
        expect((await stream.rest()).broken).toBe(false)
        expect(stream.raw().endsWith(deletedFrame)).toBe(true)
        expect(stream.raw()).not.toContain('[DONE]')
        await provider.closed
        expect(provider.abandoned).toBe(true)
      }
      await other.provider.text('tial')
      await other.provider.finish()
      expect(contentOf((await other.stream.rest()).frames)).toBe('Partial')
    },
  )

  verifies('contract-2.agent-delete', 'who waits for the whole gets 500 {error} that is not tried again', async () => {
    const agent = await newAgent()
    const wholes = []
    for (const instance of instances) {
      const next = nextCall()
      wholes.push(call(completions(instance, agent), 'POST', hello))
      await (await next).text('Par')
    }
    expect((await call(`${instances[1].url}${agent}`, 'DELETE')).status).toBe(204)
    for (const { status, headers, json } of await Promise.all(wholes)) {
      expect([status, headers.get('x-should-retry'), json]).toEqual([500, 'false', { error: 'The agent was deleted.' }])
    }
  })

  verifies('contract-2.agent-delete', 'an agent whose row is gone by any way stops replying', async () => {
    const agent = await newAgent()
    const { stream } = await running(instances[0], agent)
    await instances[0].sql`select delete_agent(${agent.slice(-36)})` // nothing was announced: the owner's own look finds it
    await stream.rest()
    expect(stream.raw().endsWith(deletedFrame)).toBe(true)
  })
})

verifies(
  'contract-2.agent-delete',
  'an agent with many sessions is deleted without a statement that takes long',
  async () => {
    await using app = await startTestApp()
    const { agentId } = await createAgent(app)
    await app.sql`insert into sessions (agent_id) select ${agentId}::uuid from generate_series(1, 1200)`
    await app.sql.unsafe(`
      create function refuse_many() returns trigger language plpgsql as $$
      begin
        if (select count(*) from gone) > 500 then raise exception 'These are too many for one statement.'; end if;
        return null;
      end $$;
      create trigger refuse_many after delete on sessions referencing old table as gone
        for each statement execute function refuse_many()`)
    expect((await call(`${app.url}/api/v1/agents/${agentId}`, 'DELETE')).status).toBe(204)
    expect(await app.sql`select from sessions where agent_id = ${agentId}`).toHaveLength(0)
    const audit = (await call(`${app.url}/api/v1/audit?q=${agentId}`, 'GET')).json
    expect(audit).toMatchObject({ total: 1, entries: [{ action: 'delete', kind: 'agent', recordId: agentId }] })
  },
)

/** An agent with two batches of sessions. The second does not go before `tries` statements have failed with this state. */
async function withStubbornSessions({ app, state, tries }: { app: TestApp; state: string; tries: number }) {
  const { agentId } = await createAgent(app)
  await app.sql`insert into sessions (agent_id) select ${agentId}::uuid from generate_series(1, 700)`
  await app.sql.unsafe(`
    create sequence tried;
    create function refuse() returns trigger language plpgsql as $$
    begin
      if (select count(*) from sessions) <= 200 and nextval('tried') <= ${tries} then
        raise exception 'No.' using errcode = '${state}';
      end if;
      return null;
    end $$;
    create trigger refuse before delete on sessions for each statement execute function refuse()`)
  return agentId
}

verifies('contract-2.agent-delete', 'a batch that meets a lock is deleted when the lock is gone', async () => {
  await using app = await startTestApp()
  const agentId = await withStubbornSessions({ app, state: '55P03', tries: 3 })
  expect((await call(`${app.url}/api/v1/agents/${agentId}`, 'DELETE')).status).toBe(204)
  expect(await app.sql`select from sessions where agent_id = ${agentId}`).toHaveLength(0)
})

verifies(
  ['contract-2.agent-delete', 'contract-10.unknown-admission'],
  'a deletion that ends halfway says so, and goes on when it is sent again',
  async () => {
    await using app = await startTestApp()
    const agentId = await withStubbornSessions({ app, state: '57014', tries: 1 })
    const remove = () => call(`${app.url}/api/v1/agents/${agentId}`, 'DELETE')
    const { status, json } = await remove()
    expect([status, json.message]).toEqual([500, expect.stringMatching(/some .* deleted.*send the DELETE again/i)])
    expect(await app.sql`select from sessions where agent_id = ${agentId}`).toHaveLength(200)
    expect((await remove()).status).toBe(204)
  },
)
