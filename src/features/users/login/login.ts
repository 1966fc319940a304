/** Login, logout, and the current login (specification 4.2, contract section 2). */

import { inTurns } from '../../../async/in-turns.ts'
import { badRequest, HttpError } from '../../../http/server/http-error.ts'
import type { Handlers } from '../../../http/server/mount.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { originOf, writeEntries } from '../../audit/index.ts'
import * as logins from '../store/logins.ts'
import type { Credentials } from './credentials.ts'
import { loginAddress } from './login-address.ts'
import type { LoginSessions } from './login-session.ts'

/** Null when no login is required. */
export type LoginDependencies = { sql: Sql; credentials: Credentials; sessions: LoginSessions } | null

// Counted names are stored; no longer one is configured.
const longestUsername = 200

export const loginHandlers = (deps: LoginDependencies) => {
  // One at a time for an address: logins under way must not look like failures to those beside them.
  const turn = inTurns()
  return {
    getAuthStatus: async ({ request, reply }) => ({
      authRequired: deps !== null,
      authenticated: deps === null || (await deps.sessions.userOf(request, reply)) !== null,
    }),
    login: async ({ body: { username, password }, request, reply }) => {
      if ([...username].length > longestUsername) badRequest('username: must have at most 200 characters')
      if (deps === null) throw new HttpError(401, 'No login is set up: AUTH_CREDENTIALS is not set.')
      const address = loginAddress(request.ip)
      const note = (action: 'login' | 'login_failed') =>
        writeEntries(deps.sql, { ...originOf(request), actor: username, actorKind: 'login' }, [
          entryOf(action, username),
        ])
      await turn(address, () => attempt(deps, address, username, password)).catch(async (error: unknown) => {
        if (error instanceof HttpError && error.status === 401) await note('login_failed')
        throw error
      })
      await deps.sessions.begin(username, request, reply)
      await note('login')
      return { username }
    },
    logout: async ({ request, reply }) => {
      if (deps === null) return
      const username = await deps.sessions.userOf(request, reply)
      await deps.sessions.end(request, reply)
      if (username === null) return
      const origin = { ...originOf(request), actor: username, actorKind: 'login' as const }
      await writeEntries(deps.sql, origin, [entryOf('logout', username)])
    },
    getCurrentUser: async ({ request, reply }) => ({
      username: deps === null ? null : await deps.sessions.userOf(request, reply),
    }),
  } satisfies Handlers<'auth'>
}

const entryOf = (action: 'login' | 'login_failed' | 'logout', username: string) => ({
  action,
  kind: 'login',
  recordId: null,
  recordName: username,
  changes: {},
})

/** Throws 401, or 429 whatever the password. */
async function attempt(
  { sql, credentials }: NonNullable<LoginDependencies>,
  address: string,
  username: string,
  password: string,
): Promise<void> {
  const counted = await logins.beginAttempt(sql, address, username)
  if (!counted.allowed) {
    throw new HttpError(429, `Too many failed logins. Try again in ${counted.retryAfter} s.`, {
      'retry-after': String(counted.retryAfter),
    })
  }
  if (!(await credentials.fit(username, password))) throw new HttpError(401, 'The name or the password is wrong.')
  await logins.forgiveAttempt(sql, address, username, counted.at)
}
