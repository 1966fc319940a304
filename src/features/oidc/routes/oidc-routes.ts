/** The browser's way to the issuer and back (contract section 33). Both routes need no credential. */
import { randomUUID } from 'node:crypto'
import cookie from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorAnswer, logFailure } from '../../../http/server/errors.ts'
import { escapeHtml, sendPlainPage } from '../../../http/server/plain-page.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { type AuditedChange, originOf, writeEntries } from '../../audit/index.ts'
import { beginAttempt, forgiveAttempt, type LoginSessions, loginAddress } from '../../users/index.ts'
import { nameOf } from '../claims.ts'
import { type Granted, type Issuer, IssuerError } from '../issuer.ts'
import type { SignIns } from '../sign-in.ts'
import { isSecure, type SignInCookie } from './cookie.ts'

export interface OidcRoutes {
  sql: Sql
  issuer: Issuer
  signIns: SignIns
  sessions: LoginSessions
  cookie: SignInCookie
  /** The claim that decides about roles. */
  claim: string
  /** Returns the address under which browsers reach the server. */
  publicUrl(): string
}

const MOST_TO = 2000
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const PLACE = /^\/(?![/\\])[^\x00-\x1f\x7f-\x9f]*$/

/** A sign-in that came to nothing: what its page says. */
class Refused extends Error {
  override name = 'Refused'
  readonly status: 400 | 403 | 502
  /** The person, where the ID token was good. */
  readonly person: string | null
  constructor(status: Refused['status'], sentence: string, person: string | null = null, options?: ErrorOptions) {
    super(sentence, options)
    this.status = status
    this.person = person
  }
}

const START_ANEW = 'This sign-in cannot be finished: it is older than ten minutes, or belongs to another browser.'
const NO_ANSWER = 'The identity provider did not confirm the sign-in.'

export async function registerOidc(app: FastifyInstance, deps: OidcRoutes): Promise<void> {
  await app.register(async (scope) => {
    await scope.register(cookie)
    scope.setErrorHandler((error, request, reply) => {
      const { status, message, headers } = errorAnswer(error)
      if (status >= 500) logFailure(request.log, error, 'A sign-in failed.')
      return page(deps, reply.headers(headers), status, message)
    })
    scope.get('/api/auth/oidc/start', { exposeHeadRoute: false }, (request, reply) => start(deps, request, reply))
    scope.get('/api/auth/oidc/callback', { exposeHeadRoute: false }, (request, reply) => finish(deps, request, reply))
  })
}

const page = ({ publicUrl }: OidcRoutes, reply: FastifyReply, status: number, sentence: string): FastifyReply =>
  sendPlainPage(reply, {
    status,
    title: 'Not signed in',
    body: `<p>${escapeHtml(sentence)}</p><p><a href="${escapeHtml(publicUrl())}/api/auth/oidc/start">Sign in again</a></p>`,
  })

async function start(deps: OidcRoutes, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  try {
    const { url, challenge } = await deps.issuer.challenge()
    deps.cookie.set(request, reply, { ...challenge, to: placeOf(queryOf(request).get('to')) })
    return await reply
      .header('cache-control', 'no-store')
      .header('referrer-policy', 'no-referrer')
      .redirect(url.href, 302)
  } catch (error) {
    if (!(error instanceof IssuerError)) throw error
    request.log.warn({ kind: error.kind, reason: reasonOf(error) }, 'The identity provider cannot be asked.')
    return page(deps, reply, 502, 'The identity provider cannot be reached.')
  }
}

async function finish(deps: OidcRoutes, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { sql, publicUrl } = deps
  const address = loginAddress(request.ip)
  // Only failures of the address count here: the name is another one each time.
  const attempt = `oidc ${randomUUID()}`
  const counted = await beginAttempt(sql, address, attempt)
  if (!counted.allowed) {
    const again = `Too many failed logins. Try again in ${counted.retryAfter} s.`
    return page(deps, reply.header('retry-after', String(counted.retryAfter)), 429, again)
  }
  try {
    const to = await signIn(deps, request, reply)
    await forgiveAttempt(sql, address, attempt, counted.at)
    return await reply
      .header('cache-control', 'no-store')
      .header('referrer-policy', 'no-referrer')
      .redirect(`${publicUrl()}${inHeader(to)}`, 302)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    if (error.cause !== undefined) request.log.warn({ reason: reasonOf(error.cause) }, 'A sign-in failed.')
    await note(deps, request, { action: 'login_failed', name: error.person, changes: {} })
    return page(deps, reply, error.status, error.message)
  }
}

/** Makes the session. Returns the place to go to. Throws Refused. */
async function signIn(deps: OidcRoutes, request: FastifyRequest, reply: FastifyReply): Promise<string> {
  const { issuer, signIns, sessions, cookie: carried, claim, publicUrl } = deps
  const challenge = carried.read(request)
  if (challenge === null) throw new Refused(400, START_ANEW)
  const query = queryOf(request)
  const refuse = (error: unknown): never => {
    if (error instanceof IssuerError) throw new Refused(502, NO_ANSWER, null, { cause: error })
    throw error
  }
  if (!(await issuer.answers(query, challenge).catch(refuse))) throw new Refused(400, START_ANEW)
  const granted: Granted = await issuer.redeem(query, challenge, claim).catch(refuse)
  const person = signIns.personOf(granted)
  if (person === null)
    throw new Refused(403, 'Your account has no role here: ask an administrator for one.', nameOf(granted.claims))
  await sessions.beginOther(person, (tx, tokenHash) => signIns.keep(tx, tokenHash, person, granted), {
    request,
    reply,
    secure: isSecure(new URL(publicUrl()), request),
  })
  carried.clear(request, reply)
  const changes = { subject: { from: null, to: granted.subject }, role: { from: null, to: person.role } }
  await note(deps, request, { action: 'login', name: person.name, changes })
  return challenge.to
}

const note = (
  { sql }: OidcRoutes,
  request: FastifyRequest,
  { action, name, changes }: Pick<AuditedChange, 'action' | 'changes'> & { name: string | null },
) =>
  writeEntries(sql, { ...originOf(request), actor: name, actorKind: 'oidc' }, [
    { action, kind: 'login', recordId: null, recordName: name, changes },
  ])

const queryOf = (request: FastifyRequest): URLSearchParams => new URLSearchParams(request.url.split('?')[1] ?? '')

/** Returns the place to return to: a path of this server. Anything else counts as the first page. */
const placeOf = (to: string | null): string => (to !== null && to.length <= MOST_TO && PLACE.test(to) ? to : '/')

/** Returns a place as a header may hold it. A header holds no characters beyond ASCII, and no spaces are in an address. */
const inHeader = (to: string): string => to.replace(/[^\x21-\x7e]/gu, encodeURIComponent)

/** Returns what the log says of a failure: codes and library's words, never a body, a code or a token. */
function reasonOf(error: unknown): string {
  const parts: string[] = []
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    const code = 'code' in one && typeof one.code === 'string' ? ` (${one.code})` : ''
    parts.push(`${one.name}${code}`)
  }
  return parts.join(': ')
}
