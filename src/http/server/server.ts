/** The one port: Fastify with its logger, and what holds for every request. */

import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance, LogController } from 'fastify'
import { maskedFields } from '../../untrusted/masked-log.ts'
import { closeUnreadAnswers } from '../streaming/unread-answers.ts'
import { ignoreBodies } from './body.ts'
import { createSeldomLog } from './database-errors/seldom-log.ts'
import { refuseSecondHost } from './hosts.ts'
import { observeRequests, type RequestObserver, requestId } from './observe-requests.ts'
import { readableUrl, shownPath } from './paths.ts'
import { endPipelines } from './request-body/pipelined.ts'
import { endSlowRequests } from './request-body/slow-requests.ts'
import { trustedProxies } from './trusted-proxies.ts'

export interface ServerOptions {
  logLevel: string
  /** The stream that takes the log's lines. Standard output by default. */
  logStream?: LogStream | undefined
  maxBodyBytes: number
  trustProxy: number | string[] | null
}

export interface LogStream {
  /** Writes a line of JSON, with its end. */
  write(line: string): void
}

/** Milliseconds. Of headers; bodies are timed by endSlowRequests. Node looks every 30 s by itself. */
const TIMES = {
  headersTimeout: 60_000,
  requestTimeout: 0,
  connectionsCheckingInterval: 5000,
  keepAliveTimeout: 72_000, // longer than a balancer keeps a connection, which else sends into one that closes
}

/** By an import of it, Node.js loads its own client too, which a tenth of a start would go into. */
const { createServer: createHttpServer, METHODS } = process.getBuiltinModule('node:http')

/** Input is checked by `mount`, and answers are written as they are: Fastify would load two compilers of schemas for nothing. */
const noCompilers = { buildValidator: refuseSchema, buildSerializer: refuseSchema }

function refuseSchema(): never {
  throw new Error('Routes have no schema of Fastify: declare an operation, and mount it.')
}

/** Makes Fastify with its logger, before anything is mounted: everything else logs through it. */
export function createServer({ logLevel, logStream, maxBodyBytes, trustProxy }: ServerOptions): FastifyInstance {
  return Fastify({
    bodyLimit: maxBodyBytes,
    serverFactory: (handler) => createHttpServer(TIMES, endPipelines(handler)),
    requestIdHeader: false,
    genReqId: requestId,
    // Ids of any length reach their own scope, which answers in its own format: Node limits the path to 16 KiB.
    routerOptions: { maxParamLength: 16 * 1024 },
    ...(trustProxy === null ? {} : { trustProxy: trustedProxies(trustProxy) }),
    logger: {
      level: logLevel,
      ...(logStream ? { stream: logStream } : {}),
      serializers: {
        req: (request) => ({ method: request.method, url: shownPath(request.url) }),
        ...maskedFields,
      },
      hooks: { logMethod: seldomMethod() },
      redact: ['req.headers.authorization', 'req.headers.cookie', 'apiKey', '*.apiKey', 'password', '*.password'],
    },
    // Two lines a request cost more than the request; `debug` brings one (below).
    logController: new LogController({ disableRequestLogging: true }),
    schemaController: { compilersFactory: noCompilers },
    pluginTimeout: 0, // what is mounted waits for nothing: more than 10 s are a busy machine, no reason to stop the start
    forceCloseConnections: 'idle', // see closeServer
    rewriteUrl: readableUrl,
  })
}

/**
 * Takes no connection more and answers what is under way: a request that was executed without an answer is sent again by
 * its client or balancer, and would be executed twice (seen: a session made twice). After `ms` open connections are cut.
 */
export async function closeServer(app: FastifyInstance, ms: number): Promise<void> {
  // Node closes the connections that are idle now, not those that will be after their answer.
  const idle = setInterval(() => app.server.closeIdleConnections(), 20)
  const late = setTimeout(() => app.server.closeAllConnections(), ms)
  await app.close().finally(() => {
    clearInterval(idle)
    clearTimeout(late)
  })
}

/** Returns a log method that leaves out repeated lines (seldom-log.ts). */
function seldomMethod() {
  const seldom = createSeldomLog()
  return function (this: unknown, args: unknown[], method: (...args: unknown[]) => void): void {
    const changed = seldom(args[0], args[1])
    if (changed !== null) method.apply(this, changed === 'as it is' ? args : changed)
  }
}

/** Adds to the server what holds for every request, whoever sends it and whatever answers. */
export function guardRequests(app: FastifyInstance, observers: readonly RequestObserver[]): void {
  observeRequests(app, observers)
  endSlowRequests(app)
  closeUnreadAnswers(app)
  app.addHook('onRequest', (request, reply, done) => {
    refuseSecondHost(request)
    reply.header('x-content-type-options', 'nosniff') // a browser that opens an answer must not guess what it is
    done()
  })
  ignoreBodies(app)
  app.addHook('onResponse', async (request, reply) => {
    request.log.debug(
      { method: request.method, url: shownPath(request.url), status: reply.statusCode, ms: reply.elapsedTime },
      'answered',
    )
  })
  // Every method meets its scope's own key, login and error format. CONNECT is no request that Node hands on.
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method)
  }
}

/** Returns `http://host:port`, for a log or a test. */
export function addressOf(address: AddressInfo | string | null, host: string): string {
  if (address === null || typeof address === 'string') return String(address)
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`
}
