/** Login, logout, and the current login (specification 4.2, contract section 2). */

import { inTurns } from '../../../async/in-turns.ts'
import { badRequest, HttpError } from '../../../http/server/http-error.ts'
import type { Handlers } from '../../../http/server/mount.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { originOf, writeEntries } from '../../audit/index.ts'
import * as logins from '../store/logins.ts'
import type { Credentials } from './credentials.ts'
import { loginAddress } from './login-address.ts'
import type { LoginSessions, Person } from './login-session.ts'

/** Null when no login is required. */
export type LoginDependencies = {
  sql: Sql
  /** Null where nobody logs in with a password. */
  credentials: Credentials | null
  sessions: LoginSessions
  /** The sign-in by OpenID Connect. Null without. */
  oidc: {
    /** Returns the address at which a browser begins it. */
    url(): string
    /** Returns where the browser signs out at the issuer. Null where that is nowhere. */
    signOutUrl(tokenHash: Buffer): Promise<string | null>
  } | null
} | null

// Counted names are stored; no longer one is configured.
const longestUsername = 200

export const loginHandlers = (deps: LoginDependencies) => {
  // One at a time for an address: logins under way must not look like failures to those beside them.
  const turn = inTurns()
  return {
    getAuthStatus: async ({ request, reply }) => ({
      authRequired: deps !== null,
      authenticated: deps === null || (await deps.sessions.personOf(request, reply)) !== null,
      methods: methodsOf(deps),
      oidcUrl: deps?.oidc?.url() ?? null,
    }),
    login: async ({ body: { username, password }, request, reply }) => {
      if ([...username].length > longestUsername) badRequest('username: must have at most 200 characters')
      if (!deps?.credentials) throw new HttpError(401, 'No login is set up: AUTH_CREDENTIALS is not set.')
      const { sql, credentials } = deps
      const address = loginAddress(request.ip)
      const note = (action: 'login' | 'login_failed') =>
        writeEntries(deps.sql, { ...originOf(request), actor: username, actorKind: 'login' }, [
          entryOf(action, username),
        ])
      await turn(address, () => attempt({ sql, credentials }, address, username, password)).catch(
        async (error: unknown) => {
          if (error instanceof HttpError && error.status === 401) await note('login_failed')
          throw error
        },
      )
      await deps.sessions.begin(username, request, reply)
      await note('login')
      return { username }
    },
    logout: async ({ request, reply }) => {
      if (deps === null) return await reply.code(204).send()
      const person = await deps.sessions.personOf(request, reply)
      const tokenHash = deps.sessions.tokenHashOf(request)
      const isOidc = person?.method === 'oidc' && tokenHash !== null
      const logoutUrl = isOidc ? ((await deps.oidc?.signOutUrl(tokenHash)) ?? null) : null
      await deps.sessions.end(request, reply)
      if (person !== null) {
        const actorKind = person.method === 'oidc' ? ('oidc' as const) : ('login' as const)
        await writeEntries(deps.sql, { ...originOf(request), actor: person.name, actorKind }, [
          entryOf('logout', person.name),
        ])
      }
      if (logoutUrl === null) return await reply.code(204).send()
      return { logoutUrl }
    },
    getCurrentUser: ({ request: { person = null, role = null } }) => ({
      username: person?.name ?? null,
      role,
      method: person?.method ?? null,
    }),
  } satisfies Handlers<'auth'>
}

function methodsOf(deps: LoginDependencies): Person['method'][] {
  const password = deps?.credentials ? (['password'] as const) : []
  return deps?.oidc ? [...password, 'oidc'] : [...password]
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
  { sql, credentials }: { sql: Sql; credentials: Credentials },
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
