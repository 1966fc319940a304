/** A server of one's own with limits of milliseconds, and requests that arrive slowly. */
import { connect, type Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { auth } from '../../../openapi/operations/operators/auth.ts'
import { sendManagementError } from '../../../src/http/management/errors.ts'
import { registerJson } from '../../../src/http/server/body.ts'
import { HttpError } from '../../../src/http/server/http-error.ts'
import {
  ARRIVAL_LIMITS,
  type ArrivalLimits,
  endSlowRequests,
} from '../../../src/http/server/request-body/slow-requests.ts'

export const MIB = 2 ** 20
const open: FastifyInstance[] = []
/** Closes the servers of a test. */
export async function closeAll(): Promise<void> {
  for (const app of open.splice(0)) await app.close()
}

/** Starts a server with these limits. Resolves to its port. */
export async function start(limits: Partial<ArrivalLimits>, bodyLimit = 4 * MIB): Promise<number> {
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

/** Begins a request whose body has so many bytes, of which `body` is sent with its head: nothing, unless it is given. */
export function begin(
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
