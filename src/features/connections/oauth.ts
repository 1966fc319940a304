/**
 * The steps of a sign-in by OAuth 2.1 with PKCE, by the parts of the MCP SDK (contract section 27). Its all-in-one function
 * is not used: where a refresh fails, that one begins a new authorization.
 */
import type {
  AuthorizationServerMetadata,
  FetchLike,
  OAuthClientInformationMixed,
  OAuthProtectedResourceMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/client'
import Type, { type Static } from 'typebox'
import { loadMcpClient } from '../../async/mcp-parts.ts'
import { decoder } from '../../persistence/stored-json.ts'

/** A sign-in that cannot be begun or finished. The message is fit for the log, and holds no secret. */
export class SignInFailed extends Error {
  override name = 'SignInFailed'
}

const Client = Type.Unsafe<OAuthClientInformationMixed>(Type.Object({ client_id: Type.String() }))

/** The place where a grant is obtained and renewed, as it was discovered. */
const Issuer = Type.Object({
  /** The authorization server's address. */
  server: Type.String(),
  metadata: Type.Union([Type.Unsafe<AuthorizationServerMetadata>(Type.Object({ issuer: Type.String() })), Type.Null()]),
  /** The resource for which tokens are good. */
  resource: Type.String(),
  client: Client,
})
export type Issuer = Static<typeof Issuer>

export const readClient = decoder('A client', Client)

/** A sign-in that a browser is on its way with. */
const Begun = Type.Object({
  /** The MCP server's address. */
  url: Type.String(),
  issuer: Issuer,
  verifier: Type.String(),
  scope: Type.Union([Type.String(), Type.Null()]),
})
export type Begun = Static<typeof Begun>
export const readBegun = decoder('A sign-in', Begun)

const Granted = Type.Object({
  issuer: Issuer,
  token: Type.String(),
  refreshToken: Type.Union([Type.String(), Type.Null()]),
  scope: Type.Union([Type.String(), Type.Null()]),
  /** Seconds. Null: the token names no end. */
  expiresIn: Type.Union([Type.Number(), Type.Null()]),
})
export type Granted = Static<typeof Granted>
export const readGranted = decoder('A grant', Granted)

/** Loads the SDK on first use: it is large. */
const sdk = async () => {
  await loadMcpClient()
  return await import('@modelcontextprotocol/client')
}

export interface SignInWishes {
  /** The MCP server's address. */
  url: string
  /** The scopes that the server demanded. */
  scope?: string | undefined
  /** The address of its metadata, where it named one. */
  metadata?: string | undefined
  redirectUri: string
}

/** The ways by which we are a client of an authorization server. */
export interface ClientSource {
  /** The client that an administrator has registered. */
  configured: OAuthClientInformationMixed | null
  /** The address of our own document. Null where it cannot be read from outside. */
  document: string | null
  /** Returns the client that was registered dynamically, or registers one with `register`. */
  registered(issuer: string, register: () => Promise<OAuthClientInformationMixed>): Promise<OAuthClientInformationMixed>
}

export const clientMetadata = (redirectUri: string) => ({
  client_name: 'Greenroom',
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
})

/** Discovers where the user signs in, and returns the address to send the browser to. */
export async function beginSignIn(
  { url, scope: demanded, metadata: named, redirectUri }: SignInWishes,
  source: ClientSource,
  state: string,
  fetchFn: FetchLike,
): Promise<{ location: string; begun: Begun }> {
  const { startAuthorization } = await sdk()
  const found = await discover(url, named, fetchFn)
  const { authorizationServerUrl: server, authorizationServerMetadata: metadata, resourceMetadata } = found
  const endpoint = metadata?.authorization_endpoint ?? new URL('/authorize', server).href
  if (!isVisitable(endpoint)) throw new SignInFailed('The authorization endpoint is not https.')
  const resource = await resourceOf(url, resourceMetadata)
  const scope = scopesOf(demanded, resourceMetadata, metadata)
  const client = await clientAt({ server, metadata, scope, redirectUri, fetchFn }, source)
  const { authorizationUrl, codeVerifier: verifier } = await startAuthorization(server, {
    ...(metadata && { metadata }),
    clientInformation: client,
    redirectUrl: redirectUri,
    state,
    resource,
    ...(scope !== undefined && { scope }),
  })
  if (!isVisitable(authorizationUrl.href)) throw new SignInFailed('The authorization endpoint is not https.')
  const issuer = { server, metadata: metadata ?? null, resource, client }
  return { location: authorizationUrl.href, begun: { url, issuer, verifier, scope: scope ?? null } }
}

/**
 * Finds the authorization server of an MCP server. The SDK takes any failure for a server of an earlier revision, which
 * has no metadata: here that is only one that says so. Throws SignInFailed.
 */
async function discover(url: string, named: string | undefined, fetchFn: FetchLike) {
  const { discoverOAuthServerInfo } = await sdk()
  let isUnclear = false
  const watched: FetchLike = async (...asked) => {
    const answer = await fetchFn(...asked).catch((error: unknown) => {
      isUnclear = true
      throw error
    })
    if (answer.status >= 500 || (answer.status >= 300 && answer.status < 400)) isUnclear = true
    return answer
  }
  const found = await discoverOAuthServerInfo(url, {
    fetchFn: watched,
    ...(named !== undefined && { resourceMetadataUrl: new URL(named) }),
  })
  if (found.authorizationServerMetadata === undefined && isUnclear)
    throw new SignInFailed('The authorization server could not be asked.')
  return found
}

/** Exchanges the code of a callback for tokens. `iss`: as the callback names it; the SDK refuses another one's. */
export async function finishSignIn(
  { issuer: { server, metadata, resource, client }, verifier, scope }: Begun,
  { code, iss, redirectUri }: { code: string; iss: string | undefined; redirectUri: string },
  fetchFn: FetchLike,
): Promise<Granted> {
  const { exchangeAuthorization } = await sdk()
  const tokens = await exchangeAuthorization(server, {
    ...(metadata && { metadata }),
    clientInformation: client,
    authorizationCode: code,
    ...(iss !== undefined && { iss }),
    codeVerifier: verifier,
    redirectUri,
    resource,
    fetchFn,
  })
  return grantedBy({ server, metadata, resource, client }, tokens, { scope, refreshToken: null })
}

/** Renews a grant. Null: the authorization server knows it no more, or it cannot be renewed. */
export async function renewGrant(granted: Granted, fetchFn: FetchLike): Promise<Granted | null> {
  const { issuer, refreshToken, scope } = granted
  if (refreshToken === null) return null
  const { OAuthError, OAuthErrorCode, refreshAuthorization } = await sdk()
  try {
    const tokens = await refreshAuthorization(issuer.server, {
      ...(issuer.metadata && { metadata: issuer.metadata }),
      clientInformation: issuer.client,
      refreshToken,
      resource: issuer.resource,
      fetchFn,
    })
    return grantedBy(issuer, tokens, { scope, refreshToken })
  } catch (error) {
    if (error instanceof OAuthError && error.code === OAuthErrorCode.InvalidGrant) return null
    throw error
  }
}

function grantedBy(
  issuer: Issuer,
  { access_token: token, refresh_token: refreshToken, scope, expires_in: expiresIn }: OAuthTokens,
  before: Pick<Granted, 'scope' | 'refreshToken'>,
): Granted {
  return {
    issuer,
    token,
    refreshToken: refreshToken ?? before.refreshToken,
    scope: scope ?? before.scope,
    expiresIn: expiresIn ?? null,
  }
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/** Returns whether a browser may be sent to an address. */
function isVisitable(address: string): boolean {
  const parsed = URL.parse(address)
  return parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && LOOPBACK.test(parsed.hostname))
}

/** Returns the resource as the server names it, or its address. Throws for one that is another server's. */
async function resourceOf(url: string, named: OAuthProtectedResourceMetadata | undefined): Promise<string> {
  const { checkResourceAllowed, resourceUrlFromServerUrl } = await sdk()
  const own = resourceUrlFromServerUrl(url)
  if (named === undefined) return own.href
  if (checkResourceAllowed({ requestedResource: own, configuredResource: named.resource })) return named.resource
  throw new SignInFailed('The metadata of the MCP server are those of another resource.')
}

/** Returns the scopes to ask for: those that were demanded, else those that the server names. */
function scopesOf(
  demanded: string | undefined,
  named: OAuthProtectedResourceMetadata | undefined,
  metadata: AuthorizationServerMetadata | undefined,
): string | undefined {
  const scope = demanded || named?.scopes_supported?.join(' ') || undefined
  const offers = metadata?.scopes_supported?.includes('offline_access') === true
  return scope !== undefined && offers && !scope.split(' ').includes('offline_access')
    ? `${scope} offline_access`
    : scope
}

interface Registering {
  server: string
  metadata: AuthorizationServerMetadata | undefined
  scope: string | undefined
  redirectUri: string
  fetchFn: FetchLike
}

async function clientAt(
  { server, metadata, scope, redirectUri, fetchFn }: Registering,
  { configured, document, registered }: ClientSource,
): Promise<OAuthClientInformationMixed> {
  if (configured !== null) return configured
  const { client_id_metadata_document_supported: takesDocuments }: Record<string, unknown> = { ...metadata }
  if (document !== null && takesDocuments === true) return { client_id: document }
  const { registerClient, resolveClientMetadata } = await sdk()
  return await registered(metadata?.issuer ?? server, () =>
    registerClient(server, {
      ...(metadata && { metadata }),
      clientMetadata: resolveClientMetadata({ redirectUrl: redirectUri, clientMetadata: clientMetadata(redirectUri) }),
      ...(scope !== undefined && { scope }),
      fetchFn,
    }),
  )
}
