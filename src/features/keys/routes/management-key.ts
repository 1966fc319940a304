/** A key instead of a login, on management routes (contract section 23). */
import type { FastifyRequest } from 'fastify'
import { bearerOf } from '../../../http/server/bearer.ts'
import { HttpError } from '../../../http/server/http-error.ts'
import type { KnownKey } from '../store/keys.ts'
import { isNamedKey, type KeyList } from './key-list.ts'

/**
 * Returns null when no key was sent: a login decides. Throws 401 for a bad key, 403 for one that does not open the
 * route, whatever cookie is beside it.
 */
export async function managementKeyOf(keys: Pick<KeyList, 'find'>, request: FastifyRequest): Promise<KnownKey | null> {
  const bearer = bearerOf(request)
  if (bearer === null || !isNamedKey(bearer)) return null
  const key = await keys.find(bearer)
  if (key === null) throw new HttpError(401, 'The API key is not valid.')
  const { operation } = request.routeOptions.config
  if (operation?.keyScope !== undefined) {
    if (key.scopes.includes(operation.keyScope)) return key
    throw new HttpError(403, `Of keys, only one with the scope ${operation.keyScope} opens this.`)
  }
  if (operation?.loginAlone) throw new HttpError(403, 'Keys do not open this: log in.')
  if (key.scopes.includes('management')) return key
  if (!key.scopes.includes('management:read')) throw new HttpError(403, 'This key has no scope of the management API.')
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new HttpError(403, 'This key may read alone: its scope is management:read.')
  return key
}
