/** A server that refuses every client, as one in protected mode does. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test, vi } from 'vitest'
import { connectRedis } from '../../src/coordination/redis/redis-client.ts'

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
