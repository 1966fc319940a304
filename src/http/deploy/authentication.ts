/** Finds the caller of a deploy request, or refuses it with 401 (specification 5.1, contract section 11). */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Unauthorized } from '../http-error.ts'
import type { Caller, ClientSecret } from './caller.ts'
import { type ClientSecrets, SECRET_PREFIX } from './client-secrets.ts'
import type { RevocationList } from './revocations.ts'

export interface AuthenticationRooms {
  /** Keys that are accepted, the current one first. Empty: open. */
  keys: readonly string[]
  clientSecrets: ClientSecrets
  revocations: Pick<RevocationList, 'check'>
}

export type Authenticate = (request: FastifyRequest) => Promise<Caller>

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()

/** The result rejects with `Unauthorized`. */
export function createAuthentication({ keys, clientSecrets, revocations }: AuthenticationRooms): Authenticate {
  const isKey = keyCheck(keys)
  const isOpen = keys.length === 0

  async function readSecret(value: string, request: FastifyRequest): Promise<ClientSecret> {
    const secret = await clientSecrets.read(value)
    const agentId = new Map(Object.entries(request.params ?? {})).get('agent_id')
    // Of another agent it is no credential at all. Paths without an agent: their operations refuse it (403).
    if (typeof agentId === 'string' && agentId.toLowerCase() !== secret.agentId) {
      throw new Unauthorized('invalid_api_key', 'The client secret is for another agent.')
    }
    revocations.check(secret)
    return secret
  }

  return async (request) => {
    const bearer = /^bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1]?.trim()
    if (bearer !== undefined && isKey(bearer)) return { kind: 'key' }
    // Without a key of ours, clients send any: only what could be a secret is read as one.
    if (bearer?.toLowerCase().startsWith(SECRET_PREFIX)) return await readSecret(bearer, request)
    const inQuery = bearer === undefined || isOpen ? secretInQuery(request) : null
    if (inQuery !== null) return await readSecret(inQuery, request)
    if (isOpen) return { kind: 'anyone' }
    throw bearer === undefined
      ? new Unauthorized('invalid_api_key', 'No API key was given: send Authorization: Bearer <key>.')
      : new Unauthorized('invalid_api_key', 'The API key is not valid.')
  }
}

/** Constant time: hashes of equal length are compared, each of them. */
function keyCheck(keys: readonly string[]): (given: string) => boolean {
  const hashes = keys.map(hash)
  return (given) => {
    const asked = hash(given)
    return hashes.map((known) => timingSafeEqual(known, asked)).filter(Boolean).length > 0
  }
}

/**
 * For an EventSource, which sends no headers. Null: none. Addresses are kept in histories and logs of others, so it counts
 * nowhere else: there a caller who sends one by mistake is refused rather than served as nobody.
 */
function secretInQuery(request: FastifyRequest): string | null {
  const given = new Map<string, unknown>(Object.entries(request.query ?? {})).get('access_token')
  if (given === undefined) return null
  const { operation } = request.routeOptions.config
  if (request.method === 'GET' && operation?.streams !== undefined && typeof given === 'string') return given
  throw new Unauthorized('invalid_api_key', 'access_token is taken once, and only by a GET that streams.')
}
