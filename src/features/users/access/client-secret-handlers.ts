/** Makes client secrets (contract section 11). */

import { missing } from '../../../http/server/http-error.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { numberSecret } from '../store/users.ts'
import type { DeployHandlers } from './caller.ts'
import { keyIdOf } from './caller.ts'
import type { ClientSecrets } from './client-secrets.ts'

export interface ClientSecretDependencies {
  sql: Sql
  clientSecrets: ClientSecrets
}

const DEFAULT_SECONDS = 600

export const clientSecretHandlers = ({ sql, clientSecrets }: ClientSecretDependencies) =>
  ({
    createClientSecret: async ({ params, body, caller, reply }) => {
      const { user } = body
      const agentId = params.agent_id.toLowerCase()
      const sessionId = body.session_id?.toLowerCase() ?? null
      const number = await numberSecret(sql, { agentId, user, sessionId })
      if (number === 'no agent') return missing('agent')
      if (number === 'no session') return missing('session')
      const expiresAt = Math.floor(Date.now() / 1000) + (body.expires_after?.seconds ?? DEFAULT_SECONDS)
      reply.header('cache-control', 'no-store')
      return {
        value: await clientSecrets.issue({ agentId, user, sessionId, number, keyId: keyIdOf(caller) }, expiresAt),
        expires_at: expiresAt,
        user,
        session_id: sessionId,
      }
    },
  }) satisfies DeployHandlers<'clientSecrets'>
