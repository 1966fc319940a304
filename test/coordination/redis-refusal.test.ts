/** Servers that refuse: every client, as one in protected mode does, or what is written; and what does not wait for them. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test, vi } from 'vitest'
import { connectRedis } from '../../src/coordination/redis/redis-client.ts'
import { call } from '../http/scene.ts'
import { createAgent, startTestApp } from '../support/app.ts'
import { startReceiver } from '../support/network/receiver.ts'
import { startRedis } from '../support/programs/redis.ts'
import { WAIT_MS } from '../support/wait.ts'
import { verifies } from '../verifies.ts'

test('each attempt is refused without a line on the console', async () => {
  const printed = [vi.spyOn(console, 'warn'), vi.spyOn(console, 'error')]
  let attempts = 0
  const repeated = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    if (++attempts === 3) repeated.resolve()
    socket.on('error', () => {})
    socket.once('data', () => socket.end('-DENIED Running in protected mode because no password is set.\r\n'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const behaviour = { maxRetriesPerRequest: 0, enableOfflineQueue: false }
  const client = connectRedis(`redis://127.0.0.1:${Object(server.address()).port}`, behaviour, () => {})
  await repeated.promise
  client.disconnect()
  server.close()
  for (const spy of printed) expect(spy).not.toHaveBeenCalled()
})

verifies('contract-1.cache', 'readiness tells of a Redis that answers and refuses what is written', async () => {
  await using redis = await startRedis()
  await using app = await startTestApp({ settings: { CACHE_PROVIDER: 'redis', CACHE_URL: redis.url } })
  const polling = { timeout: 2 * WAIT_MS, interval: 200 }
  const readiness = async () => {
    const answer = await fetch(`${app.url}/readyz`)
    return [answer.status, Object(await answer.json()).checks.cache]
  }
  await expect.poll(readiness, polling).toEqual([200, 'ok'])
  await redis.command('CONFIG', 'SET', 'maxmemory', 1)
  await expect.poll(readiness, polling).toEqual([200, 'degraded'])
  await redis.command('CONFIG', 'SET', 'maxmemory', 0)
  await expect.poll(readiness, polling).toEqual([200, 'ok'])
})

verifies(['contract-7.redis-lost', 'contract-22.webhook-events'], 'webhooks are told while Redis is away', async () => {
  await using redis = await startRedis()
  await using receiver = await startReceiver()
  await using app = await startTestApp({ settings: { CACHE_PROVIDER: 'redis', CACHE_URL: redis.url } })
  const { agentId } = await createAgent(app)
  const hook = { name: 'told', url: receiver.url, events: ['session.deleted'] }
  expect((await call(`${app.url}/api/v1/webhooks`, 'POST', hook)).status).toBe(201)
  const sessions = `${app.url}/api/v1/agents/${agentId}/deploy/sessions`
  const { id } = (await call(sessions, 'POST', { messages: [{ role: 'user', content: 'x' }] })).json
  await redis.kill9()
  expect((await call(`${sessions}/${id}`, 'DELETE')).status).toBe(204)
  await expect.poll(() => receiver.received.map(({ json }) => json.data.session_id)).toEqual([id])
})
