/** An identity provider in this process: the documented endpoints of OpenID Connect, over HTTP, with signed ID tokens. */
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

type Claims = Record<string, unknown>

export interface TokenRequest {
  grant: string
  form: URLSearchParams
}

export interface IdentityProvider extends AsyncDisposable {
  url: string
  /** Claims of the person who signs in next, and of every refresh. */
  person: Claims
  /** Claims that userinfo alone has. */
  userInfo: Claims
  /** Whether tokens come with a refresh token. */
  refreshes: boolean
  /** The requests to the token endpoint, in order. */
  requests: TokenRequest[]
  /** Changes an ID token's claims, or replaces the token. */
  spoil: ((claims: JWTPayload, sign: Sign) => Promise<string>) | null
  /** The status of every answer, where it is not that of a healthy provider. */
  status: number | null
  /** The same of userinfo alone. */
  userInfoStatus: number | null
  /** The error of the token endpoint. */
  refuses: string | null
  /** The token endpoint answers when this resolves. */
  held: Promise<void> | null
  /** More fields of the discovery document. */
  metadata: Record<string, unknown>
  /** Makes another signing key, which the next tokens are signed with. */
  newKey(): Promise<void>
  /** Signs in, as a person does who is sent to this URL: returns the URL of the callback. */
  consent(url: string): string
}

export type Sign = (claims: JWTPayload, header?: { alg: string; kid?: string }) => Promise<string>

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const keys: { kid: string; pair: Awaited<ReturnType<typeof generateKeyPair>> }[] = []
  const newKey = async () => {
    keys.unshift({ kid: randomUUID(), pair: await generateKeyPair('RS256') })
  }
  await newKey()
  const codes = new Map<string, URLSearchParams>()
  /** Each is good once. */
  const refreshTokens = new Set<string>()
  const noted = <T extends { refresh_token?: string }>(tokens: T): T => {
    if (tokens.refresh_token !== undefined) refreshTokens.add(tokens.refresh_token)
    return tokens
  }
  const server = createServer(async (request, response) => {
    const to = new URL(request.url ?? '', url)
    // Whoever comes is signed in already, and sent back.
    if (to.pathname === '/authorize') {
      response.writeHead(302, { location: provider.consent(to.href) }).end()
      return
    }
    const answer = await respond(request).catch(() => ({ status: 500, body: {} }))
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sign: Sign = async (claims, header) => {
    const [key] = keys
    if (key === undefined) throw new Error('no key')
    return await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header })
      .sign(key.pair.privateKey)
  }
  const provider: IdentityProvider = {
    url,
    person: { sub: 'u1', preferred_username: 'anna' },
    userInfo: {},
    refreshes: true,
    requests: [],
    spoil: null,
    status: null,
    userInfoStatus: null,
    refuses: null,
    held: null,
    metadata: {},
    newKey,
    consent(to) {
      const query = new URL(to).searchParams
      const code = randomUUID()
      codes.set(code, query)
      const back = new URL(query.get('redirect_uri') ?? '')
      back.search = new URLSearchParams({ code, state: query.get('state') ?? '', iss: url }).toString()
      return back.href
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function respond(request: IncomingMessage): Promise<{ status: number; body: object }> {
    const path = new URL(request.url ?? '', url).pathname
    if (provider.status !== null) return { status: provider.status, body: {} }
    if (path === '/.well-known/openid-configuration') {
      return { status: 200, body: { ...documentOf(url), ...provider.metadata } }
    }
    if (path === '/jwks') {
      const published = await Promise.all(
        keys.map(async ({ kid, pair }) => ({ ...(await exportJWK(pair.publicKey)), kid, alg: 'RS256', use: 'sig' })),
      )
      return { status: 200, body: { keys: published } }
    }
    if (path === '/userinfo')
      return { status: provider.userInfoStatus ?? 200, body: { ...provider.person, ...provider.userInfo } }
    if (path !== '/token') return { status: 404, body: {} }
    const form = new URLSearchParams(await textOf(request))
    const grant = form.get('grant_type') ?? ''
    provider.requests.push({ grant, form })
    await provider.held
    if (provider.refuses !== null) return { status: 400, body: { error: provider.refuses } }
    if (grant === 'refresh_token') {
      const given = form.get('refresh_token') ?? ''
      // One that brings another one is used up by that.
      const isGood = provider.refreshes ? refreshTokens.delete(given) : refreshTokens.has(given)
      return isGood
        ? { status: 200, body: noted(await tokensFor(provider, sign, null)) }
        : { status: 400, body: { error: 'invalid_grant' } }
    }
    const query = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (query === undefined || query.get('code_challenge') !== challenge)
      return { status: 400, body: { error: 'invalid_grant' } }
    return { status: 200, body: noted(await tokensFor(provider, sign, query.get('nonce'))) }
  }
  return provider
}

async function tokensFor({ url, person, spoil, refreshes }: IdentityProvider, sign: Sign, nonce: string | null) {
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: url, aud: 'greenroom', iat: now, exp: now + 3600, ...(nonce && { nonce }), ...person }
  const id_token = spoil ? await spoil(claims, sign) : await sign(claims)
  const more = refreshes ? { refresh_token: `rt-${randomUUID()}` } : {}
  return { access_token: `at-${randomUUID()}`, token_type: 'Bearer', expires_in: 60, id_token, ...more }
}

/** Returns the discovery document. */
const documentOf = (url: string) => ({
  issuer: url,
  authorization_endpoint: `${url}/authorize`,
  token_endpoint: `${url}/token`,
  userinfo_endpoint: `${url}/userinfo`,
  jwks_uri: `${url}/jwks`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  authorization_response_iss_parameter_supported: true,
})

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request) text += String(piece)
  return text
}
