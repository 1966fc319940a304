/** Contract section 18: a request arrives in time, or is not waited for. Real sockets, with limits of milliseconds. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, expect, test } from 'vitest'
import { auth } from '../../../openapi/operations/operators/auth.ts'
import { sendManagementError } from '../../../src/http/management/errors.ts'
import { registerJson } from '../../../src/http/server/body.ts'
import { HttpError } from '../../../src/http/server/http-error.ts'
import {
  ARRIVAL_LIMITS,
  type ArrivalLimits,
  endSlowRequests,
  isLate,
} from '../../../src/http/server/request-body/slow-requests.ts'
import { verifies } from '../../verifies.ts'

const MIB = 2 ** 20
setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')
const open: FastifyInstance[] = []
afterEach(async () => {
  for (const app of open.splice(0)) await app.close()
})

async function start(limits: Partial<ArrivalLimits>, bodyLimit = 4 * MIB): Promise<number> {
  const app = Fastify({ bodyLimit, forceCloseConnections: true })
  open.push(app)
  endSlowRequests(app, { ...ARRIVAL_LIMITS, checkMs: 20, ...limits })
  await app.register(async (scope) => {
    registerJson(scope, 'deploy', ({ headers }) => headers['x-holder']?.toString() ?? 'somebody')
    scope.setErrorHandler(sendManagementError)
    scope.addHook('onRequest', async ({ headers }) => {
      if (headers.authorization === 'wrong') throw new HttpError(401, 'Log in first.')
    })
    scope.post('/taken', async () => ({ taken: true }))
    scope.post('/open', { config: { operation: auth.login } }, async () => ({ taken: true }))
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

/** A request whose body has so many bytes, of which `body` is sent with its head: nothing, unless it is given. */
function begin(
  port: number,
  path: string,
  length: number,
  more = '',
  body = '',
): { socket: Socket; closed: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
  let said = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    said += text
  })
  socket.on('error', () => {}) // the server may have gone while we still write
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${more}content-length: ${length}\r\n\r\n${body}`,
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
  const port = await start({}, MIB / 2)
  const { socket, closed } = begin(port, '/taken', MIB)
  const [answer] = await once(socket, 'data')
  expect(answer).toMatch(/^HTTP\/1.1 413 /)
  expect(answer).not.toMatch(/^connection: close/im)
  socket.write(Buffer.alloc(MIB, ' '))
  socket.end(
    'POST /taken HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}',
  )
  expect(await closed).toMatch(/HTTP\/1.1 200 .*\{"taken":true\}$/s)
})

verifies(
  'contract-26.refused-bodies',
  'of what a client writes on, 1 MiB is read, and its answer is there',
  async () => {
    const port = await start({})
    const { socket, closed } = begin(port, '/taken', 5 * MIB, 'connection: close\r\n')
    const faults: Error[] = []
    socket.on('error', (error) => faults.push(error))
    const [answer] = await once(socket, 'data')
    expect(answer).toMatch(/^HTTP\/1.1 413 /)
    expect(answer).toMatch(/^connection: close/im)
    await new Promise((resolve) => socket.write(Buffer.alloc(MIB), resolve))
    expect([faults, socket.destroyed]).toEqual([[], false])
    // Nobody waits for the rest.
    expect(await closed).toContain('HTTP/1.1 413')
  },
)

verifies('contract-26.refused-bodies', 'what is written beyond that is not read', async () => {
  const port = await start({ lingerMs: 500 })
  const { socket, closed } = begin(port, '/taken', 200 * MIB)
  await once(socket, 'data')
  let sent = 0
  const write = () => {
    while (!socket.destroyed && socket.write(Buffer.alloc(MIB / 4))) sent += MIB / 4
    socket.once('drain', write)
  }
  write()
  expect(await closed).toContain('HTTP/1.1 413')
  expect(sent).toBeLessThan(100 * MIB) // the system's own buffers are some MiB
})

verifies('contract-26.open-arrival', 'a body of a route without credential has 10 s', async () => {
  const port = await start({ openMs: 100 })
  const { socket, closed } = begin(port, '/open', 100)
  socket.write('{"x":')
  expect(await closed).toMatch(/^HTTP\/1.1 408 /)
  const other = begin(port, '/taken', 2, 'connection: close\r\n')
  await new Promise((resolve) => setTimeout(resolve, 300)) // as many checks
  other.socket.write('{}')
  expect(await other.closed).toMatch(/^HTTP\/1.1 200 /)
})

verifies('contract-18.arrival', 'streams that run after their request has arrived are untouched', async () => {
  const port = await start({ freeMs: 20, longestMs: 50, lingerMs: 20 })
  const { closed } = begin(port, '/stream', 2, 'connection: close\r\n', '{}')
  expect((await closed).split('data: x').length - 1).toBe(30)
})

const limits = {
  freeMs: 60_000,
  bytesPerS: 65_536,
  longestMs: 600_000,
  openMs: 10_000,
  lingerMs: 2000,
  lingerBytes: MIB,
  checkMs: 1000,
}

verifies('contract-18.arrival', 'the limits are those of the contract', () => expect(ARRIVAL_LIMITS).toEqual(limits))

test.each([
  ['nothing in the first minute', { ageMs: 59_999, windowBytes: 0 }, false],
  ['nothing after it', { ageMs: 60_000, windowBytes: 0 }, true],
  ['64 KiB a second', { ageMs: 60_000, windowBytes: 65_536 }, false],
  ['one byte less', { ageMs: 60_000, windowBytes: 65_535 }, true],
  ['64 KiB in a check that came late', { ageMs: 60_000, windowMs: 1500, windowBytes: 98_304 }, false],
  ['fast, in the tenth minute', { ageMs: 599_999, windowBytes: 10 * MIB }, false],
  ['fast, after it', { ageMs: 600_000, windowBytes: 10 * MIB }, true],
  ['within 10 s, without a credential', { ageMs: 9999, longestMs: 10_000, windowBytes: MIB }, false],
  ['after them', { ageMs: 10_000, longestMs: 10_000, windowBytes: MIB }, true],
])('%s', (_, progress, late) => {
  expect(isLate({ windowMs: 1000, longestMs: 600_000, ...progress }, limits)).toBe(late)
})

verifies(
  'contract-26.shares',
  '200 bodies of one holder that never end hold 48 MiB, and keep nobody else out',
  async () => {
    // This process writes 800 MB meanwhile: two whole bodies must come through in that time.
    const port = await start({ freeMs: 10_000, lingerMs: 1000 })
    const chunk = Buffer.alloc(MIB, ' ')
    collect()
    const before = process.memoryUsage().arrayBuffers
    let most = 0
    const watch = setInterval(() => {
      collect() // what nobody holds any more does not count
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    }, 200)
    const bodies = Array.from({ length: 200 }, () => begin(port, '/taken', 4 * MIB))
    for (const { socket } of bodies)
      for (let sent = 0; sent < 4; sent += 1) socket.write(sent < 3 ? chunk : chunk.subarray(1))
    await Promise.race(bodies.map(({ socket }) => once(socket, 'data'))) // one of them is too much
    const large = `{"x":"${'x'.repeat(4 * MIB - 8)}"}`
    const send = async (body: string, more = '') => {
      const { socket, closed } = begin(port, '/taken', body.length, `connection: close\r\n${more}`)
      socket.write(body)
      return (await closed).slice(9, 12)
    }
    expect(await Promise.all([send(large, 'x-holder: other\r\n'), send(`{"x":"${'x'.repeat(16_000)}"}`)])).toEqual([
      '200',
      '200',
    ])
    const answers = await Promise.all(bodies.map(({ closed }) => closed))
    clearInterval(watch)
    const statuses = answers.map((said) => said.slice(9, 12))
    expect(new Set(statuses).has('408')).toBe(true)
    // Those beyond the limit are refused at once.
    const refused = answers.filter((said) => said.startsWith('HTTP/1.1 503'))
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.filter((said) => !/retry-after: 2/i.test(said))).toEqual([])
    expect(most).toBeLessThan(176 * MIB) // the client and what the sockets read included
    // All of it was given back.
    expect(await send(large)).toBe('200')
  },
)

verifies('contract-26.shares', 'what is announced counts for nothing, and small bodies for nobody', async () => {
  const port = await start({ freeMs: 60_000 })
  const bodies = Array.from({ length: 2000 }, () => begin(port, '/taken', 4 * MIB))
  const halves = await Promise.all(
    bodies.map(async ({ socket }) => await new Promise((resolve) => socket.write('{"x":"', resolve))),
  )
  expect(halves.length).toBe(2000)
  const { socket, closed } = begin(port, '/taken', 4 * MIB, 'connection: close\r\n')
  socket.write(`{"x":"${'x'.repeat(4 * MIB - 8)}"}`)
  expect(await closed).toMatch(/^HTTP\/1.1 200 /)
  for (const one of bodies) one.socket.destroy()
})
