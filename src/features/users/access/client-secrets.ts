/**
 * Client secrets (contract section 11): signed tokens that open one user's sessions with one agent. Nothing of them is
 * stored; any instance checks one by the keys of SECRET_KEY alone.
 */
import { JWTExpired } from 'jose/errors'
import { SignJWT } from 'jose/jwt/sign'
import { jwtVerify } from 'jose/jwt/verify'
import { SECRET_PREFIX } from '../../../http/server/bearer.ts'
import { Unauthorized } from '../../../http/server/http-error.ts'
import type { ClientSecret } from './caller.ts'

/** The `typ` of the token's header, so that no other token under these keys passes for one of ours. */
const TYPE = 'greenroom-client-secret'

/**
 * Three parts in base64url, as they were handed out. The last sign of a signature of 32 bytes has two bits that decoders
 * ignore: only those that are zero there were handed out.
 */
const FORM = /^ek_([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])$/

/** Size of the cache of tokens that were found good: checking a signature costs 30 µs of processor time. */
const MOST_KNOWN = 1000

export interface ClientSecrets {
  /** Makes a token that is good until `expiresAt` (Unix seconds). */
  issue(secret: Omit<ClientSecret, 'kind' | 'expiresAt'>, expiresAt: number): Promise<string>
  /** Throws `Unauthorized`. Whether it is revoked is not looked at. */
  read(value: string): Promise<ClientSecret>
}

const invalid = () => new Unauthorized('invalid_api_key', 'The client secret is not valid.')
const expired = () => new Unauthorized('token_expired', 'The client secret has expired.')

const unixNow = (): number => Math.floor(Date.now() / 1000)

/** Makes the secrets' issuer. The first of `keys` signs, all verify. */
export function createClientSecrets(keys: readonly { id: string; bytes: Uint8Array }[]): ClientSecrets {
  const [first] = keys
  if (first === undefined) throw new Error('There is no key to sign client secrets with.')
  const imported = new Map(keys.map(({ id, bytes }) => [id, importKey(bytes)]))
  const known = new Map<string, ClientSecret>()

  async function verify(value: string): Promise<ClientSecret> {
    const token = FORM.exec(value)?.[1]
    if (token === undefined) throw invalid()
    try {
      const { payload } = await jwtVerify(token, ({ kid = '' }) => imported.get(kid) ?? Promise.reject(invalid()), {
        algorithms: ['HS256'],
        typ: TYPE,
        requiredClaims: ['exp'],
      })
      return readClaims(payload)
    } catch (error) {
      // The library's own messages would tell an attacker too much about a token.
      throw error instanceof JWTExpired ? expired() : invalid()
    }
  }

  return {
    async issue({ agentId, user, sessionId, number, keyId }, expiresAt) {
      const claims = { agent: agentId, session: sessionId, number, ...(keyId !== null && { key: keyId }) }
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', typ: TYPE, kid: first.id })
        .setSubject(user)
        .setIssuedAt()
        .setExpirationTime(expiresAt)
        .sign(await importKey(first.bytes))
      return `${SECRET_PREFIX}${token}`
    },
    async read(value) {
      const seen = known.get(value)
      const secret = seen ?? (await verify(value))
      if (secret.expiresAt <= unixNow()) {
        known.delete(value)
        throw expired()
      }
      if (seen === undefined) {
        known.set(value, secret)
        for (const oldest of known.keys()) {
          if (known.size <= MOST_KNOWN) break
          known.delete(oldest)
        }
      }
      return secret
    },
  }
}

/** Imports a key once: of bytes the library would make a key for each check. */
const importKey = (bytes: Uint8Array) =>
  crypto.subtle.importKey('raw', new Uint8Array(bytes), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])

/** Throws `Unauthorized` for what this version has not signed so. */
function readClaims({
  sub: user,
  exp: expiresAt,
  agent,
  session,
  number,
  key = null,
}: Record<string, unknown>): ClientSecret {
  if (typeof user !== 'string' || typeof agent !== 'string' || typeof number !== 'number') throw invalid()
  if (typeof expiresAt !== 'number' || (session !== null && typeof session !== 'string')) throw invalid()
  if (key !== null && typeof key !== 'string') throw invalid()
  return { kind: 'secret', agentId: agent, user, sessionId: session, number, keyId: key, expiresAt }
}
