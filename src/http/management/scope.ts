/** The management scope: cookie login, origin, `{message}` errors (contract section 2, specification 5.2). */
import cookie from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Operations, type Role, suffices } from '../../../openapi/operation.ts'
import { auth } from '../../../openapi/operations/operators/auth.ts'
import type { NoteReads } from '../../features/audit/index.ts'
import { type KeyList, managementKeyOf } from '../../features/keys/index.ts'
import { type LoginSessions, type Person, watchPerson } from '../../features/users/index.ts'
import { bearerOf, isClientSecret, isShareToken } from '../server/bearer.ts'
import { registerJson } from '../server/body.ts'
import { type HostRule, refuseForeignHosts } from '../server/hosts.ts'
import { HttpError } from '../server/http-error.ts'
import { refuseForeignOrigin } from '../server/origins.ts'
import { breakOffWith } from '../streaming/break-off.ts'
import { compactAnswers } from './compact-answers.ts'
import { sendManagementError } from './errors.ts'
import { refuseNameOfAgent } from './name-of-agent.ts'

export interface ManagementScope {
  /** Notes in the audit which sessions a person reads. */
  noteReads: NoteReads
  /** Null when no login is required. */
  sessions: LoginSessions | null
  namedKeys: Pick<KeyList, 'find' | 'watch'>
  hosts: Pick<HostRule, 'allowedHosts' | 'loopbackOnly'>
  /** Finds the agents of a name: one id, or two if several have it. */
  agentIdsOf(name: string): Promise<readonly string[]>
  /** Mounts the operations of the scope, and what else needs the login. */
  routes(scope: FastifyInstance): void | Promise<void>
}

/**
 * Makes the scope of management. Register it without a prefix: `app.register((scope) => managementScope(scope, {…}))`.
 * It also answers every unknown path under `/api`, with 404 `{message}`.
 */
export async function managementScope(
  app: FastifyInstance,
  { sessions, namedKeys, hosts, noteReads, agentIdsOf, routes }: ManagementScope,
) {
  await app.register(cookie)
  await compactAnswers(app)
  registerJson(app, 'management')
  app.setErrorHandler(sendManagementError)
  app.decorateRequest('actor', null)
  app.decorateRequest('breakOff', null)
  app.decorateRequest('person', null)
  app.decorateRequest('role', null)
  const refuseHost = refuseForeignHosts({ ...hosts, needsCredential: sessions !== null })
  // Checked before the body is read: no body is read without a login.
  app.addHook('onRequest', async (request, reply) => {
    refuseHost(request)
    if (isShareToken(bearerOf(request) ?? '')) throw new HttpError(401, 'A share opens nothing here.')
    // No page can make a browser send one: the rules for origins are those of cookies.
    const key = await managementKeyOf(namedKeys, request)
    const { operation } = request.routeOptions.config
    if (key !== null) {
      request.actor = { actor: key.name, actorKind: 'key' }
      request.role = key.role
      // The scope that opens it is enough, whatever the role.
      if (operation?.keyScope === undefined && key.role !== null) requireRole(key.role, operation?.role)
      if (operation?.streams !== undefined) breakOffWith(request, reply, () => [namedKeys.watch(key.id)])
      return
    }
    refuseForeignOrigin(request)
    const person = await requireLogin(sessions, request, reply)
    request.actor = { actor: person?.name ?? null, actorKind: person?.method === 'oidc' ? 'oidc' : 'login' }
    request.person = person
    request.role = person?.role ?? (sessions === null ? 'admin' : null)
    if (person === null) return
    requireRole(person.role, operation?.role)
    if (operation?.streams !== undefined && person.method === 'oidc' && sessions !== null)
      breakOffWith(request, reply, () => [
        watchPerson(sessions, request, ({ role }) => requireRole(role, operation.role)),
      ])
  })
  app.addHook('preHandler', async (request) => {
    await refuseNameOfAgent(request, agentIdsOf)
    const { operation } = request.routeOptions.config
    if (operation?.shows === undefined || !request.person) return
    const params = new Map<string, unknown>(Object.entries(request.params ?? {}))
    const [shown, agent] = [params.get(operation.shows), params.get('agent_id')]
    await noteReads(request, request.person.identity, {
      [operation.shows === 'message_id' ? 'messageIds' : 'sessionIds']: [String(shown)],
      // A session below another one may be of another agent.
      agentId: typeof agent === 'string' && operation.shows !== 'child_id' ? agent : undefined,
    })
  })
  const unknownPath = collectMethods(app)
  await routes(app)
  for (const url of ['/api', '/api/*']) app.all(url, { onRequest: unknownPath }, unknownPath)
}

const openRoutes = new Set(
  Object.values<Operations[string]>(auth)
    .filter(({ open }) => open)
    .map(({ path }) => path),
)

/** Throws 403 for a role that does not suffice. Paths of no operation need none. */
function requireRole(held: Role, needed: Role = 'viewer'): void {
  if (!suffices(held, needed)) throw new HttpError(403, `This needs the role ${needed}; the role here is ${held}.`)
}

/** Returns who has logged in, or null where no login is required. */
async function requireLogin(
  sessions: LoginSessions | null,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Person | null> {
  if (openRoutes.has(request.routeOptions.url ?? '')) return null
  // Also where no login is required: a secret that is sent limits the request.
  if (isClientSecret(bearerOf(request) ?? '')) throw new HttpError(401, 'A client secret opens nothing here.')
  if (sessions === null) return null
  const person = await sessions.personOf(request, reply)
  if (person === null) throw new HttpError(401, `Log in first. ${howToEnter(request)}`)
  return person
}

/** Returns the ways in, and the reason why a credential that was sent is none here. */
function howToEnter(request: FastifyRequest): string {
  const ways = 'POST /api/auth/login gives a cookie; programs send a management key as Authorization: Bearer.'
  if (!request.headers.authorization) return ways
  const sent =
    bearerOf(request) === null
      ? 'What Authorization holds is no bearer token.'
      : 'The key that was sent is no management key.'
  return `${ways} ${sent}`
}

/**
 * Collects the methods of the scope's paths. The returned hook refuses unknown paths and wrong methods: such a body is not
 * worth reading.
 */
function collectMethods(scope: FastifyInstance): (request: FastifyRequest) => Promise<never> {
  const known = new Map<string, Set<string>>()
  scope.addHook('onRoute', ({ url, method }) => {
    if (url.endsWith('*')) return
    const methods = known.get(url) ?? new Set()
    known.set(url, methods)
    for (const one of [method].flat()) if (one !== 'HEAD') methods.add(one)
  })
  return async ({ method, url }) => {
    const [path = ''] = url.split('?', 1)
    const steps = path.split('/')
    const isIt = (route: string) => {
      const own = route.split('/')
      return own.length === steps.length && own.every((step, n) => step.startsWith(':') || step === steps[n])
    }
    const [, methods] = known.entries().find(([route]) => route !== '/api' && isIt(route)) ?? []
    const allowed = methods && [...methods].join(', ')
    const message = `There is no ${method} ${path.slice(0, 200)}.${allowed ? ` There is ${allowed}.` : ''}`
    throw new HttpError(404, message, allowed ? { allow: allowed } : {})
  }
}
