/**
 * `/break-it`: a page of the demo with buttons that break this very process, its database, its provider and the page's
 * connections (contract section 16). It exists only for the person at this machine.
 */
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuseForeignHosts } from '../server/hosts.ts'
import { asksForPage, type SendPage } from './ui.ts'

export interface BreakIt {
  /** Returns the command that starts this process again, to be typed into a terminal. */
  command(port: number): string
  kill(): void
  pauseDatabase(): Promise<void>
  cutProvider(): void
  /** Returns whether the demo agent is there. */
  hasDemo(): Promise<boolean>
}

const gone = { message: 'There is nothing at this path.' }
const refuseHost = refuseForeignHosts({ allowedHosts: [], loopbackOnly: true, needsCredential: false })

/**
 * Registers the routes of `/break-it`. `breakIt` is null when the settings do not allow it. The routes are there all
 * the same, so that `/break-it` is 404 and no page.
 */
export async function registerBreakIt(app: FastifyInstance, sendPage: SendPage, breakIt: BreakIt | null) {
  const sockets = new Set<Socket>()
  app.server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const isAllowed = async (request: FastifyRequest) => breakIt !== null && isLocal(request) && (await breakIt.hasDemo())

  app.get('/break-it', async (request, reply) => {
    reply.header('vary', 'accept')
    if (await isAllowed(request)) return sendPage(reply)
    return asksForPage(request) ? sendPage(reply.code(404)) : reply.code(404).send(gone)
  })
  app.get('/break-it/status', async (request, reply) => {
    if (breakIt === null || !(await isAllowed(request))) return reply.code(404).send(gone)
    reply.header('cache-control', 'no-store')
    return { command: breakIt.command(request.socket.localPort ?? 0) }
  })
  const breaks: Record<string, (request: FastifyRequest, reply: FastifyReply) => Promise<void> | void> = {
    kill(_request, { raw }) {
      raw.once('finish', () => breakIt?.kill())
    },
    'pause-database': () => breakIt?.pauseDatabase(),
    'cut-provider': () => breakIt?.cutProvider(),
    'drop-connection'(request) {
      for (const socket of sockets) if (socket !== request.socket) socket.resetAndDestroy()
    },
  }
  for (const [name, breakOne] of Object.entries(breaks)) {
    app.post(`/break-it/${name}`, async (request, reply) => {
      if (!isOwnPage(request) || !(await isAllowed(request))) return reply.code(404).send(gone)
      await breakOne(request, reply)
      return reply.code(204).send()
    })
  }
}

const loopback = /^(?:::1|(?:::ffff:)?127\.\d+\.\d+\.\d+)$/
const ofProxies =
  /^(?:(?:x-)?forwarded(?:-.*)?|via|x-real-ip|(?:x-)?(?:true-)?client-ip|x-cluster-client-ip|x-originat.*-ip|cf-.*|fly-.*|fastly-.*|x-envoy-.*|x-azure-.*|cdn-loop|x-original-.*)$/

/**
 * Returns whether the request comes from this machine, with no proxy between, by a name that no foreign page can take.
 */
function isLocal(request: FastifyRequest): boolean {
  if (!loopback.test(request.socket.remoteAddress ?? '')) return false
  if (Object.keys(request.headers).some((name) => ofProxies.test(name))) return false
  try {
    refuseHost(request)
    return true
  } catch {
    return false
  }
}

const isOwnPage = ({ headers: { origin, host } }: FastifyRequest): boolean =>
  origin !== undefined && host !== undefined && origin.toLowerCase() === `http://${host.toLowerCase()}`
