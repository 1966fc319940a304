/** Finds the caller of a deploy request, or refuses it with 401 (specification 5.1, contract section 11). */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { bearerOf, isClientSecret } from '../../../http/server/bearer.ts'
import { revokedSecret, Unauthorized } from '../../../http/server/http-error.ts'
import { badKey, isNamedKey, type KeyList } from '../../keys/index.ts'
import { type Caller, keyOpens, pathParam, type SecretCaller } from './caller.ts'
import type { ClientSecrets } from './client-secrets.ts'
import type { RevocationList } from './revocations.ts'

export interface AuthenticationDependencies {
  /** Keys that are accepted, the current one first. When empty, it is open. */
  keys: readonly string[]
  clientSecrets: ClientSecrets
  revocations: Pick<RevocationList, 'check'>
  namedKeys: Pick<KeyList, 'find' | 'get'>
}

export type Authenticate = (request: FastifyRequest) => Promise<Caller>

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Returns the check of a caller, which rejects with `Unauthorized`. */
export function createAuthentication({
  keys,
  clientSecrets,
  revocations,
  namedKeys,
}: AuthenticationDependencies): Authenticate {
  const isKey = keyCheck(keys)
  const isOpen = keys.length === 0

  async function readSecret(value: string, request: FastifyRequest): Promise<SecretCaller> {
    const secret = await clientSecrets.read(value)
    const agentId = pathParam(request, 'agent_id')
    // Another agent's is no credential at all. On a path without an agent it is one, and opens nothing (403).
    if (agentId !== null && agentId.toLowerCase() !== secret.agentId) {
      throw new Unauthorized('invalid_api_key', 'The client secret is for another agent.')
    }
    revocations.check(secret)
    const made = secret.keyId === null ? null : await namedKeys.get(secret.keyId)
    if (secret.keyId !== null && (made === null || !keyOpens(made, secret.agentId))) throw revokedSecret()
    return { ...secret, keyLimits: made?.limits ?? null }
  }

  async function readNamed(value: string, request: FastifyRequest): Promise<Caller> {
    const named = await namedKeys.find(value)
    const agentId = pathParam(request, 'agent_id')
    if (named === null || !named.scopes.includes('deploy') || (agentId !== null && !keyOpens(named, agentId)))
      throw badKey()
    return { kind: 'key', named }
  }

  return async (request) => {
    const bearer = bearerOf(request)
    if (bearer !== null && isKey(bearer)) return { kind: 'key', named: null }
    if (bearer !== null && isNamedKey(bearer)) return await readNamed(bearer, request)
    // If no key is set, clients send any: only what could be a secret is read as one.
    if (bearer !== null && isClientSecret(bearer)) return await readSecret(bearer, request)
    const inQuery = bearer === null || isOpen ? secretInQuery(request) : null
    if (inQuery !== null) return await readSecret(inQuery, request)
    if (isOpen) return { kind: 'anyone' }
    throw bearer === null
      ? new Unauthorized('invalid_api_key', noKey(request))
      : new Unauthorized('invalid_api_key', 'The API key is not valid.')
  }
}

/** The places where other services take keys. */
const otherHeaders = ['x-api-key', 'api-key', 'x-goog-api-key']
const otherParameters = ['api_key', 'api-key', 'apikey', 'key']

/** Returns why there is no key: where one was sent to a place that is not read, its place is named. */
function noKey({ headers, query }: FastifyRequest): string {
  const send = 'send Authorization: Bearer <key>.'
  if (headers.authorization) return `Authorization holds no bearer token: ${send}`
  const header = otherHeaders.find((name) => headers[name] !== undefined)
  if (header !== undefined) return `A key was sent in ${header}, which is not read: ${send}`
  const parameter = otherParameters.find((name) => name in Object(query))
  if (parameter !== undefined) return `A key was sent as ${parameter} in the address, which is not read: ${send}`
  return `No API key was given: ${send}`
}

/** Returns a check in constant time: hashes of equal length are compared, each of them. */
function keyCheck(keys: readonly string[]): (given: string) => boolean {
  const hashes = keys.map(hash)
  return (given) => {
    const asked = hash(given)
    return hashes.map((known) => timingSafeEqual(known, asked)).filter(Boolean).length > 0
  }
}

/**
 * Serves an EventSource and the pictures of a page, which send no headers. Null when there is none. Addresses are kept
 * in histories and logs of others, so it counts nowhere else: there a caller who sends one by mistake is refused rather
 * than served without a user.
 */
function secretInQuery(request: FastifyRequest): string | null {
  const given = new Map<string, unknown>(Object.entries(request.query ?? {})).get('access_token')
  if (given === undefined) return null
  const { operation } = request.routeOptions.config
  const isTaken = operation?.streams !== undefined || operation?.bytes === true
  if (request.method === 'GET' && isTaken && typeof given === 'string') return given
  throw new Unauthorized('invalid_api_key', 'access_token is taken once, and only by a GET that streams or is a file.')
}
