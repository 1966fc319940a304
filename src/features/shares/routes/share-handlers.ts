/** Making, listing and revoking the shares of a session (contract section 31), with either credential. */
import type { FastifyRequest } from 'fastify'
import { badRequest, conflict, HttpError, missing, revokedSecret } from '../../../http/server/http-error.ts'
import { codeOf, type Sql } from '../../../persistence/postgres/database.ts'
import { commitChange, originOf, writeEntries } from '../../audit/index.ts'
import type { Caller, DeployHandlers } from '../../users/index.ts'
import {
  allowsSharing,
  checkSecret,
  createShare,
  deleteShare,
  listShares,
  MOST_SHARES,
  type NewShare,
  SECRET_REVOKED,
  type SessionPlace,
  type Share,
  type ShareInclude,
} from '../store/shares.ts'

/** Longest time until a share expires, in seconds. */
const LONGEST_S = 366 * 86_400

/** The fields of a request about a share. Absent fields have their defaults. */
interface GivenShare {
  live?: boolean | undefined
  include?: readonly ShareInclude[] | undefined
  expiresAt?: number | null | undefined
}

/** Reads the fields of a share. Throws 400. */
function readShare({ live = false, include = [], expiresAt = null }: GivenShare, name: string): NewShare {
  const now = Date.now() / 1000
  if (expiresAt !== null && (expiresAt <= now || expiresAt > now + LONGEST_S))
    badRequest(`${name}: must lie in the future, within 366 days, in Unix seconds`)
  return { live, include: [...new Set(include)], expiresAt }
}

/** Throws 403 for a client secret whose agent does not allow sharing. */
async function requireSharing(sql: Sql, caller: Caller): Promise<void> {
  if (caller.kind === 'secret' && !(await allowsSharing(sql, caller.agentId)))
    throw new HttpError(403, 'Users of this agent do not share their sessions (allowSharing).')
}

/** A share that was made, with its token and the path of its page. */
type Made = Share & { token: string; path: string }

/** Makes a share with its entry in the audit. `caller` is null for management. Throws 401, 404 and 409. */
export async function makeShare(
  { sql, request }: { sql: Sql; request: FastifyRequest },
  place: SessionPlace,
  share: NewShare,
  caller: Caller | null,
): Promise<Made> {
  const make = commitChange(sql, async (tx) => {
    if (caller?.kind === 'secret') await checkSecret(tx, caller)
    const made = await createShare(tx, place, share)
    if (made === 'no session') return missing('session')
    if (made === 'full') return conflict(`The session has ${MOST_SHARES} shares already: revoke one first.`)
    const { sessionId, token, ...stored } = made
    const changes = { sessionId, live: stored.live, include: stored.include, expiresAt: stored.expiresAt }
    const named = Object.entries(changes).map(([field, to]) => [field, { from: null, to }] as const)
    await writeEntries(tx, originOf(request), [entryOf('create', stored.id, Object.fromEntries(named))])
    return { ...stored, token, path: `/share/${place.agent_id.toLowerCase()}/${sessionId}#${token}` }
  })
  return await make.catch((error: unknown) => {
    throw codeOf(error) === SECRET_REVOKED ? revokedSecret() : error
  })
}

/** Revokes a share with its entry in the audit. Throws 404. */
export async function revokeShare(
  { sql, request }: { sql: Sql; request: FastifyRequest },
  place: SessionPlace,
  id: string,
): Promise<void> {
  await commitChange(sql, async (tx) => {
    if (!(await deleteShare(tx, place, id))) missing('share')
    const gone = { sessionId: { from: place.session_id.toLowerCase(), to: null } }
    await writeEntries(tx, originOf(request), [entryOf('delete', id.toLowerCase(), gone)])
  })
}

const entryOf = (action: 'create' | 'delete', id: string, changes: Record<string, { from: unknown; to: unknown }>) => ({
  action,
  kind: 'share',
  recordId: id,
  recordName: null,
  changes,
})

const wireShare = ({ id, live, include, expiresAt, createdAt }: Share) => ({
  id,
  live,
  include,
  expires_at: expiresAt,
  created_at: createdAt,
})

/** Returns the handlers of the deploy API. */
export const shareHandlers = ({ sql }: { sql: Sql }) =>
  ({
    createShare: async ({ params, body: { expires_at, ...given }, caller, request }) => {
      await requireSharing(sql, caller)
      const share = readShare({ ...given, expiresAt: expires_at }, 'expires_at')
      const made = await makeShare({ sql, request }, params, share, caller)
      return { ...wireShare(made), token: made.token, path: made.path }
    },
    listShares: async ({ params, caller }) => {
      await requireSharing(sql, caller)
      return { shares: ((await listShares(sql, params)) ?? missing('session')).map(wireShare) }
    },
    deleteShare: async ({ params, caller, request }) => {
      await requireSharing(sql, caller)
      await revokeShare({ sql, request }, params, params.share_id)
    },
  }) satisfies DeployHandlers<'shares'>

/** Returns the handlers of management, which its playground's paths have. */
export const playgroundShareHandlers = ({ sql }: { sql: Sql }) => ({
  createPlaygroundShare: async (asked: { params: SessionPlace; body: GivenShare; request: FastifyRequest }) =>
    await makeShare({ sql, request: asked.request }, asked.params, readShare(asked.body, 'expiresAt'), null),
  listPlaygroundShares: async ({ params }: { params: SessionPlace }) => ({
    shares: (await listShares(sql, params)) ?? missing('session'),
  }),
  deletePlaygroundShare: async (asked: { params: SessionPlace & { share_id: string }; request: FastifyRequest }) =>
    await revokeShare({ sql, request: asked.request }, asked.params, asked.params.share_id),
})
