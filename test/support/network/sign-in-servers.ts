/** A small authorization server, and a real MCP server that takes its tokens: real HTTP, on two ports of this machine. */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'

export interface SignInServerOptions {
  /** What the MCP server answers without a token: nothing at all, or its list of tools. */
  listsOpenly?: boolean
  /** Seconds for which a token is good. */
  expiresIn?: number
}

interface Grant {
  scope: string
  challenge: string
  redirectUri: string
  resource: string
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

export async function startSignInServers({ listsOpenly = false, expiresIn = 3600 }: SignInServerOptions = {}) {
  /** What the test may change while the servers run. */
  const now = {
    /** Changes the metadata of the authorization server. */
    metadata: {} as Record<string, unknown>,
    /** The error with which the token endpoint answers a refresh. */
    refreshError: null as string | null,
    /** What a call needs; a token without it is answered with 403. */
    neededScope: null as string | null,
    expiresIn,
    /** Scopes that the user grants, instead of those that are asked for. */
    granted: null as string | null,
    /** Added to the callback's query, in place of what it has. */
    callback: {} as Record<string, string | null>,
  }
  const seen = {
    registrations: [] as Record<string, unknown>[],
    authorizations: [] as URLSearchParams[],
    tokens: [] as URLSearchParams[],
    /** The `authorization` of requests to the MCP server, by the tool that they call. */
    calls: [] as { tool: string; authorization: string | undefined }[],
  }
  const codes = new Map<string, Grant>()
  const refreshes = new Map<string, { scope: string; resource: string }>()
  /** Tokens that are good now, with their scopes. */
  const tokens = new Map<string, string>()
  const issue = (scope: string, resource: string) => {
    const [token, refresh] = [`at-${randomBytes(12).toString('hex')}`, `rt-${randomBytes(12).toString('hex')}`]
    tokens.set(token, scope)
    refreshes.set(refresh, { scope, resource })
    return { access_token: token, token_type: 'Bearer', expires_in: now.expiresIn, refresh_token: refresh, scope }
  }
  const as: { server: HttpServer; origin: string } = await listen(async (request, response, body) => {
    const url = new URL(request.url ?? '/', as.origin)
    if (url.pathname === '/.well-known/oauth-authorization-server')
      return json(response, 200, {
        issuer: as.origin,
        authorization_endpoint: `${as.origin}/authorize`,
        token_endpoint: `${as.origin}/token`,
        registration_endpoint: `${as.origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        ...now.metadata,
      })
    if (url.pathname === '/register') {
      seen.registrations.push(JSON.parse(body))
      return json(response, 201, { ...JSON.parse(body), client_id: `client-${seen.registrations.length}` })
    }
    if (url.pathname === '/authorize') {
      const query = url.searchParams
      seen.authorizations.push(query)
      const code = `code-${randomBytes(12).toString('hex')}`
      const [redirectUri, scope] = [query.get('redirect_uri') ?? '', now.granted ?? query.get('scope') ?? '']
      const resource = query.get('resource') ?? ''
      codes.set(code, { scope, challenge: query.get('code_challenge') ?? '', redirectUri, resource })
      const back = new URL(redirectUri)
      const given = { code, state: query.get('state'), iss: as.origin, ...now.callback }
      for (const [name, value] of Object.entries(given)) if (value !== null) back.searchParams.set(name, value)
      return void response.writeHead(302, { location: back.href }).end()
    }
    if (url.pathname !== '/token') return void response.writeHead(404).end()
    const form = new URLSearchParams(body)
    seen.tokens.push(form)
    if (form.get('grant_type') === 'refresh_token') {
      const known = refreshes.get(form.get('refresh_token') ?? '')
      refreshes.delete(form.get('refresh_token') ?? '') // they rotate
      if (now.refreshError !== null) return json(response, 400, { error: now.refreshError })
      return known
        ? json(response, 200, issue(known.scope, known.resource))
        : json(response, 400, { error: 'invalid_grant' })
    }
    const grant = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const fits = grant?.challenge === verifier && grant.redirectUri === form.get('redirect_uri')
    return fits
      ? json(response, 200, issue(grant.scope, grant.resource))
      : json(response, 400, { error: 'invalid_grant' })
  })
  const handler = createMcpHandler(
    () => {
      const server = new Server({ name: 'private', version: '1' }, { capabilities: { tools: {} } })
      const inputSchema = { type: 'object' as const }
      server.setRequestHandler('tools/list', () => ({
        tools: [{ name: 'orders', description: 'Lists orders.', inputSchema }],
      }))
      server.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text: 'Order 7.' }] }))
      return server
    },
    { legacy: 'reject' },
  )
  const mcp: { server: HttpServer; origin: string } = await listen(async (request, response, body) => {
    const url = new URL(request.url ?? '/', mcp.origin)
    if (url.pathname === '/.well-known/oauth-protected-resource/mcp')
      return json(response, 200, {
        resource: `${mcp.origin}/mcp`,
        authorization_servers: [as.origin],
        scopes_supported: ['orders'],
      })
    if (url.pathname !== '/mcp') return void response.writeHead(404).end()
    const message = JSON.parse(body || '{}')
    const isCall = message.method === 'tools/call'
    const { authorization } = request.headers
    if (isCall) seen.calls.push({ tool: message.params.name, authorization })
    const scope = tokens.get(authorization?.replace('Bearer ', '') ?? '')
    const challenge = (more: string) => ({
      'www-authenticate': `Bearer resource_metadata="${mcp.origin}/.well-known/oauth-protected-resource/mcp"${more}`,
    })
    if (scope === undefined && (isCall || !listsOpenly)) return json(response, 401, {}, challenge(''))
    if (isCall && now.neededScope !== null && !scope?.split(' ').includes(now.neededScope))
      return json(response, 403, {}, challenge(`, error="insufficient_scope", scope="${now.neededScope}"`))
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string])
    const answer = await handler.fetch(
      new Request(url, { method: request.method ?? 'GET', headers, ...(body !== '' && { body }) }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body === null) return void response.end()
    Readable.fromWeb(answer.body as never)
      .on('error', () => {})
      .pipe(response)
  })
  return {
    url: `${mcp.origin}/mcp`,
    issuer: as.origin,
    now,
    seen,
    /** Makes all tokens that were given out useless. */
    expireTokens: () => tokens.clear(),
    async [Symbol.asyncDispose]() {
      for (const { server } of [as, mcp]) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
}

/** A browser without scripts: its cookies, and the steps of a sign-in. */
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
