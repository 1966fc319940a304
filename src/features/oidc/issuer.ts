/** The identity provider, asked by way of `openid-client` (contract section 33). */
import type * as openid from 'openid-client'
import type { Claims } from './claims.ts'

export interface IssuerOptions {
  issuer: string
  clientId: string
  /** Null for a public client. */
  clientSecret: string | null
  scopes: string
  /** Returns the address of the callback. */
  redirectUri(): string
  /** The call to an address that an administrator or the issuer chose. Rejects where there is no answer. */
  fetch: IssuerFetch
}

export interface IssuerCall {
  method: string
  headers: Record<string, string>
  body: string | null
}
export type IssuerFetch = (url: string, call: IssuerCall) => Promise<Response>

/** The secrets that a browser takes along from the start to the callback. */
export interface Challenge {
  state: string
  nonce: string
  verifier: string
}

/** Tokens that the issuer gave, and what it says of the person. */
export interface Granted {
  subject: string
  /** The claims of the ID token, and those that only userinfo has. */
  claims: Claims
  /** Null where a refresh brought none. */
  idToken: string | null
  refreshToken: string | null
  /** Seconds since 1970 at which the ID token expires. Null without one. */
  expiresAt: number | null
}

/** The issuer gave nothing. `away`: it did not answer, or as a broken server; `gone`: the grant is no longer valid. */
export class IssuerError extends Error {
  override name = 'IssuerError'
  readonly kind: 'away' | 'gone' | 'refused'
  /** The refresh token that the issuer gave before it failed: the one before may be used up. */
  refreshToken: string | null = null
  constructor(kind: IssuerError['kind'], options: ErrorOptions) {
    super(`The issuer gave no tokens (${kind}).`, options)
    this.kind = kind
  }
}

export interface Issuer {
  /** Makes what a browser takes along, and returns where it is sent. Rejects with IssuerError. */
  challenge(): Promise<{ url: URL; challenge: Challenge }>
  /** Reports whether the parameters of a callback are an answer of this issuer with a code. Rejects with IssuerError. */
  answers(query: URLSearchParams, challenge: Challenge): Promise<boolean>
  /** Redeems the code of a callback. `needed`: a claim that is looked for in userinfo too. Rejects with IssuerError. */
  redeem(query: URLSearchParams, challenge: Challenge, needed: string): Promise<Granted>
  /** Refreshes the tokens of a person. Rejects with IssuerError. */
  refresh(refreshToken: string, needed: string): Promise<Granted>
  /** Returns where a browser signs out. Null where the issuer offers no such page or cannot be asked. */
  endSession(idToken: string, returnTo: string): Promise<string | null>
}

const DISCOVERY_MS = 60 * 60 * 1000
const TIMEOUT_S = 10

/** Loads the library when the first person signs in: other starts do not need it. */
const load = () => import('openid-client')

/** A question to the issuer: what fails is an IssuerError. */
type Ask = <T>(work: (configuration: openid.Configuration, client: typeof openid) => Promise<T>) => Promise<T>

export function createIssuer(options: IssuerOptions): Issuer {
  const ask = createAsk(options)
  return {
    challenge: () => challengeFor(ask, options),
    async answers(query, { state }) {
      const named = query.get('iss')
      const alone = [...new Set(query.keys())].every((name) => query.getAll(name).length === 1)
      if (!alone || query.get('state') !== state || query.has('error') || !query.get('code')) return false
      const { issuer: own, authorization_response_iss_parameter_supported: isNamed } = await ask(
        async (configuration) => configuration.serverMetadata(),
      )
      return named === null ? isNamed !== true : named === own
    },
    redeem: (query, { state, nonce, verifier }, needed) =>
      ask(async (configuration, client) => {
        const callback = new URL(options.redirectUri())
        callback.search = query.toString()
        const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true }
        const tokens = await client.authorizationCodeGrant(configuration, callback, checks)
        return await granted(client, configuration, tokens, needed)
      }),
    refresh(refreshToken, needed) {
      let newer: string | null = null
      return ask(async (configuration, client) => {
        const tokens = await client.refreshTokenGrant(configuration, refreshToken)
        newer = tokens.refresh_token ?? null
        return await granted(client, configuration, tokens, needed)
      }).catch((error: unknown) => {
        if (error instanceof IssuerError) error.refreshToken = newer
        throw error
      })
    },
    endSession: async (idToken, returnTo) =>
      await ask(async (configuration, client) => {
        if (configuration.serverMetadata().end_session_endpoint === undefined) return null
        return client.buildEndSessionUrl(configuration, {
          id_token_hint: idToken,
          post_logout_redirect_uri: returnTo,
        }).href
      }).catch(() => null),
  }
}

/** Makes the function that asks, and says what a failure was. The issuer is discovered at most once an hour. */
function createAsk({ issuer, clientId, clientSecret, fetch: reach }: IssuerOptions): Ask {
  let known: { metadata: openid.ServerMetadata; at: number } | null = null
  const authenticationOf = (
    client: typeof openid,
    { token_endpoint_auth_methods_supported: methods }: openid.ServerMetadata,
  ) => {
    if (clientSecret === null) return client.None()
    return methods?.includes('client_secret_post') && !methods.includes('client_secret_basic')
      ? client.ClientSecretPost(clientSecret)
      : client.ClientSecretBasic(clientSecret)
  }
  /** Returns a new configuration each time, which keeps no signing keys: unknown ones are found at once. */
  const configure = async (client: typeof openid, fetch: openid.CustomFetch): Promise<openid.Configuration> => {
    if (known === null || Date.now() - known.at > DISCOVERY_MS) {
      const found = await client.discovery(new URL(issuer), clientId, undefined, undefined, {
        execute: insecureIf(client, issuer),
        timeout: TIMEOUT_S,
        [client.customFetch]: fetch,
      })
      known = { metadata: found.serverMetadata(), at: Date.now() }
    }
    const { metadata } = known
    const configuration = new client.Configuration(metadata, clientId, undefined, authenticationOf(client, metadata))
    configuration[client.customFetch] = fetch
    configuration.timeout = TIMEOUT_S
    for (const extend of [client.enableNonRepudiationChecks, ...insecureIf(client, issuer)]) extend(configuration)
    return configuration
  }
  return async (work) => {
    const client = await load()
    let isAway = false
    const fetch: openid.CustomFetch = async (url, { method, headers, body }) => {
      const call = { method, headers, body: body === undefined || body === null ? null : String(body) }
      const answer = await reach(url, call).catch((error: unknown) => {
        isAway = true
        throw error
      })
      if (answer.status >= 500) isAway = true
      return answer
    }
    try {
      return await work(await configure(client, fetch), client)
    } catch (error) {
      if (isAway) throw new IssuerError('away', { cause: error })
      const isGone = error instanceof client.ResponseBodyError && error.error === 'invalid_grant'
      throw new IssuerError(isGone ? 'gone' : 'refused', { cause: error })
    }
  }
}

async function challengeFor(
  ask: Ask,
  { redirectUri, scopes }: IssuerOptions,
): Promise<{ url: URL; challenge: Challenge }> {
  const client = await load()
  const challenge = {
    state: client.randomState(),
    nonce: client.randomNonce(),
    verifier: client.randomPKCECodeVerifier(),
  }
  const parameters = {
    redirect_uri: redirectUri(),
    scope: scopes,
    state: challenge.state,
    nonce: challenge.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(challenge.verifier),
    code_challenge_method: 'S256',
  }
  return { url: await ask(async (configuration) => client.buildAuthorizationUrl(configuration, parameters)), challenge }
}

/** Reads what tokens say of the person; userinfo is asked where the ID token lacks the claim. */
async function granted(
  client: typeof openid,
  configuration: openid.Configuration,
  tokens: openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers,
  needed: string,
): Promise<Granted> {
  const ownClaims = tokens.claims()
  // The library looks at it only where the token is for several.
  if (ownClaims?.azp !== undefined && ownClaims.azp !== configuration.clientMetadata().client_id)
    throw new Error('The ID token was made for another client.')
  const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined
  const asked =
    hasUserInfo && ownClaims?.[needed] === undefined
      ? await client.fetchUserInfo(configuration, tokens.access_token, ownClaims?.sub ?? client.skipSubjectCheck)
      : undefined
  const subject = ownClaims?.sub ?? asked?.sub
  if (subject === undefined || subject.includes('\0'))
    throw new Error('Neither an ID token nor userinfo says who it is.')
  return {
    subject,
    claims: { ...asked, ...ownClaims },
    idToken: tokens.id_token ?? null,
    refreshToken: tokens.refresh_token ?? null,
    expiresAt: ownClaims?.exp ?? null,
  }
}

/** Returns what allows http, which an issuer on this machine speaks. */
const insecureIf = (client: typeof openid, issuer: string) =>
  new URL(issuer).protocol === 'http:' ? [client.allowInsecureRequests] : []
