/** The one port: both scopes, health, docs and the first page, on one Fastify. */

import { createServer as createHttpServer, METHODS } from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance, LogController } from 'fastify'
import { FastifySSEPlugin } from 'fastify-sse-v2'
import { agUi } from '../../../openapi/operations/deploy/agUi.ts'
import { aiSdk } from '../../../openapi/operations/deploy/aiSdk.ts'
import { clientSecrets } from '../../../openapi/operations/deploy/clientSecrets.ts'
import { completions } from '../../../openapi/operations/deploy/completions.ts'
import { models } from '../../../openapi/operations/deploy/models.ts'
import { sessionCompletions } from '../../../openapi/operations/deploy/sessionCompletions.ts'
import { sessions } from '../../../openapi/operations/deploy/sessions.ts'
import { users } from '../../../openapi/operations/deploy/users.ts'
import { allSessions } from '../../../openapi/operations/operators/allSessions.ts'
import { audit } from '../../../openapi/operations/operators/audit.ts'
import { auth } from '../../../openapi/operations/operators/auth.ts'
import { debug } from '../../../openapi/operations/operators/debug.ts'
import { health } from '../../../openapi/operations/operators/health.ts'
import { playground } from '../../../openapi/operations/operators/playground.ts'
import { replyTraces } from '../../../openapi/operations/operators/replyTraces.ts'
import { usage } from '../../../openapi/operations/operators/usage.ts'
import { agents } from '../../../openapi/operations/records/agents.ts'
import { agentTools } from '../../../openapi/operations/records/agentTools.ts'
import { builtInTools } from '../../../openapi/operations/records/builtInTools.ts'
import { httpTools } from '../../../openapi/operations/records/httpTools.ts'
import { keys } from '../../../openapi/operations/records/keys.ts'
import { mcpServers } from '../../../openapi/operations/records/mcpServers.ts'
import { prices } from '../../../openapi/operations/records/prices.ts'
import { prompts } from '../../../openapi/operations/records/prompts.ts'
import { providers } from '../../../openapi/operations/records/providers.ts'
import { transfer } from '../../../openapi/operations/records/transfer.ts'
import { webhooks } from '../../../openapi/operations/records/webhooks.ts'
import type { WorkOutNames } from '../../actors/ports/index.ts'
import { auditHandlers } from '../../features/audit/routes/audit-handlers.ts'
import type { SessionMakingDependencies } from '../../features/branches/routes/new-session.ts'
import { keyHandlers } from '../../features/keys/routes/key-handlers.ts'
import type { KeyList } from '../../features/keys/routes/key-list.ts'
import { priceHandlers } from '../../features/limits/routes/prices.ts'
import { type UsageDependencies, usageHandlers } from '../../features/limits/routes/usage.ts'
import { createSessionFeed } from '../../features/live-lists/routes/session-feed.ts'
import { type DebugDependencies, debugHandlers } from '../../features/traces/routes/debug.ts'
import { type ReplyTraceDependencies, replyTraceHandlers } from '../../features/traces/routes/reply-traces.ts'
import { transferHandlers, transferScope } from '../../features/transfer/routes/transfer.ts'
import { clientSecretHandlers } from '../../features/users/access/client-secret-handlers.ts'
import { createClientSecrets } from '../../features/users/access/client-secrets.ts'
import type { RevocationList } from '../../features/users/access/revocations.ts'
import { userHandlers } from '../../features/users/access/users.ts'
import { type Credential, knownCredentials } from '../../features/users/login/credentials.ts'
import { loginHandlers } from '../../features/users/login/login.ts'
import { loginSessions } from '../../features/users/login/login-session.ts'
import { type WebhookDependencies, webhookHandlers } from '../../features/webhooks/routes/webhook-handlers.ts'
import { maskedFields } from '../../untrusted/masked-log.ts'
import { createEditing } from '../management/editing/two-editors.ts'
import { agentToolHandlers } from '../management/records/agent-tools.ts'
import { agentHandlers, type DeleteInTransaction } from '../management/records/agents.ts'
import { type BuiltInTool, builtInToolHandlers } from '../management/records/built-in-tools.ts'
import { type HttpToolDependencies, httpToolHandlers } from '../management/records/http-tools.ts'
import { type McpServerDependencies, mcpServerHandlers } from '../management/records/mcp-servers.ts'
import { promptHandlers } from '../management/records/prompts.ts'
import { providerHandlers } from '../management/records/providers.ts'
import { managementScope } from '../management/scope.ts'
import { type BreakIt, registerBreakIt } from '../pages/break-it.ts'
import { registerDocs } from '../pages/docs.ts'
import { registerUi } from '../pages/ui.ts'
import type { SendDependencies } from '../sending/send-message.ts'
import { closeUnreadAnswers } from '../streaming/unread-answers.ts'
import { agUiHandlers } from '../wires/ag-ui/routes.ts'
import { aiSdkHandlers } from '../wires/ai-sdk/routes.ts'
import { type CompletionDependencies, completionHandlers } from '../wires/chat/completions.ts'
import { modelHandlers } from '../wires/chat/models.ts'
import { deployScope, mountDeploy } from '../wires/chat/scope.ts'
import { sessionCompletionHandlers } from '../wires/chat/session-completions.ts'
import { sessionHandlers } from '../wires/chat/sessions.ts'
import { allSessionHandlers } from '../wires/playground/all-sessions.ts'
import { playgroundHandlers } from '../wires/playground/playground.ts'
import type { PlaygroundDependencies } from '../wires/playground/playground-actions.ts'
import { mountResponses } from '../wires/responses/routes.ts'
import { ignoreBodies } from './body.ts'
import { createSeldomLog } from './database-errors/seldom-log.ts'
import { healthHandlers } from './health.ts'
import { refuseSecondHost } from './hosts.ts'
import { mount } from './mount.ts'
import { observeRequests, type RequestObserver, requestId } from './observe-requests.ts'
import { answerUnknownPaths, readableUrl, shownPath } from './paths.ts'
import { endPipelines } from './request-body/pipelined.ts'
import { endSlowRequests } from './request-body/slow-requests.ts'
import { trustedProxies } from './trusted-proxies.ts'

export interface ServerOptions {
  logLevel: string
  /** Takes the log's lines. Standard output by default. */
  logStream?: LogStream | undefined
  maxBodyBytes: number
  trustProxy: number | string[] | null
  deployKeys: readonly string[]
  credentials: Credential[] | null
  hosts: { allowedHosts: readonly string[]; loopbackOnly: boolean }
}

export interface LogStream {
  /** A line of JSON, with its end. */
  write(line: string): void
}

/** What requests reach. */
export type HttpDependencies = CompletionDependencies &
  SendDependencies &
  SessionMakingDependencies &
  DebugDependencies &
  ReplyTraceDependencies &
  UsageDependencies &
  Pick<Parameters<typeof providerHandlers>[0], 'providerTypes' | 'testProvider'> & {
    deleteAgent(agentId: string, inTransaction: DeleteInTransaction): Promise<boolean>
    builtInTools: readonly BuiltInTool[]
    workOutNames: WorkOutNames
    requestObservers: readonly RequestObserver[]
    revocations: RevocationList
    namedKeys: KeyList
    /** The ping of readiness (health.ts). */
    ping(): Promise<void>
    breakIt: BreakIt | null
  } & HttpToolDependencies &
  McpServerDependencies &
  WebhookDependencies

/** Milliseconds. Of headers; bodies are timed by endSlowRequests. Node looks every 30 s by itself. */
const TIMES = {
  headersTimeout: 60_000,
  requestTimeout: 0,
  connectionsCheckingInterval: 5000,
  keepAliveTimeout: 72_000, // longer than a balancer keeps a connection, which else sends into one that closes
}

/** Fastify with its logger, before anything is mounted: everything else logs through it. */
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

/** See seldom-log.ts. */
function seldomMethod() {
  const seldom = createSeldomLog()
  return function (this: unknown, args: unknown[], method: (...args: unknown[]) => void): void {
    const changed = seldom(args[0], args[1])
    if (changed !== null) method.apply(this, changed === 'as it is' ? args : changed)
  }
}

/** What holds for every request, whoever sends it and whatever answers. */
function guardConnections(app: FastifyInstance): void {
  endSlowRequests(app)
  closeUnreadAnswers(app)
  app.addHook('onRequest', async (request, reply) => {
    refuseSecondHost(request)
    reply.header('x-content-type-options', 'nosniff') // a browser that opens an answer must not guess what it is
  })
}

export async function mountAll(app: FastifyInstance, options: ServerOptions, given: HttpDependencies): Promise<void> {
  const { sql, host } = given
  const sessionFeed = createSessionFeed(sql, (err) => app.log.warn({ err }, 'Changes were not read.'))
  const deps = { ...given, sessionFeed }
  observeRequests(app, deps.requestObservers)
  guardConnections(app)
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
  mount(app, health, healthHandlers({ ping: deps.ping, draining: host.draining, cache: deps.coordination.cache }))
  const sendPage = await registerUi(app, { login: options.credentials ? 'required' : 'none' })
  answerUnknownPaths(app, sendPage)
  await registerBreakIt(app, sendPage, deps.breakIt)
  const deployDependencies = {
    ...deps,
    keys: options.deployKeys,
    clientSecrets: createClientSecrets(deps.secrets.derive('client secrets')),
  }
  await app.register((scope) =>
    deployScope(scope, {
      deps: deployDependencies,
      hosts: options.hosts,
      routes: (deploy) => mountDeployRoutes(deploy, deployDependencies),
    }),
  )
  const credentials = options.credentials && knownCredentials(options.credentials)
  const logins = credentials && loginSessions(sql, credentials)
  await app.register((scope) =>
    managementScope(scope, {
      sessions: logins,
      namedKeys: deps.namedKeys,
      hosts: options.hosts,
      async routes(management) {
        await management.register(FastifySSEPlugin, { retryDelay: false })
        // After the answer to a change, requests are served by what was changed.
        management.addHook('onSend', async ({ method }) => {
          if (method !== 'GET' && method !== 'HEAD') deps.agents.forget()
        })
        const edited = createEditing(sql)
        mount(management, auth, loginHandlers(credentials && logins && { sql, credentials, sessions: logins }))
        mount(management, providers, edited(providers, providerHandlers(deps)))
        mount(management, prompts, edited(prompts, promptHandlers(deps)))
        mount(management, agents, edited(agents, agentHandlers({ ...deps, onAgentDelete: deps.deleteAgent })))
        mount(management, agentTools, edited(agentTools, agentToolHandlers(deps)))
        mount(management, builtInTools, builtInToolHandlers(deps))
        mount(management, httpTools, edited(httpTools, httpToolHandlers(deps)))
        mount(management, mcpServers, edited(mcpServers, mcpServerHandlers(deps)))
        const loginOf: PlaygroundDependencies['loginOf'] = async (request, reply) =>
          (await logins?.userOf(request, reply)) ?? null
        mount(management, audit, auditHandlers(deps))
        const deployNeedsKey = options.deployKeys.length > 0
        mount(management, keys, edited(keys, keyHandlers({ ...deps, deployNeedsKey, loginOf })))
        mount(management, webhooks, edited(webhooks, webhookHandlers(deps)))
        mount(management, playground, playgroundHandlers({ ...deps, loginOf }))
        mount(management, allSessions, allSessionHandlers(deps))
        mount(management, debug, debugHandlers(deps))
        mount(management, replyTraces, replyTraceHandlers(deps))
        mount(management, prices, edited(prices, priceHandlers(deps)))
        mount(management, usage, usageHandlers(deps))
        await management.register(transferScope((scope) => mount(scope, transfer, transferHandlers(deps))))
        await registerDocs(management)
      },
    }),
  )
}

type DeployRoutes = HttpDependencies &
  Parameters<typeof sessionHandlers>[0] &
  Parameters<typeof clientSecretHandlers>[0]

function mountDeployRoutes(deploy: FastifyInstance, deps: DeployRoutes): void {
  mountDeploy(deploy, completions, completionHandlers(deps))
  mountDeploy(deploy, models, modelHandlers(deps))
  mountDeploy(deploy, sessions, sessionHandlers(deps))
  mountDeploy(deploy, sessionCompletions, sessionCompletionHandlers(deps))
  mountDeploy(deploy, aiSdk, aiSdkHandlers(deps))
  mountResponses(deploy, deps)
  mountDeploy(deploy, agUi, agUiHandlers(deps))
  mountDeploy(deploy, clientSecrets, clientSecretHandlers(deps))
  mountDeploy(deploy, users, userHandlers(deps))
}

/** `http://host:port`, for a log or a test. */
export function addressOf(address: AddressInfo | string | null, host: string): string {
  if (address === null || typeof address === 'string') return String(address)
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`
}
