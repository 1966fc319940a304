/** Sign-ins at the issuer: how a session begins, and how the issuer confirms it from time to time (contract section 33). */
import { createHash, randomUUID } from 'node:crypto'
import { createShared, oneAtATime } from '../../async/one-at-a-time.ts'
import type { Sql, Tx } from '../../persistence/postgres/database.ts'
import type { Secrets } from '../../persistence/records/access/secrets.ts'
import { type AuditedChange, writeEntries } from '../audit/index.ts'
import type { Person } from '../users/index.ts'
import { nameOf, type RoleRules, roleOf } from './claims.ts'
import { type Granted, type Issuer, IssuerError } from './issuer.ts'
import {
  type ClaimedLogin,
  type Confirmed,
  claimLook,
  confirmOidcLogin,
  createOidcLogin,
  endOidcLogin,
  findOidcLogin,
  type OidcLogin,
  postponeLook,
} from './store/oidc-logins.ts'

export interface OidcSettings {
  issuer: string
  clientId: string
  clientSecret: string | null
  /** `OIDC_ROLES` as it was written, and as it is read. */
  rolesText: string
  roles: RoleRules
  scopes: string
  recheckS: number
  /** Returns the address under which browsers reach the server, without a slash at its end. */
  publicUrl(): string
}

export interface SignIns {
  /** The credential of the sessions: with other settings they are over. */
  readonly credentialHash: Buffer
  /** Seconds within which a change at the issuer takes effect. */
  readonly recheckS: number
  /** Returns who the tokens are for. Null where no role is given. */
  personOf(granted: Granted): Person | null
  /** Stores the tokens of a login that was just made. */
  keep(tx: Tx, tokenHash: Buffer, person: Person, granted: Granted): Promise<void>
  /** Returns whose session it is, as the issuer says by now. Null when it is over. */
  check(tokenHash: Buffer): Promise<Person | null>
  /** Returns where the browser signs out at the issuer. Null where that is nowhere. */
  signOutUrl(tokenHash: Buffer): Promise<string | null>
}

/** Seconds after which an issuer that did not answer is asked again. */
const AWAY_S = 30
/** The time for which a request waits for the look of another instance, in milliseconds. */
const WAIT_MS = 10_000

export function createSignIns({
  sql,
  secrets,
  issuer,
  settings,
}: {
  sql: Sql
  secrets: Secrets
  issuer: Issuer
  settings: OidcSettings
}): SignIns {
  const { recheckS, roles } = settings
  const person = (subject: string, name: string, role: Person['role']): Person => ({
    name,
    role,
    method: 'oidc',
    identity: `oidc:${settings.issuer} ${subject}`,
  })
  const stored = (id: string, granted: Granted, role: Person['role'], before?: OidcLogin): Confirmed =>
    confirmedBy(secrets, recheckS, { id, granted, role, before })
  const opened = (id: string, token: string) => secrets.open(token, contextOf(id))

  /** Asks the issuer. No connection of the database is held meanwhile. */
  async function askIssuer(login: ClaimedLogin): Promise<Person | null> {
    const { id, name } = login
    const granted = await issuer.refresh(opened(id, login.refreshToken), roles.claim).catch(async (error: unknown) => {
      if (error instanceof IssuerError) return error
      await postponeLook(sql, login, { seconds: 0, refreshToken: null })
      throw error
    })
    if (granted instanceof IssuerError) {
      if (granted.kind === 'gone' || login.isStale) return await end(sql, login)
      const newer = granted.refreshToken && secrets.seal(granted.refreshToken, contextOf(id))
      await postponeLook(sql, login, { seconds: Math.min(AWAY_S, recheckS), refreshToken: newer })
      return person(login.subject, name, login.role)
    }
    const role = roleOf(roles, granted.claims)
    if (granted.subject !== login.subject || role === null) return await end(sql, login)
    const newName = nameOf(granted.claims)
    await sql.begin(async (tx) => {
      const isStored = await confirmOidcLogin(tx, login, newName, stored(id, granted, role, login))
      if (isStored && role !== login.role)
        await note(tx, newName, { action: 'update', changes: { role: { from: login.role, to: role } } })
    })
    return person(login.subject, newName, role)
  }

  const share = createShared<Person | null>()
  /** Looks once for all requests that wait for it; others wait for the instance that does. */
  const look = (tokenHash: Buffer, before: OidcLogin): Promise<Person | null> =>
    share(tokenHash.toString('hex'), () =>
      oneAtATime<ClaimedLogin, Person | null>({
        async done() {
          const login = await findOidcLogin(sql, tokenHash)
          if (login === null) return { result: null }
          return login.isDue ? null : { result: person(login.subject, login.name, login.role) }
        },
        claim: () => claimLook(sql, tokenHash),
        work: askIssuer,
        withinMs: WAIT_MS,
        late: () => (before.isStale ? null : person(before.subject, before.name, before.role)),
      }),
    )

  return {
    credentialHash: createHash('sha256')
      .update(JSON.stringify([settings.issuer, settings.clientId, settings.rolesText]))
      .digest(),
    recheckS,
    personOf(granted) {
      const role = roleOf(roles, granted.claims)
      return role && person(granted.subject, nameOf(granted.claims), role)
    },
    async keep(to, tokenHash, { role }, granted) {
      const id = randomUUID()
      await createOidcLogin(to, { id, tokenHash, ...stored(id, granted, role) })
    },
    async check(tokenHash) {
      const login = await findOidcLogin(sql, tokenHash)
      if (login === null || login.hasEnded) return null
      return login.isDue ? await look(tokenHash, login) : person(login.subject, login.name, login.role)
    },
    async signOutUrl(tokenHash) {
      const login = await findOidcLogin(sql, tokenHash)
      return login && (await issuer.endSession(opened(login.id, login.idToken), `${settings.publicUrl()}/`))
    },
  }
}

const contextOf = (id: string): string => `oidc-login:${id}`

/** Returns what is stored of tokens; those of before stand where none came. */
function confirmedBy(
  secrets: Pick<Secrets, 'seal'>,
  recheckS: number,
  { id, granted, role, before }: { id: string; granted: Granted; role: Person['role']; before: OidcLogin | undefined },
): Confirmed {
  const sealed = (token: string) => secrets.seal(token, contextOf(id))
  const refreshToken = granted.refreshToken === null ? (before?.refreshToken ?? null) : sealed(granted.refreshToken)
  return {
    subject: granted.subject,
    role,
    idToken: granted.idToken === null ? (before?.idToken ?? '') : sealed(granted.idToken),
    refreshToken,
    nextLookS: refreshToken === null ? null : recheckS,
    endsAt: refreshToken === null ? granted.expiresAt : null,
  }
}

/** Ends a session, unless it has ended meanwhile. */
async function end(sql: Sql, login: ClaimedLogin): Promise<null> {
  await sql.begin(async (tx) => {
    if (await endOidcLogin(tx, login)) await note(tx, login.name, { action: 'revoke', changes: {} })
  })
  return null
}

const note = (tx: Tx, name: string, { action, changes }: Pick<AuditedChange, 'action' | 'changes'>) =>
  writeEntries(tx, { actor: null, actorKind: 'system', ip: null, requestId: null }, [
    { action, kind: 'login', recordId: null, recordName: name, changes },
  ])
