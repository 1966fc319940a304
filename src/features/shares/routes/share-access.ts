/** The token of a share as a credential of the deploy API (contract section 31): what it opens, and what it does not. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { bearerOf, isShareToken } from '../../../http/server/bearer.ts'
import { HttpError, missing, Unauthorized } from '../../../http/server/http-error.ts'
import { breakOffWith } from '../../../http/streaming/break-off.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { pathParam } from '../../users/index.ts'
import { findShare, type OpenedShare } from '../store/shares.ts'
import type { ShareWatch } from './share-watch.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The share that the request was sent with, in the deploy scope. Null for every other credential. */
    share?: OpenedShare | null
  }
}

/** Most streams that one share has open on this instance. */
const MOST_STREAMS = 100

/** Returns the token of a share that a request was sent with, good or not. Null when it was sent with none. */
export function shareTokenOf(request: FastifyRequest): string | null {
  const bearer = bearerOf(request)
  if (bearer !== null && isShareToken(bearer)) return bearer
  const given = new Map<string, unknown>(Object.entries(request.query ?? {})).get('access_token')
  if (typeof given !== 'string' || !isShareToken(given)) return null
  return bearer === null ? given : null // another credential decides
}

/** Throws 401, 403 and 404 for what the token does not open, before anything is read. Sets the request's share. */
export async function admitShare(
  { sql, shareWatch }: { sql: Sql; shareWatch: ShareWatch },
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
): Promise<void> {
  reply.header('cache-control', 'no-store')
  const share = await findShare(sql, token)
  const agentId = pathParam(request, 'agent_id')
  // Another agent's is no credential at all, and neither is one on a path that names no agent.
  if (share === null || agentId?.toLowerCase() !== share.agentId)
    throw new Unauthorized('invalid_api_key', 'The share is not valid: it was revoked, or is for another agent.')
  if (share.isExpired) throw new Unauthorized('token_expired', 'The share has expired.')
  const { operation } = request.routeOptions.config
  if (operation?.share !== true || request.method !== 'GET')
    throw new HttpError(403, 'A share reads one session: it opens nothing else.')
  if (pathParam(request, 'session_id')?.toLowerCase() !== share.sessionId) missing('session')
  request.share = share
  if (operation.streams === undefined) return
  if (!share.live) throw new HttpError(403, 'This share shows what was said until it was made, and no stream.')
  if (shareWatch.count(share.id) >= MOST_STREAMS)
    throw new HttpError(429, 'This share has 100 open streams here.', { 'retry-after': '5' })
  breakOffWith(request, reply, () => [shareWatch.watch(share)])
}
