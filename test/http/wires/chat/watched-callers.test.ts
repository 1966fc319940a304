/** Answers end when their caller's key or secret does (contract section 11): what watches it goes with the answer. */
import { once } from 'node:events'
import { connect } from 'node:net'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { breakOffOnRevocation } from '../../../../src/http/wires/chat/scope.ts'

test('nothing is watched for a client that has left while its key was looked up', async () => {
  const app = Fastify({ forceCloseConnections: true })
  app.decorateRequest('breakOff', null)
  let watching = 0
  const watch = () => {
    watching += 1
    const stop = () => {
      watching -= 1
    }
    return { signal: new AbortController().signal, stop }
  }
  const named = { id: 'k', name: 'k', scopes: [], role: null, agentIds: null, limits: null, expiresAt: null, hash: '' }
  const asked = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  app.get('/', async (request, reply) => {
    asked.resolve()
    await once(reply.raw, 'close')
    breakOffOnRevocation({ revocations: { watch }, namedKeys: { watch } }, request, reply, { kind: 'key', named })
    begun.resolve()
  })
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const socket = connect(Number(url.port), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await asked.promise
  socket.destroy()
  await begun.promise
  expect(watching).toBe(0)
  await app.close()
})
