/** A small authorization server, and a real MCP server that takes its tokens: real HTTP, on two ports of this machine. */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'

export interface SignInServerOptions {
  /** A flag with which the MCP server gives its list of tools without a token. */
  listsOpenly?: boolean
  /** Seconds for which a token is good. */
  expiresIn?: number
}

interface Grant {
  scope: string
  challenge: string
  redirectUri: string
}

async function listen(answer: (request: IncomingMessage, response: ServerResponse, body: string) => Promise<void>) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    await answer(request, response, Buffer.concat(chunks).toString())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const json = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

const moved = (response: ServerResponse, origin: string, { pathname }: URL) =>
  void response.writeHead(307, { location: `${origin}${pathname}` }).end()

function createState(expiresIn: number) {
  return {
    /** The switches that the test may change while the servers run. */
    now: {
      /** Changes the metadata of the authorization server. */
      metadata: {} as Record<string, unknown>,
      /** The error with which the token endpoint answers a refresh. */
      refreshError: null as string | null,
      /** A refresh is answered when this resolves. */
      refreshHeld: null as Promise<void> | null,
      /** The scope that a call needs; a token without it is answered with 403. */
      neededScope: null as string | null,
      /** A call that was sent with a token is answered when this resolves. */
      callHeld: null as Promise<void> | null,
      expiresIn,
      /** The resource that the MCP server's metadata name. Null: its own. */
      resource: null as string | null,
      /** The server to whose addresses calls are redirected, and what is asked of the authorization server. */
      callsMoved: null as string | null,
      issuerMoved: null as string | null,
      /** In place of what a callback's query has; null leaves it out. */
      callback: {} as Record<string, string | null>,
    },
    seen: {
      registrations: [] as Record<string, unknown>[],
      authorizations: [] as URLSearchParams[],
      tokens: [] as URLSearchParams[],
      /** The `authorization` of tool calls. */
      calls: [] as { tool: string; authorization: string | undefined }[],
    },
    codes: new Map<string, Grant>(),
    refreshes: new Map<string, string>(),
    /** Tokens that are good now, with their scopes. */
    tokens: new Map<string, string>(),
  }
}
type State = ReturnType<typeof createState>

function issue({ now, tokens, refreshes }: State, scope: string) {
  const [token, refresh] = [`at-${randomBytes(12).toString('hex')}`, `rt-${randomBytes(12).toString('hex')}`]
  tokens.set(token, scope)
  refreshes.set(refresh, scope)
  return { access_token: token, token_type: 'Bearer', expires_in: now.expiresIn, refresh_token: refresh, scope }
}

/** Lets the user in at once, and sends the browser back. */
function authorize({ now, seen, codes }: State, issuer: string, query: URLSearchParams): string {
  seen.authorizations.push(query)
  const code = `code-${randomBytes(12).toString('hex')}`
  const redirectUri = query.get('redirect_uri') ?? ''
  codes.set(code, { scope: query.get('scope') ?? '', challenge: query.get('code_challenge') ?? '', redirectUri })
  const back = new URL(redirectUri)
  const given = { code, state: query.get('state'), iss: issuer, ...now.callback }
  for (const [name, value] of Object.entries(given)) if (value !== null) back.searchParams.set(name, value)
  return back.href
}

/** Answers at the token endpoint. Null: the grant is not good. */
function exchange(state: State, form: URLSearchParams): object | null {
  const { codes, refreshes } = state
  if (form.get('grant_type') === 'refresh_token') {
    const refresh = form.get('refresh_token') ?? ''
    const scope = refreshes.get(refresh)
    refreshes.delete(refresh) // they rotate
    return scope === undefined ? null : issue(state, scope)
  }
  const grant = codes.get(form.get('code') ?? '')
  codes.delete(form.get('code') ?? '')
  const verifier = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url')
  const fits = grant?.challenge === verifier && grant.redirectUri === form.get('redirect_uri')
  return fits ? issue(state, grant.scope) : null
}

async function startIssuer(state: State) {
  const { now, seen } = state
  const issuer: { server: HttpServer; origin: string } = await listen(async (request, response, body) => {
    const { origin } = issuer
    const url = new URL(request.url ?? '/', origin)
    if (now.issuerMoved !== null) return moved(response, now.issuerMoved, url)
    switch (url.pathname) {
      case '/.well-known/oauth-authorization-server':
        return json(response, 200, {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          authorization_response_iss_parameter_supported: true,
          ...now.metadata,
        })
      case '/register':
        seen.registrations.push(JSON.parse(body))
        return json(response, 201, { ...JSON.parse(body), client_id: `client-${seen.registrations.length}` })
      case '/authorize':
        return void response.writeHead(302, { location: authorize(state, origin, url.searchParams) }).end()
      case '/token': {
        const form = new URLSearchParams(body)
        seen.tokens.push(form)
        if (form.get('grant_type') === 'refresh_token') await now.refreshHeld
        const isRefused = form.get('grant_type') === 'refresh_token' && now.refreshError !== null
        const answer = isRefused ? null : exchange(state, form)
        const error = isRefused ? now.refreshError : 'invalid_grant'
        return answer ? json(response, 200, answer) : json(response, 400, { error })
      }
      default:
        return void response.writeHead(404).end()
    }
  })
  return issuer
}

const openPrivate = () => {
  const server = new Server({ name: 'private', version: '1' }, { capabilities: { tools: {} } })
  const inputSchema = { type: 'object' as const }
  server.setRequestHandler('tools/list', () => ({
    tools: [{ name: 'orders', description: 'Lists orders.', inputSchema }],
  }))
  server.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text: 'Order 7.' }] }))
  return server
}

async function startPrivate({ now, seen, tokens }: State, issuer: string, listsOpenly: boolean) {
  const handler = createMcpHandler(openPrivate, { legacy: 'reject' })
  const mcp: { server: HttpServer; origin: string } = await listen(async (request, response, body) => {
    const url = new URL(request.url ?? '/', mcp.origin)
    const metadata = `${mcp.origin}/.well-known/oauth-protected-resource/mcp`
    if (url.href === metadata) {
      const resource = now.resource ?? `${mcp.origin}/mcp`
      return json(response, 200, { resource, authorization_servers: [issuer], scopes_supported: ['orders'] })
    }
    if (url.pathname !== '/mcp') return void response.writeHead(404).end()
    const message = JSON.parse(body || '{}')
    const isCall = message.method === 'tools/call'
    const { authorization } = request.headers
    if (isCall) seen.calls.push({ tool: message.params.name, authorization })
    if (isCall) await now.callHeld
    if (isCall && now.callsMoved !== null) return moved(response, now.callsMoved, url)
    const scope = tokens.get(authorization?.replace('Bearer ', '') ?? '')
    const challenge = (more: string) => ({ 'www-authenticate': `Bearer resource_metadata="${metadata}"${more}` })
    if (scope === undefined && (isCall || !listsOpenly)) return json(response, 401, {}, challenge(''))
    if (isCall && now.neededScope !== null && !scope?.split(' ').includes(now.neededScope))
      return json(response, 403, {}, challenge(`, error="insufficient_scope", scope="${now.neededScope}"`))
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string])
    const given = { method: request.method ?? 'GET', headers, ...(body !== '' && { body }) }
    const answer = await handler.fetch(new Request(url, given))
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body === null) return void response.end()
    Readable.fromWeb(answer.body as never)
      .on('error', () => {})
      .pipe(response)
  })
  return mcp
}

export async function startSignInServers({ listsOpenly = false, expiresIn = 3600 }: SignInServerOptions = {}) {
  const state = createState(expiresIn)
  const issuer = await startIssuer(state)
  const mcp = await startPrivate(state, issuer.origin, listsOpenly)
  return {
    url: `${mcp.origin}/mcp`,
    issuer: issuer.origin,
    now: state.now,
    seen: state.seen,
    /** Makes all tokens that were given out useless. */
    expireTokens: () => state.tokens.clear(),
    async [Symbol.asyncDispose]() {
      for (const { server } of [issuer, mcp]) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
}

/** Creates a browser without scripts: its cookies, and the steps of a sign-in. */
export function createBrowser(appUrl: string) {
  const cookies = new Map<string, string>()
  const go = async (url: string, init: RequestInit = {}) => {
    const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...Object.fromEntries(new Headers(init.headers)), ...(cookie !== '' && { cookie }) }
    const answer = await fetch(url, { redirect: 'manual', ...init, headers })
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  const post = async (url: string, changes: { origin?: string; form?: string } = {}) => {
    const page = await go(url)
    const form = changes.form ?? /name="form" value="([^"]*)"/.exec(page.text)?.[1] ?? ''
    return await go(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(changes.origin !== '' && { origin: changes.origin ?? new URL(appUrl).origin }),
      },
      body: `form=${form}`,
    })
  }
  /** Goes on from our page to the authorization server. Returns the address of the callback that it sends to. */
  const authorized = async (url: string): Promise<string> => {
    const leaving = await post(url)
    const there = await fetch(leaving.headers.get('location') ?? '', { redirect: 'manual' })
    return there.headers.get('location') ?? ''
  }
  return { cookies, go, post, authorized, signIn: async (url: string) => await go(await authorized(url)) }
}
