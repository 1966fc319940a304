/** The deploy scope: credentials and origins, `{error}` errors (specification 5.1 and 7.1, contract sections 3 and 11). */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Operation, type Operations, pathParams } from '../../../../openapi/operation.ts'
import type { KeyList } from '../../../features/keys/index.ts'
import { findSession } from '../../../features/sessions/index.ts'
import { admitShare, type ShareWatch, shareTokenOf } from '../../../features/shares/index.ts'
import {
  type AuthenticationDependencies,
  allowOrigin,
  answerPreflight,
  type Caller,
  callerOf,
  createAuthentication,
  createPreflightRefusal,
  type DeployExtra,
  isPreflight,
  keyIdOf,
  listedOrigin,
  opens,
  opensId,
  pathParam,
  type RevocationList,
  refuseForeignPage,
  requirePermission,
} from '../../../features/users/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import type { AgentLookup } from '../../../persistence/records/agent-lookup.ts'
import { registerJson } from '../../server/body.ts'
import { type HostRule, refuseForeignHosts } from '../../server/hosts.ts'
import { HttpError, missing } from '../../server/http-error.ts'
import { type HandlersOf, mount } from '../../server/mount.ts'
import { breakOffWith } from '../../streaming/break-off.ts'
import type { SharedReaders, SharedRequest } from '../shared/shared-answers.ts'
import { sendDeployError } from './errors.ts'
import { collectPaths, deployRoots } from './unknown-paths.ts'

const searchPath = '/api/v1/agents/:agent_id/deploy/sessions/search'

export interface DeployDependencies extends AuthenticationDependencies {
  sql: Sql
  agents: AgentLookup
  revocations: Pick<RevocationList, 'check' | 'watch'>
  namedKeys: Pick<KeyList, 'find' | 'get' | 'watch'>
  shareWatch: ShareWatch
  /** PUBLIC_URL. Null where it is not set. */
  givenUrl: string | null
}

export interface DeployScope {
  deps: DeployDependencies
  hosts: Pick<HostRule, 'allowedHosts' | 'loopbackOnly'>
  routes(scope: FastifyInstance): void
}

/** Mounts operations of this scope: what a client secret may do with each is declared in the contract (`secret`). */
export function mountDeploy<const Ops extends Operations>(
  scope: FastifyInstance,
  operations: Ops,
  handlers: HandlersOf<Ops, DeployExtra>,
  shared?: SharedReaders,
): void {
  for (const [id, { secret, share, path }] of Object.entries<Operation>(operations)) {
    const isGuarded = pathParams(path).includes('session_id')
    if (secret === 'session' && !isGuarded) throw new Error(`${id}: nobody compares the session: its path names none`)
    if (share && shared?.[id] === undefined) throw new Error(`${id}: nobody answers a share`)
  }
  mount<Ops, DeployExtra>(
    scope,
    operations,
    handlers,
    (request) => ({ caller: callerOf(request) }),
    (id, { share }) => {
      const read = shared?.[id]
      return share && read ? (input) => read(input as SharedRequest, share) : null // checked by the same operation
    },
  )
}

/**
 * Makes the deploy scope. Register it without a prefix. Unknown paths below `…/deploy` and `/api/v1/openai` are its own
 * too.
 */
export async function deployScope(app: FastifyInstance, { deps, hosts, routes }: DeployScope): Promise<void> {
  registerJson(app, 'deploy', holderOf, deps.givenUrl)
  app.decorateRequest('caller', null)
  app.decorateRequest('share', null)
  app.decorateRequest('breakOff', null)
  app.decorateRequest('actor', null)
  app.setErrorHandler(sendDeployError)
  const refuseHost = refuseForeignHosts({ ...hosts, needsCredential: deps.keys.length > 0 })
  const authenticate = createAuthentication(deps)
  const refusePreflight = createPreflightRefusal()
  // Before anything else is looked at: 401 comes before 403, 404 and 400.
  app.addHook('onRequest', async (request, reply) => {
    refuseHost(request)
    const listed = await listedOrigin(deps.agents, request)
    if (isPreflight(request)) return listed === null ? refusePreflight(request) : answerPreflight(reply, listed)
    const token = shareTokenOf(request)
    if (token !== null) {
      if (listed !== null) allowOrigin(reply, listed)
      await admitShare(deps, request, reply, token)
      return
    }
    let caller: Caller | null = null
    try {
      caller = await authenticate(request)
    } finally {
      // A page that holds the deploy key itself is not to work.
      if (listed !== null && caller?.kind !== 'key') allowOrigin(reply, listed)
    }
    request.caller = caller
    request.actor = actorOf(caller)
    refuseForeignPage(request, caller, listed)
    const { operation } = request.routeOptions.config
    if (operation?.streams !== undefined) breakOffOnRevocation(deps, request, reply, caller)
    if (caller.kind !== 'secret') return
    // An unknown path of its agent is 404, as for other callers; elsewhere a secret opens nothing.
    if (operation === undefined && pathParam(request, 'agent_id') !== null) return
    requirePermission(caller, operation ?? {})
  })
  app.addHook('preHandler', async (request) => {
    if (request.share) return // compared before anything was read
    refuseNameOfAgent(request)
    if (request.routeOptions.config.operation?.secret === 'session') await requireOwnSession(deps, request)
  })
  // Also where the answer has a header of its own: nobody keeps what a share showed.
  app.addHook('onSend', async (request, reply) => {
    if (request.share) reply.header('cache-control', 'no-store')
  })
  const refuseUnknown = collectPaths(app)
  routes(app)
  const unknown = async (request: FastifyRequest, reply: FastifyReply) => refuseUnknown(request, reply)
  // Else these methods would be a session's, by the id `search`.
  const others = ['POST', 'PUT', 'PATCH', 'DELETE']
  app.route({ method: others, url: searchPath, config: { refused: true }, onRequest: unknown, handler: unknown })
  for (const root of deployRoots) {
    for (const url of [root, `${root}/*`]) app.all(url, { onRequest: unknown }, unknown)
  }
}

/** Throws 404 where an agent's name stands in place of its id. */
function refuseNameOfAgent(request: FastifyRequest): void {
  const given = pathParam(request, 'agent_id')
  if (given === null || isUuid(given) || request.routeOptions.config.operation === undefined) return
  throw new HttpError(404, 'There is no such agent: the path takes its id. At /api/v1/openai its name is the model.')
}

/** Returns the holder of what a request brings: a user, a key, or where nobody asks for one an address. */
function holderOf(request: FastifyRequest): string {
  if (request.share) return `share ${request.share.id}`
  const caller = callerOf(request)
  if (caller.kind === 'secret') return `user ${caller.agentId} ${caller.user}`
  return caller.kind === 'key' ? `key ${caller.named?.id ?? ''}` : `address ${request.ip}`
}

/** Returns the caller as the audit names it. */
function actorOf(caller: Caller): NonNullable<FastifyRequest['actor']> {
  if (caller.kind === 'secret') return { actor: caller.user, actorKind: 'client_secret' }
  if (caller.kind === 'key' && caller.named) return { actor: caller.named.name, actorKind: 'key' }
  return { actor: null, actorKind: 'deploy_key' }
}

/** Ends the answer with the credentials that it was asked for with. */
export function breakOffOnRevocation(
  { revocations, namedKeys }: { revocations: Pick<RevocationList, 'watch'>; namedKeys: Pick<KeyList, 'watch'> },
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller,
): void {
  const keyId = keyIdOf(caller)
  breakOffWith(request, reply, () => [
    ...(caller.kind === 'secret' ? [revocations.watch(caller)] : []),
    ...(keyId === null ? [] : [namedKeys.watch(keyId)]),
  ])
}

/** Throws 404, as for an unknown session, where a client secret does not open the one that the path names. */
async function requireOwnSession({ sql }: DeployDependencies, request: FastifyRequest): Promise<void> {
  const caller = callerOf(request)
  if (caller.kind !== 'secret') return
  const sessionId = pathParam(request, 'session_id')
  if (sessionId === null || !opensId(caller, sessionId)) missing('session')
  const session = await findSession(sql, caller.agentId, sessionId)
  if (session === null || !opens(caller, session)) missing('session')
}
