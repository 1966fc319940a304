/** The one port: both scopes, health, docs and the first page, on one Fastify. */
import Fastify, { type FastifyInstance, LogController } from 'fastify'
import { FastifySSEPlugin } from 'fastify-sse-v2'
import { agents } from '../../openapi/operations/agents.ts'
import { auth } from '../../openapi/operations/auth.ts'
import { completions } from '../../openapi/operations/completions.ts'
import { debug } from '../../openapi/operations/debug.ts'
import { health } from '../../openapi/operations/health.ts'
import { playground } from '../../openapi/operations/playground.ts'
import { prompts } from '../../openapi/operations/prompts.ts'
import { providers } from '../../openapi/operations/providers.ts'
import { sessionCompletions } from '../../openapi/operations/sessionCompletions.ts'
import { sessions } from '../../openapi/operations/sessions.ts'
import { type CompletionRooms, completionHandlers } from './deploy/completions.ts'
import { deployScope } from './deploy/scope.ts'
import { sessionCompletionHandlers } from './deploy/session-completions.ts'
import { sessionHandlers } from './deploy/sessions.ts'
import { registerDocs, registerPage } from './docs.ts'
import { answerUnknownPaths, sendFrameworkError } from './framework-errors.ts'
import { healthHandlers } from './health.ts'
import { agentHandlers } from './management/agents.ts'
import { type Credential, knownCredentials } from './management/credentials.ts'
import { type DebugRooms, debugHandlers } from './management/debug.ts'
import { loginHandlers } from './management/login.ts'
import { loginSessions } from './management/login-session.ts'
import { playgroundHandlers } from './management/playground.ts'
import { promptHandlers } from './management/prompts.ts'
import { providerHandlers } from './management/providers.ts'
import { managementScope } from './management/scope.ts'
import { mount } from './mount.ts'

export interface ServerOptions {
  logLevel: string
  maxBodyBytes: number
  trustProxy: number | string[] | null
  deployKeys: readonly string[]
  credentials: Credential[] | null
  hosts: { allowedHosts: readonly string[]; loopbackOnly: boolean }
}

/** What requests reach. */
export type HttpRooms = CompletionRooms &
  DebugRooms &
  Pick<Parameters<typeof providerHandlers>[0], 'providerTypes' | 'testProvider'> & {
    deleteAgent(agentId: string): Promise<boolean>
  }

/** Fastify with its logger, before anything is mounted: the other rooms log through it. */
export function createServer({ logLevel, maxBodyBytes, trustProxy }: ServerOptions): FastifyInstance {
  return Fastify({
    bodyLimit: maxBodyBytes,
    ...(trustProxy === null ? {} : { trustProxy: trusted(trustProxy) }),
    logger: {
      level: logLevel,
      redact: ['req.headers.authorization', 'req.headers.cookie', 'apiKey', '*.apiKey', 'password', '*.password'],
    },
    // Two lines a request cost more than the request; `debug` brings one (below).
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
    frameworkErrors: sendFrameworkError,
  })
}

/** A number of hops, or who they are. */
const trusted = (rule: number | string[]) => (typeof rule === 'number' ? (_: string, hop: number) => hop < rule : rule)

export async function mountAll(app: FastifyInstance, options: ServerOptions, rooms: HttpRooms): Promise<void> {
  const { sql, host } = rooms
  app.addHook('onResponse', async (request, reply) => {
    request.log.debug({ method: request.method, url: request.url, status: reply.statusCode, ms: reply.elapsedTime }, 'answered')
  })
  answerUnknownPaths(app)
  const ping = async () => {
    await sql`select 1`
  }
  mount(app, health, healthHandlers({ ping, draining: () => host.draining }))
  await registerPage(app)
  await app.register((scope) =>
    deployScope(scope, {
      keys: options.deployKeys,
      hosts: options.hosts,
      routes(deploy) {
        mount(deploy, completions, completionHandlers(rooms))
        mount(deploy, sessions, sessionHandlers(rooms))
        mount(deploy, sessionCompletions, sessionCompletionHandlers(rooms))
      },
    }),
  )
  const credentials = options.credentials && knownCredentials(options.credentials)
  const logins = credentials && loginSessions(sql, credentials)
  await app.register((scope) =>
    managementScope(scope, {
      sessions: logins,
      hosts: options.hosts,
      async routes(management) {
        await management.register(FastifySSEPlugin, { retryDelay: false })
        mount(management, auth, loginHandlers(credentials && logins && { sql, credentials, sessions: logins }))
        mount(management, providers, providerHandlers(rooms))
        mount(management, prompts, promptHandlers(rooms))
        mount(management, agents, agentHandlers({ sql, onAgentDelete: rooms.deleteAgent }))
        mount(management, playground, playgroundHandlers(rooms))
        mount(management, debug, debugHandlers(rooms))
        await registerDocs(management)
      },
    }),
  )
}
