/** The grants of users, as calls of MCP servers use them. One that is over is renewed by one of all that need it. */
import type { FetchLike } from '@modelcontextprotocol/client'
import type { Sql } from '../../persistence/postgres/database.ts'
import type { Secrets } from '../../persistence/records/access/secrets.ts'
import type { ReplyValues } from '../../templates/placeholders.ts'
import { renewGrant } from './oauth.ts'
import { pageFor } from './pages.ts'
import { findGrant, lockGrant, type StoredGrant, updateGrant } from './store/connections.ts'

export interface GrantOptions {
  sql: Sql
  secrets: Secrets
  /** Returns the fetch for what an MCP server of this address names. */
  fetchFor(url: string): FetchLike
  publicUrl(): string | null
}

const NOT_RENEWED = 'The sign-in of the user could not be renewed now, so the call was not made.'

const grantOf = ({ id, granted: { token, scope } }: StoredGrant): Grant => ({ id, token, scope })

/** A grant as calls use it: `token` is the access token. */
interface Grant {
  id: string
  token: string
  scope: string | null
}

export function createGrants({ sql, secrets, fetchFor, publicUrl }: GrantOptions) {
  /** Renews a grant, unless its token is another one by now. */
  const renew = (id: string, token: string): Promise<Grant | null> =>
    sql.begin(async (tx) => {
      await tx`select set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true),
                      set_config('idle_in_transaction_session_timeout', '0', true)`
      const stored = await lockGrant(tx, secrets, id)
      if (stored === null) return null
      if (stored.granted.token !== token) return grantOf(stored)
      const renewed = await renewGrant(stored.granted, fetchFor(stored.url)).catch((error: unknown) => {
        throw new Error(NOT_RENEWED, { cause: error })
      })
      if (renewed === null) {
        await tx`delete from mcp_connections where id = ${id}`
        return null
      }
      await updateGrant(tx, secrets, id, renewed)
      return grantOf({ ...stored, granted: renewed })
    })
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
