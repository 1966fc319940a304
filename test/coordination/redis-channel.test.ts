/** The channel on a real Redis, behind a proxy that lets a connection hang at the worst moment. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { openRedisChannel } from '../../src/coordination/redis/redis-channel.ts'
import { startRedis } from '../support/programs/redis.ts'
import { verifies } from '../verifies.ts'

const log = { info() {}, warn() {}, error() {} }

/** Forwards to Redis; `cut()` resets all connections, and from then on a SUBSCRIBE stays without an answer. */
async function openProxy(port: number) {
  const clients = new Set<Socket>()
  const hung = Promise.withResolvers<void>()
  let hangs = false
  const proxy = createServer((client) => {
    const server = connect(port, '127.0.0.1')
    clients.add(client)
    client.on('error', () => {})
    client.on('close', () => {
      clients.delete(client)
      server.destroy()
    })
    server.on('error', () => client.destroy())
    server.on('data', (bytes) => client.write(bytes))
    client.on('data', (bytes) => {
      if (hangs && /subscribe/i.test(bytes.toString())) hung.resolve()
      else server.write(bytes)
    })
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => {
    for (const client of clients) client.destroy()
    proxy.close()
  })
  return {
    url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    hung: hung.promise,
    cut() {
      hangs = true
      for (const client of clients) client.resetAndDestroy()
    },
  }
}

verifies(
  'contract-7.redis-lost',
  'a connection that is given up while it subscribes again ends no process',
  async () => {
    await using redis = await startRedis()
    const proxy = await openProxy(redis.port)
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    const channel = openRedisChannel('a', proxy.url, log)
    expect(await channel.open(10_000)).toBe(true)
    proxy.cut()
    await proxy.hung
    channel.close()
    // Whatever the end of the connection rejects has been rejected once Redis has no client any more.
    await expect
      .poll(
        async () =>
          String(await redis.command('CLIENT', 'LIST'))
            .trim()
            .split('\n').length,
      )
      .toBe(1)
    expect(unhandled).toEqual([])
  },
)

verifies('contract-7.redis-lost', 'after Redis was restarted, the channel receives its messages again', async () => {
  await using redis = await startRedis()
  const channel = openRedisChannel('b', redis.url, log)
  onTestFinished(channel.close)
  expect(await channel.open(10_000)).toBe(true)
  const recovery = Promise.withResolvers<void>()
  channel.subscribe({ onMessage() {}, onRecovery: recovery.resolve })
  await redis.kill9()
  await expect.poll(channel.isHealthy).toBe(false)
  await redis.restart()
  await recovery.promise
})
