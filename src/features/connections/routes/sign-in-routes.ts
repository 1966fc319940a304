/** The browser's way to an authorization server and back (contract section 27). These routes need no credential. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import cookie from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorAnswer, logFailure } from '../../../http/server/errors.ts'
import { HttpError } from '../../../http/server/http-error.ts'
import { escapeHtml, sendPlainPage } from '../../../http/server/plain-page.ts'
import type { DerivedKey, Secrets } from '../../../persistence/records/access/secrets.ts'
import { clientMetadata } from '../oauth.ts'
import { callOf, START } from '../pages.ts'
import { CALLBACK, DOCUMENT, type SignIns } from '../sign-in.ts'
import type { SignInPlace, WaitingSignIn } from '../store/sign-ins.ts'

export interface SignInRoutes {
  secrets: Pick<Secrets, 'open' | 'derive'>
  signIns: SignIns
  /** Returns the address under which browsers reach the server. */
  publicUrl(): string
}

const COOKIE = 'greenroom_sign_in'
const COOKIE_S = 60 * 60
const BROWSER = /^[\w-]{43}$/
const MOST_FORM_BYTES = 4096

/** The parameters of an authorization server's answer. */
const ANSWERED = ['state', 'code', 'iss', 'error']

const NOT_FINISHED = 'This sign-in could not be finished. Open the address in your conversation again.'
const NOT_THERE = 'Nothing waits for this sign-in any more.'

interface StartParams {
  token: string
}

export async function registerSignIns(app: FastifyInstance, deps: SignInRoutes): Promise<void> {
  await app.register(async (scope) => {
    await scope.register(cookie)
    const parsed = { parseAs: 'string', bodyLimit: MOST_FORM_BYTES } as const
    scope.addContentTypeParser('application/x-www-form-urlencoded', parsed, (_, body, done) => done(null, body))
    scope.setErrorHandler((error, request, reply) => {
      const { status, message, headers } = errorAnswer(error)
      if (status >= 500 && status !== 502) logFailure(request.log, error, 'A sign-in failed.')
      return page(reply.headers(headers), status, message)
    })
    const [key] = deps.secrets.derive('sign-in forms')
    const start = `${START}/:token`
    scope.get<{ Params: StartParams }>(start, { exposeHeadRoute: false }, (request, reply) =>
      showStart(deps, key, request, reply),
    )
    scope.post<{ Params: StartParams }>(start, (request, reply) => beginSignIn(deps, key, request, reply))
    scope.get(CALLBACK, { exposeHeadRoute: false }, (request, reply) => finish(deps, request, reply))
    scope.get(DOCUMENT, { exposeHeadRoute: false }, (_, reply) => clientDocument(deps, reply))
  })
}

const page = (reply: FastifyReply, status: number, sentence: string, title = 'Not signed in'): FastifyReply =>
  sendPlainPage(reply, { status, title, body: `<p>${escapeHtml(sentence)}</p>` })

const signedIn = (reply: FastifyReply, server: string): FastifyReply =>
  page(reply, 200, `You are signed in to ${server}. Your conversation goes on; this page can be closed.`, 'Signed in')

/** Returns the call of a request's address. Throws 404 for one that is not ours, or waits no more. */
async function waitingCall(
  { secrets, signIns }: SignInRoutes,
  { token }: StartParams,
): Promise<{ call: SignInPlace; waiting: WaitingSignIn }> {
  const call = callOf(secrets, token)
  const waiting = call && (await signIns.waiting(call))
  if (call === null || waiting === null) throw new HttpError(404, NOT_THERE)
  return { call, waiting }
}

/** Returns the address under which browsers reach the server. Throws 502 where it is not known any more. */
function addressOf({ publicUrl }: SignInRoutes): URL {
  const url = publicUrl()
  if (url === '') throw new HttpError(502, 'PUBLIC_URL is not set, so nobody can sign in now.')
  return new URL(url)
}

type StartRequest = FastifyRequest<{ Params: StartParams }>

async function showStart(
  deps: SignInRoutes,
  key: DerivedKey | undefined,
  request: StartRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { call, waiting } = await waitingCall(deps, request.params)
  const browser = browserOf(request) ?? randomBytes(32).toString('base64url')
  const url = addressOf(deps)
  reply.setCookie(COOKIE, browser, {
    httpOnly: true,
    sameSite: 'lax',
    path: `${url.pathname.replace(/\/$/, '')}/api/oauth`,
    maxAge: COOKIE_S,
    secure: url.protocol === 'https:',
  })
  const { serverName, agentName } = waiting
  const rows = [
    ['Server', serverName],
    ['Host', new URL(waiting.url).host],
    ['Agent', agentName],
    ['User', call.user],
  ] as const
  const shown = rows.map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`).join('')
  const form = formValue(key, browser, request.params.token)
  return sendPlainPage(reply, {
    status: 200,
    leaves: true,
    title: `Sign in to ${serverName}`,
    body: `<p>You are about to sign in, so that the agent can use this server in your name.</p><dl>${shown}</dl><form method="post"><input type="hidden" name="form" value="${form}"><button>Go on</button></form>`,
  })
}

async function beginSignIn(
  deps: SignInRoutes,
  key: DerivedKey | undefined,
  request: StartRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const browser = browserOf(request)
  const given = new URLSearchParams(typeof request.body === 'string' ? request.body : '').get('form') ?? ''
  const isOurs = browser !== null && isEqual(given, formValue(key, browser, request.params.token))
  if (!isOurs || request.headers.origin !== addressOf(deps).origin)
    throw new HttpError(403, 'A sign-in begins on its own page: open the address in your conversation again.')
  const { call, waiting } = await waitingCall(deps, request.params)
  if (waiting.isGranted) {
    const server = await deps.signIns.goOn(call, byOf(request))
    if (server !== null) return signedIn(reply, server)
  }
  try {
    const location = await deps.signIns.begin(call, waiting, browser)
    return await reply
      .header('cache-control', 'no-store')
      .header('referrer-policy', 'no-referrer')
      .redirect(location, 303)
  } catch (error) {
    request.log.warn({ reason: reasonOf(error), server: waiting.serverName }, 'A sign-in cannot begin.')
    return page(reply, 502, `${waiting.serverName} offers no sign-in that can be used now.`)
  }
}

async function finish({ signIns }: SignInRoutes, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const query = new URLSearchParams(request.url.split('?')[1] ?? '')
  const one = (name: string): string | undefined => query.get(name) ?? undefined
  const callback = { state: one('state') ?? '', code: one('code') ?? '', iss: one('iss'), error: one('error') }
  // A parameter that stands twice has no one meaning.
  if (ANSWERED.some((name) => query.getAll(name).length > 1)) callback.error ??= 'ambiguous'
  try {
    const server = await signIns.finish(callback, browserOf(request) ?? '', byOf(request))
    return server === null ? page(reply, 400, NOT_FINISHED) : signedIn(reply, server)
  } catch (error) {
    request.log.warn({ reason: reasonOf(error) }, 'A sign-in could not be finished.')
    return page(reply, 400, NOT_FINISHED)
  }
}

/** Sends the document that describes us to authorization servers, where they can read it. */
function clientDocument({ publicUrl }: SignInRoutes, reply: FastifyReply): FastifyReply {
  const url = publicUrl()
  if (!url.startsWith('https:')) throw new HttpError(404, 'There is no such page.')
  return reply
    .type('application/json')
    .send(JSON.stringify({ client_id: `${url}${DOCUMENT}`, client_uri: url, ...clientMetadata(`${url}${CALLBACK}`) }))
}

const browserOf = ({ cookies }: FastifyRequest): string | null => {
  const given = cookies[COOKIE] ?? ''
  return BROWSER.test(given) ? given : null
}

const byOf = ({ ip, id }: FastifyRequest) => ({ ip, requestId: String(id) })

const formValue = (key: DerivedKey | undefined, browser: string, token: string): string =>
  createHmac('sha256', key?.bytes ?? '')
    .update(`${browser} ${token}`)
    .digest('base64url')

const isEqual = (given: string, own: string): boolean =>
  given.length === own.length && timingSafeEqual(Buffer.from(given), Buffer.from(own))

/** Returns what the log says of a failure: names and codes, never words of others, in which a token may stand. */
function reasonOf(error: unknown): string {
  const parts: string[] = []
  for (let one: unknown = error; one instanceof Error && parts.length < 5; one = one.cause) {
    const code = 'code' in one && typeof one.code === 'string' ? ` (${one.code})` : ''
    parts.push(`${one.name}${code}`)
  }
  return parts.join(': ')
}
