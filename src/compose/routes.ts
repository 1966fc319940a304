/** Wires up all routes: both scopes, health, docs and the first page, on one Fastify. */

import type { FastifyInstance } from 'fastify'
import { FastifySSEPlugin } from 'fastify-sse-v2'
import { agUi } from '../../openapi/operations/deploy/agUi.ts'
import { aiSdk } from '../../openapi/operations/deploy/aiSdk.ts'
import { childSessions } from '../../openapi/operations/deploy/childSessions.ts'
import { clientSecrets } from '../../openapi/operations/deploy/clientSecrets.ts'
import { completions } from '../../openapi/operations/deploy/completions.ts'
import { connections } from '../../openapi/operations/deploy/connections.ts'
import { decisions } from '../../openapi/operations/deploy/decisions.ts'
import { feedback } from '../../openapi/operations/deploy/feedback.ts'
import { agentFiles, files } from '../../openapi/operations/deploy/files.ts'
import { models } from '../../openapi/operations/deploy/models.ts'
import { search } from '../../openapi/operations/deploy/search.ts'
import { sessionCompletions } from '../../openapi/operations/deploy/sessionCompletions.ts'
import { sessions } from '../../openapi/operations/deploy/sessions.ts'
import { shares } from '../../openapi/operations/deploy/shares.ts'
import { users } from '../../openapi/operations/deploy/users.ts'
import { allSessions } from '../../openapi/operations/operators/allSessions.ts'
import { audit } from '../../openapi/operations/operators/audit.ts'
import { auth } from '../../openapi/operations/operators/auth.ts'
import { debug } from '../../openapi/operations/operators/debug.ts'
import { health } from '../../openapi/operations/operators/health.ts'
import { knownDecisions } from '../../openapi/operations/operators/knownDecisions.ts'
import { playground } from '../../openapi/operations/operators/playground.ts'
import { playgroundChildren } from '../../openapi/operations/operators/playgroundChildren.ts'
import { replyTraces } from '../../openapi/operations/operators/replyTraces.ts'
import { usage } from '../../openapi/operations/operators/usage.ts'
import { agents } from '../../openapi/operations/records/agents.ts'
import { agentTools } from '../../openapi/operations/records/agentTools.ts'
import { builtInTools } from '../../openapi/operations/records/builtInTools.ts'
import { httpTools } from '../../openapi/operations/records/httpTools.ts'
import { keys } from '../../openapi/operations/records/keys.ts'
import { mcpConnections } from '../../openapi/operations/records/mcpConnections.ts'
import { mcpServers } from '../../openapi/operations/records/mcpServers.ts'
import { prices } from '../../openapi/operations/records/prices.ts'
import { prompts } from '../../openapi/operations/records/prompts.ts'
import { providers } from '../../openapi/operations/records/providers.ts'
import { replays } from '../../openapi/operations/records/replays.ts'
import { transfer } from '../../openapi/operations/records/transfer.ts'
import { versions } from '../../openapi/operations/records/versions.ts'
import { webhooks } from '../../openapi/operations/records/webhooks.ts'
import { decisionHandlers, knownDecisionHandlers } from '../features/approvals/routes/remembered-handlers.ts'
import { auditHandlers } from '../features/audit/routes/audit-handlers.ts'
import { createSessionReads } from '../features/audit/routes/session-reads.ts'
import type { SessionMakingDependencies } from '../features/branches/routes/new-session.ts'
import { idsBelow } from '../features/children/index.ts'
import {
  connectionHandlers,
  deleteUserConnections,
  mcpConnectionHandlers,
  registerSignIns,
  type SignIns,
  userConnections,
} from '../features/connections/index.ts'
import { fileHandlers, takeForms, userFiles } from '../features/files/routes/file-handlers.ts'
import { keyHandlers } from '../features/keys/routes/key-handlers.ts'
import type { KeyList } from '../features/keys/routes/key-list.ts'
import { priceHandlers } from '../features/limits/routes/prices.ts'
import { type UsageDependencies, usageHandlers } from '../features/limits/routes/usage.ts'
import type { Followers } from '../features/live-lists/index.ts'
import { createSessionFeed } from '../features/live-lists/routes/session-feed.ts'
import type { OidcSignIn } from '../features/oidc/open-oidc.ts'
import { registerOidc } from '../features/oidc/routes/oidc-routes.ts'
import { type ReplayDependencies, replayHandlers } from '../features/replays/routes/replay-handlers.ts'
import { createSearches, type RunSearch } from '../features/search/routes/run-search.ts'
import { searchHandlers } from '../features/search/routes/search-handlers.ts'
import { playgroundShareHandlers, shareHandlers } from '../features/shares/routes/share-handlers.ts'
import type { ShareWatch } from '../features/shares/routes/share-watch.ts'
import { endSharesOf } from '../features/shares/store/shares.ts'
import { type DebugDependencies, debugHandlers } from '../features/traces/routes/debug.ts'
import { type ReplyTraceDependencies, replyTraceHandlers } from '../features/traces/routes/reply-traces.ts'
import { transferHandlers, transferScope } from '../features/transfer/routes/transfer.ts'
import { clientSecretHandlers } from '../features/users/access/client-secret-handlers.ts'
import { createClientSecrets } from '../features/users/access/client-secrets.ts'
import type { RevocationList } from '../features/users/access/revocations.ts'
import { userHandlers } from '../features/users/access/users.ts'
import { type Credential, knownCredentials } from '../features/users/login/credentials.ts'
import { loginHandlers } from '../features/users/login/login.ts'
import { loginSessions } from '../features/users/login/login-session.ts'
import { asDrafts, statesBesideLive } from '../features/versions/index.ts'
import { versionHandlers } from '../features/versions/routes/version-handlers.ts'
import { type WebhookDependencies, webhookHandlers } from '../features/webhooks/routes/webhook-handlers.ts'
import { createEditing } from '../http/management/editing/two-editors.ts'
import { agentToolHandlers } from '../http/management/records/agent-tools.ts'
import { agentHandlers, type DeleteInTransaction } from '../http/management/records/agents.ts'
import { type BuiltInTool, builtInToolHandlers } from '../http/management/records/built-in-tools.ts'
import { type HttpToolDependencies, httpToolHandlers } from '../http/management/records/http-tools.ts'
import { type McpServerDependencies, mcpServerHandlers } from '../http/management/records/mcp-servers.ts'
import { promptHandlers } from '../http/management/records/prompts.ts'
import { providerHandlers } from '../http/management/records/providers.ts'
import { managementScope } from '../http/management/scope.ts'
import { registerDocs } from '../http/pages/docs.ts'
import { registerUi } from '../http/pages/ui.ts'
import type { SendDependencies } from '../http/sending/send-message.ts'
import { healthHandlers } from '../http/server/health.ts'
import { mount } from '../http/server/mount.ts'
import type { RequestObserver } from '../http/server/observe-requests.ts'
import { answerUnknownPaths } from '../http/server/paths.ts'
import { guardRequests } from '../http/server/server.ts'
import { agUiHandlers } from '../http/wires/ag-ui/routes.ts'
import { aiSdkHandlers } from '../http/wires/ai-sdk/routes.ts'
import { childSessionHandlers } from '../http/wires/chat/child-sessions.ts'
import { type CompletionDependencies, completionHandlers } from '../http/wires/chat/completions.ts'
import { feedbackHandlers } from '../http/wires/chat/feedback.ts'
import { agentNamed, modelHandlers } from '../http/wires/chat/models.ts'
import { deployScope, mountDeploy } from '../http/wires/chat/scope.ts'
import { sessionCompletionHandlers } from '../http/wires/chat/session-completions.ts'
import { sessionHandlers, wireSession } from '../http/wires/chat/sessions.ts'
import { mountMcp } from '../http/wires/mcp/routes.ts'
import { allSessionHandlers } from '../http/wires/playground/all-sessions.ts'
import { playgroundChildHandlers } from '../http/wires/playground/child-sessions.ts'
import { playgroundHandlers } from '../http/wires/playground/playground.ts'
import type { PlaygroundDependencies } from '../http/wires/playground/playground-actions.ts'
import { mountResponses } from '../http/wires/responses/routes.ts'
import { exportedForms } from '../http/wires/shared/exported-forms.ts'
import { sharedReaders } from '../http/wires/shared/shared-answers.ts'
import type { ClockWatch } from '../observability/clock-watch.ts'
import { findAgentsByModel } from '../persistence/records/agent-models.ts'
import type { WorkOutNames } from '../persistence/records/tools/configured-tools.ts'

export interface RouteOptions {
  deployKeys: readonly string[]
  credentials: Credential[] | null
  hosts: { allowedHosts: readonly string[]; loopbackOnly: boolean }
}

/** The things that requests reach. */
export type HttpDependencies = CompletionDependencies &
  Omit<ReplayDependencies, 'noteReads'> &
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
    shareWatch: ShareWatch
    followers: Followers
    /** Pings the database for readiness (health.ts). */
    ping(): Promise<void>
    clock: Pick<ClockWatch, 'isOff'>
    coordination: Pick<Parameters<typeof healthHandlers>[0], 'cache'>
    oidc: OidcSignIn | null
    signIns: SignIns
    /** Returns the address under which browsers reach the server. Null where that is not known. */
    publicUrl(): string | null
    /** PUBLIC_URL. Null where it is not set. */
    givenUrl: string | null
    fileLimits: Parameters<typeof fileHandlers>[0]['fileLimits']
  } & HttpToolDependencies &
  McpServerDependencies &
  WebhookDependencies

/** Mounts all routes. */
export async function mountAll(app: FastifyInstance, options: RouteOptions, given: HttpDependencies): Promise<void> {
  const { sql, host } = given
  const sessionFeed = createSessionFeed(sql, (err) => app.log.warn({ err }, 'Changes were not read.'))
  const deps = {
    ...given,
    sessionFeed,
    runSearch: createSearches(sql),
    statesBesideLive: (agentId: string, sessionId: string | null) => statesBesideLive(sql, agentId, sessionId),
  }
  guardRequests(app, deps.requestObservers)
  mount(app, health, healthHandlers({ ...deps, draining: host.draining, cache: deps.coordination.cache }))
  const needsLogin = options.credentials !== null || deps.oidc !== null
  const sendPage = await registerUi(app, { login: needsLogin ? 'required' : 'none' })
  answerUnknownPaths(app, sendPage)
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
  const { oidc, publicUrl } = deps
  const logins = needsLogin
    ? loginSessions(sql, credentials ?? knownCredentials([]), {
        others: oidc?.signIns ?? null,
        secure: publicUrl()?.startsWith('https:') ?? false,
      })
    : null
  if (oidc && logins)
    await registerOidc(app, {
      ...{ sql, sessions: logins, ...oidc },
      claim: oidc.settings.roles.claim,
      publicUrl: oidc.settings.publicUrl,
    })
  await registerSignIns(app, { ...deps, publicUrl: () => publicUrl() ?? '' })
  const noteReads = createSessionReads(sql)
  await app.register((scope) =>
    managementScope(scope, {
      sessions: logins,
      namedKeys: deps.namedKeys,
      hosts: options.hosts,
      noteReads,
      agentIdsOf: (name) => findAgentsByModel(sql, name, null),
      async routes(management) {
        await management.register(FastifySSEPlugin, { retryDelay: false })
        // After the answer to a change, requests are served by what was changed.
        management.addHook('onSend', async ({ method }) => {
          if (method !== 'GET' && method !== 'HEAD') deps.agents.forget()
        })
        const edited = createEditing(sql)
        const signIn = oidc && { url: () => `${publicUrl()}/api/auth/oidc/start`, signOutUrl: oidc.signIns.signOutUrl }
        mount(management, auth, loginHandlers(logins && { sql, credentials, sessions: logins, oidc: signIn }))
        mountRecords(management, deps, edited)
        mount(management, replays, replayHandlers({ ...deps, noteReads }))
        const loginOf: PlaygroundDependencies['loginOf'] = async (request, reply) =>
          (await logins?.personOf(request, reply))?.name ?? null
        mount(management, audit, auditHandlers(deps))
        const deployNeedsKey = options.deployKeys.length > 0
        mount(management, keys, edited(keys, keyHandlers({ ...deps, deployNeedsKey, loginOf })))
        mount(management, webhooks, edited(webhooks, webhookHandlers(deps)))
        mount(management, playground, { ...playgroundHandlers({ ...deps, loginOf }), ...playgroundShareHandlers(deps) })
        mount(management, playgroundChildren, playgroundChildHandlers(deps))
        mount(management, allSessions, allSessionHandlers({ ...deps, noteReads }))
        mount(management, knownDecisions, knownDecisionHandlers(deps))
        await management.register(
          transferScope((scope) => mount(scope, transfer, transferHandlers({ ...deps, asDrafts }))),
        )
        await registerDocs(management)
      },
    }),
  )
}

/** Mounts what agents are made of, and what is known of their replies: how they ran, and what they cost. */
function mountRecords(
  management: FastifyInstance,
  deps: HttpDependencies,
  edited: ReturnType<typeof createEditing>,
): void {
  mount(management, providers, edited(providers, providerHandlers(deps)))
  mount(management, prompts, edited(prompts, promptHandlers(deps)))
  mount(management, agents, edited(agents, agentHandlers({ ...deps, onAgentDelete: deps.deleteAgent })))
  mount(management, versions, versionHandlers(deps))
  mount(management, agentTools, edited(agentTools, agentToolHandlers(deps)))
  mount(management, builtInTools, builtInToolHandlers(deps))
  mount(management, httpTools, edited(httpTools, httpToolHandlers(deps)))
  mount(management, mcpServers, edited(mcpServers, mcpServerHandlers(deps)))
  mount(management, mcpConnections, mcpConnectionHandlers(deps))
  mount(management, debug, debugHandlers(deps))
  mount(management, replyTraces, replyTraceHandlers(deps))
  mount(management, prices, edited(prices, priceHandlers(deps)))
  mount(management, usage, usageHandlers(deps))
}

type DeployRoutes = HttpDependencies & { runSearch: RunSearch } & Parameters<typeof sessionHandlers>[0] &
  Parameters<typeof clientSecretHandlers>[0]

function mountDeployRoutes(deploy: FastifyInstance, deps: DeployRoutes): void {
  mountDeploy(deploy, completions, completionHandlers(deps))
  mountDeploy(deploy, models, modelHandlers(deps))
  mountDeploy(deploy, sessions, sessionHandlers(deps), sharedReaders(deps))
  mountDeploy(deploy, childSessions, childSessionHandlers(deps))
  mountDeploy(deploy, feedback, feedbackHandlers(deps))
  mountDeploy(deploy, sessionCompletions, sessionCompletionHandlers(deps), sharedReaders(deps))
  mountDeploy(deploy, search, searchHandlers({ ...deps, show: wireSession }))
  mountDeploy(deploy, shares, shareHandlers(deps))
  mountDeploy(deploy, aiSdk, aiSdkHandlers(deps))
  const sessionSecrets = deps.secrets.derive('response sessions')
  mountResponses(deploy, { ...deps, sessionSecrets })
  const { ofAgents, ofAll } = fileHandlers({ ...deps, agentNamed })
  deploy.register(async (scope) => {
    await takeForms(scope)
    mountDeploy(scope, files, ofAgents)
    mountDeploy(scope, agentFiles, ofAll)
  })
  mountDeploy(deploy, agUi, agUiHandlers(deps))
  mountMcp(deploy, { ...deps, sessionSecrets })
  mountDeploy(deploy, clientSecrets, clientSecretHandlers(deps))
  mountDeploy(
    deploy,
    users,
    userHandlers({
      ...deps,
      shown: exportedForms(deps.sql),
      sessionsBelow: idsBelow,
      endShares: endSharesOf,
      userFiles: userFiles(deps.sql),
      connections: { list: userConnections, delete: deleteUserConnections },
    }),
  )
  mountDeploy(deploy, connections, connectionHandlers(deps))
  mountDeploy(deploy, decisions, decisionHandlers(deps))
}
