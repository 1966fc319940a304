/** Contract section 18: a request arrives in time, or is not waited for. Real sockets, with limits of milliseconds. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, expect, test } from 'vitest'
import { sendManagementError } from '../../../src/http/management/errors.ts'
import { registerJson } from '../../../src/http/server/body.ts'
import { HttpError } from '../../../src/http/server/http-error.ts'
import { ARRIVAL_LIMITS, type ArrivalLimits, endSlowRequests, isLate } from '../../../src/http/server/slow-requests.ts'
import { verifies } from '../../verifies.ts'

const MIB = 2 ** 20
const open: FastifyInstance[] = []
afterEach(async () => {
  for (const app of open.splice(0)) await app.close()
})

async function start(limits: Partial<ArrivalLimits>): Promise<number> {
  const app = Fastify({ bodyLimit: 4 * MIB, forceCloseConnections: true })
  open.push(app)
  endSlowRequests(app, { ...ARRIVAL_LIMITS, checkMs: 20, ...limits })
  await app.register(async (scope) => {
    registerJson(scope)
    scope.setErrorHandler(sendManagementError)
    scope.addHook('onRequest', async ({ headers }) => {
      if (headers.authorization === 'wrong') throw new HttpError(401, 'Log in first.')
    })
    scope.post('/taken', async () => ({ taken: true }))
    scope.post('/stream', (_request, reply) => {
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
      let left = 30
      const timer = setInterval(() => {
        reply.raw.write('data: x\n\n')
        if (--left > 0) return
        clearInterval(timer)
        reply.raw.end()
      }, 10)
      reply.hijack()
    })
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.server.address()
  return address !== null && typeof address !== 'string' ? address.port : 0
}

/** A request whose body has so many bytes, of which none is sent yet. */
function begin(port: number, path: string, length: number, more = ''): { socket: Socket; closed: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
  let said = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    said += text
  })
  socket.on('error', () => {}) // the server may have gone while we still write
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${more}content-length: ${length}\r\n\r\n`,
  )
  return { socket, closed: new Promise((resolve) => socket.once('close', () => resolve(said))) }
}

verifies('contract-18.arrival', 'a body that stops arriving is answered 408 in the format of its surface', async () => {
  const port = await start({ freeMs: 100 })
  const { socket, closed } = begin(port, '/taken', 100)
  socket.write('{"x":')
  const said = await closed
  expect(said).toMatch(/^HTTP\/1.1 408 /)
  expect(said).toMatch(/\{"message":"The request did not arrive in time."\}$/)
})

verifies('contract-18.arrival', 'a refused request is answered at once, and its body not waited for', async () => {
  const port = await start({ lingerMs: 100 })
  const { socket, closed } = begin(port, '/taken', 4 * MIB, 'authorization: wrong\r\n')
  const [answer] = await once(socket, 'data')
  expect(answer).toMatch(/^HTTP\/1.1 401 /)
  await closed
})

verifies('contract-1.body-limit', 'a client that writes on after its 413 reads it, and is served again', async () => {
  const port = await start({})
  const { socket, closed } = begin(port, '/taken', 5 * MIB)
  const [answer] = await once(socket, 'data')
  expect(answer).toMatch(/^HTTP\/1.1 413 /)
  expect(answer).not.toMatch(/^connection: close/im)
  socket.write(Buffer.alloc(5 * MIB, ' '))
  socket.end(
    'POST /taken HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}',
  )
  expect(await closed).toMatch(/HTTP\/1.1 200 .*\{"taken":true\}$/s)
})

verifies(
  'contract-26.refused-bodies',
  'also on a connection that ends with its answer, the client may write on',
  async () => {
    const port = await start({})
    const { socket, closed } = begin(port, '/taken', 6 * MIB, 'connection: close\r\n')
    const faults: Error[] = []
    socket.on('error', (error) => faults.push(error))
    await once(socket, 'data')
    for (let sent = 0; sent < 6 * MIB && !socket.destroyed; sent += MIB / 4) {
      await new Promise((resolve) => socket.write(Buffer.alloc(MIB / 4), resolve))
    }
    expect(await closed).toContain('HTTP/1.1 413')
    expect(faults).toEqual([])
  },
)

verifies('contract-18.arrival', 'streams that run after their request has arrived are untouched', async () => {
  const port = await start({ freeMs: 20, longestMs: 50, lingerMs: 20 })
  const { socket, closed } = begin(port, '/stream', 2, 'connection: close\r\n')
  socket.write('{}')
  expect((await closed).split('data: x').length - 1).toBe(30)
})

const limits = { freeMs: 60_000, bytesPerS: 65_536, longestMs: 600_000, lingerMs: 5000, checkMs: 1000 }

verifies('contract-18.arrival', 'the limits are those of the contract', () => expect(ARRIVAL_LIMITS).toEqual(limits))

test.each([
  ['nothing in the first minute', { ageMs: 59_999, windowBytes: 0 }, false],
  ['nothing after it', { ageMs: 60_000, windowBytes: 0 }, true],
  ['64 KiB a second', { ageMs: 60_000, windowBytes: 65_536 }, false],
  ['one byte less', { ageMs: 60_000, windowBytes: 65_535 }, true],
  ['64 KiB in a check that came late', { ageMs: 60_000, windowMs: 1500, windowBytes: 98_304 }, false],
  ['fast, in the tenth minute', { ageMs: 599_999, windowBytes: 10 * MIB }, false],
  ['fast, after it', { ageMs: 600_000, windowBytes: 10 * MIB }, true],
  ['answered just now', { ageMs: 10, windowBytes: 0, answeredForMs: 4999 }, false],
  ['answered a while ago', { ageMs: 10, windowBytes: MIB, answeredForMs: 5000 }, true],
])('%s', (_, progress, late) => {
  expect(isLate({ windowMs: 1000, answeredForMs: null, ...progress }, limits)).toBe(late)
})

verifies('contract-18.arrival', '200 bodies of almost 4 MiB that never end hold 128 MiB together', async () => {
  const port = await start({ freeMs: 4000, lingerMs: 1000 })
  const chunk = Buffer.alloc(MIB, ' ')
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }, 10)
  const bodies = Array.from({ length: 200 }, () => begin(port, '/taken', 4 * MIB))
  for (const { socket } of bodies)
    for (let sent = 0; sent < 4; sent += 1) socket.write(sent < 3 ? chunk : chunk.subarray(1))
  const answers = await Promise.all(bodies.map(({ closed }) => closed))
  clearInterval(watch)
  const statuses = answers.map((said) => said.slice(9, 12))
  expect(new Set(statuses).has('408')).toBe(true)
  // Those beyond the limit are refused at once.
  const refused = answers.filter((said) => said.startsWith('HTTP/1.1 503'))
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.filter((said) => !/retry-after: 2/i.test(said))).toEqual([])
  expect(most).toBeLessThan(256 * MIB)
  // All of it was given back.
  const { socket, closed } = begin(port, '/taken', 4 * MIB, 'connection: close\r\n')
  socket.write(`{"x":"${'x'.repeat(4 * MIB - 8)}"}`)
  expect(await closed).toMatch(/^HTTP\/1.1 200 /)
})
