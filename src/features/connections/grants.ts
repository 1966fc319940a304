/** The grants of users, as calls of MCP servers use them. One that is over is renewed by one of all that need it. */
import type { FetchLike } from '@modelcontextprotocol/client'
import { createShared, oneAtATime } from '../../async/one-at-a-time.ts'
import type { Sql, Tx } from '../../persistence/postgres/database.ts'
import type { Secrets } from '../../persistence/records/access/secrets.ts'
import type { ReplyValues } from '../../templates/placeholders.ts'
import { writeEntries } from '../audit/index.ts'
import { renewGrant } from './oauth.ts'
import { pageFor } from './pages.ts'
import { entryOf } from './sign-in.ts'
import {
  type ClaimedGrant,
  claimGrant,
  deleteConnection,
  findGrant,
  readGrant,
  releaseGrant,
  type StoredGrant,
  updateGrant,
} from './store/connections.ts'

export interface GrantOptions {
  sql: Sql
  secrets: Secrets
  /** Returns the fetch for what an MCP server of this address names. */
  fetchFor(url: string): FetchLike
  publicUrl(): string | null
}

const NOT_RENEWED = 'The sign-in of the user could not be renewed now, so the call was not made.'

const grantOf = ({ id, granted: { token, scope } }: StoredGrant): Grant => ({ id, token, scope })

/** Removes a grant that its authorization server no longer knows, with its entry in the audit. */
async function removeEnded(tx: Tx, claimed: ClaimedGrant): Promise<void> {
  const removed = await deleteConnection(tx, { renewal: claimed.renewal })
  if (removed === null) return
  const { id, server, user } = removed
  const origin = { actor: null, actorKind: 'system' as const, ip: null, requestId: null }
  await writeEntries(tx, origin, [entryOf('delete', id, server, user)])
}

/** A grant as calls use it: `token` is the access token. */
interface Grant {
  id: string
  token: string
  scope: string | null
}

/** The time for which a call waits for the renewal of another instance, in milliseconds. */
const WAIT_MS = 30_000

export function createGrants({ sql, secrets, fetchFor, publicUrl }: GrantOptions) {
  /** Asks the authorization server. No connection of the database is held meanwhile. */
  async function renewClaimed(claimed: ClaimedGrant): Promise<Grant | null> {
    const renewed = await renewGrant(claimed.granted, fetchFor(claimed.url)).catch(async (error: unknown) => {
      await releaseGrant(sql, claimed)
      throw new Error(NOT_RENEWED, { cause: error })
    })
    if (renewed === null) {
      await sql.begin((tx) => removeEnded(tx, claimed))
      return null
    }
    // Removed or replaced meanwhile, the grant is no longer the user’s wish.
    return (await updateGrant(sql, secrets, claimed, renewed)) ? grantOf({ ...claimed, granted: renewed }) : null
  }

  const share = createShared<Grant | null>()
  /** Renews a grant once for all that need it at the same time, unless its token is another one by now. */
  const renew = (id: string, token: string): Promise<Grant | null> =>
    share(`${id} ${token}`, () =>
      oneAtATime<ClaimedGrant, Grant | null>({
        async done() {
          const stored = await readGrant(sql, secrets, id)
          if (stored === null) return { result: null }
          return stored.granted.token === token ? null : { result: grantOf(stored) }
        },
        claim: () => claimGrant(sql, secrets, id),
        async work(claimed) {
          if (claimed.granted.token === token) return await renewClaimed(claimed)
          await releaseGrant(sql, claimed)
          return grantOf(claimed)
        },
        withinMs: WAIT_MS,
        late() {
          throw new Error(NOT_RENEWED)
        },
      }),
    )
  return {
    async find(serverId: string, values: ReplyValues | undefined): Promise<Grant | null> {
      if (values?.sessionId == null || values.user === null) return null
      const stored = await findGrant(sql, secrets, { sessionId: values.sessionId, serverId })
      if (stored === null) return null
      // Without a refresh token it is used until the server refuses it.
      if (!stored.isOver || stored.granted.refreshToken === null) return grantOf(stored)
      return await renew(stored.id, stored.granted.token)
    },
    renew: ({ id, token }: Pick<Grant, 'id' | 'token'>) => renew(id, token),
    pageFor: (signIn: Parameters<typeof pageFor>[2]) => pageFor(secrets, publicUrl() ?? '', signIn),
  }
}
