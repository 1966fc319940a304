/** Background jobs in the whole product, on PostgreSQL alone and with Redis: what is late comes all the same. */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { freshDatabase } from '../../support/database.ts'
import { type RedisServer, startRedis } from '../../support/programs/redis.ts'
import { WAIT_MS } from '../../support/wait.ts'
import { verifies } from '../../verifies.ts'
import { call } from '../scene.ts'

const soon = { timeout: WAIT_MS, interval: 20 }
let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis[Symbol.asyncDispose]())

const ways: [string, () => Record<string, string>][] = [
  ['PostgreSQL alone', () => ({})],
  ['Redis', () => ({ CACHE_PROVIDER: 'redis', CACHE_URL: redis.url })],
]

describe.each(ways)('with %s', (_, cache) => {
  verifies(
    ['contract-1.retention', 'contract-7.jobs'],
    'sessions idle for longer than SESSION_RETENTION_DAYS are removed, others stay',
    async () => {
      const database = await freshDatabase()
      const { agentId } = await createAgent(database)
      await database.sql`
        insert into sessions (agent_id, title, updated_at)
        values (${agentId}, 'old', clock_timestamp() - interval '8 days'),
               (${agentId}, 'young', clock_timestamp() - interval '6 days')`
      const titles = async () =>
        (await database.sql`select title from sessions order by title`).map(({ title }) => title)
      await using app = await startTestApp({ database, settings: { ...cache(), SESSION_RETENTION_DAYS: '7' } })
      await expect.poll(titles, soon).toEqual(['young'])
      await app.stop()
      await database.drop()
    },
  )

  verifies(['contract-1.title-model', 'contract-7.jobs'], 'a title comes from the model, after the reply', async () => {
    await using app = await startTestApp({ settings: { ...cache(), SESSION_TITLES: 'model' } })
    const { agentId } = await createAgent(app)
    const sessions = `${app.url}/api/v1/agents/${agentId}/deploy/sessions`
    const { id } = (await call(sessions, 'POST', {})).json
    await call(`${sessions}/${id}/chat/completions`, 'POST', { messages: [{ role: 'user', content: '/echo Hello' }] })
    // The demo provider says what it received: words that no message of the session holds.
    await expect.poll(async () => (await call(`${sessions}/${id}`, 'GET')).json.title, soon).not.toContain('/echo')
    expect((await call(`${sessions}/${id}`, 'GET')).json.title).not.toContain('/echo')
  })
})
