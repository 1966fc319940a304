/** Sessions of people who signed in at the issuer (contract section 33), beside the rows of `logins`. */
import { randomUUID } from 'node:crypto'
import type { Role } from '../../../../openapi/operation.ts'
import type { AnySql, Tx } from '../../../persistence/postgres/database.ts'

export interface OidcLogin {
  id: string
  /** The name by now. */
  name: string
  subject: string
  role: Role
  /** Sealed, as the refresh token. */
  idToken: string
  refreshToken: string | null
  /** Whether the issuer is to be asked before the next answer. */
  isDue: boolean
  /** Whether the last confirmation is 12 hours old. */
  isStale: boolean
  hasEnded: boolean
}

/** Tokens and role as they are stored. The look that gave them was made just now. */
export interface Confirmed {
  subject: string
  role: Role
  idToken: string
  refreshToken: string | null
  /** Seconds until the next look. Null: none. */
  nextLookS: number | null
  /** Seconds since 1970. Null: no end of its own. */
  endsAt: number | null
}

/** Stores the row of a login that was just made. `id` is in the context of the sealed tokens. */
export async function createOidcLogin(
  sql: AnySql,
  login: Confirmed & { id: string; tokenHash: Buffer },
): Promise<void> {
  await sql`
    insert into oidc_logins (id, token_hash, subject, role, id_token, refresh_token, next_look, ends_at)
    values (${login.id}, ${login.tokenHash}, ${login.subject}, ${login.role}, ${login.idToken}, ${login.refreshToken},
            clock_timestamp() + make_interval(secs => ${login.nextLookS}::double precision),
            to_timestamp(${login.endsAt}::double precision))`
}

const columns = (sql: AnySql) => sql`
  o.id, l.username as name, o.subject, o.role, id_token as "idToken", refresh_token as "refreshToken",
  coalesce(next_look <= clock_timestamp(), false) as "isDue", looked_at < clock_timestamp() - interval '12 hours' as "isStale",
  coalesce(ends_at <= clock_timestamp(), false) as "hasEnded"`

export async function findOidcLogin(sql: AnySql, tokenHash: Buffer): Promise<OidcLogin | null> {
  const [login] = await sql<OidcLogin[]>`select ${columns(sql)} from oidc_logins o join logins l using (token_hash)
     where token_hash = ${tokenHash}`
  return login ?? null
}

/** Seconds for which one instance asks the issuer alone: longer than its endpoints have for their answers. */
const LOOK_S = 40

/** A session about which the issuer is asked. `look`: names who does it. */
export interface ClaimedLogin extends OidcLogin {
  look: string
  refreshToken: string
}

/** Claims a look that is due. Null: none is, or another instance has it. */
export async function claimLook(sql: AnySql, tokenHash: Buffer): Promise<ClaimedLogin | null> {
  const look = randomUUID()
  const [login] = await sql<OidcLogin[]>`
    update oidc_logins o set look = ${look}, look_ends = clock_timestamp() + make_interval(secs => ${LOOK_S})
      from logins l
     where o.token_hash = ${tokenHash} and l.token_hash = o.token_hash and o.refresh_token is not null
       and o.next_look <= clock_timestamp() and (o.look_ends is null or o.look_ends <= clock_timestamp())
    returning ${columns(sql)}`
  const { refreshToken = null } = login ?? {}
  return login && refreshToken !== null ? { ...login, refreshToken, look } : null
}

/** Stores what the issuer confirmed. False: the session is over, or another look has it. */
export async function confirmOidcLogin(
  tx: Tx,
  { id, look }: ClaimedLogin,
  name: string,
  confirmed: Confirmed,
): Promise<boolean> {
  const { count } = await tx`
    with changed as (
      update oidc_logins set role = ${confirmed.role}, id_token = ${confirmed.idToken}, refresh_token = ${confirmed.refreshToken},
             looked_at = clock_timestamp(), look = null, look_ends = null,
             next_look = clock_timestamp() + make_interval(secs => ${confirmed.nextLookS}::double precision),
             ends_at = to_timestamp(${confirmed.endsAt}::double precision)
       where id = ${id} and look = ${look} returning token_hash
    )
    update logins l set username = ${name} from changed c where l.token_hash = c.token_hash`
  return count > 0
}

/** Puts the next look off: the issuer did not answer to its end. `refreshToken`: a newer one that it gave before. */
export async function postponeLook(
  sql: AnySql,
  { id, look }: ClaimedLogin,
  { seconds, refreshToken }: { seconds: number; refreshToken: string | null },
): Promise<void> {
  await sql`
    update oidc_logins set next_look = clock_timestamp() + make_interval(secs => ${seconds}::double precision),
           refresh_token = coalesce(${refreshToken}, refresh_token), look = null, look_ends = null
     where id = ${id} and look = ${look}`
}

/** Ends a session. False: it is over already, or another look has it. */
export async function endOidcLogin(tx: Tx, { id, look }: ClaimedLogin): Promise<boolean> {
  const { count } = await tx`
    delete from logins l using oidc_logins o where o.id = ${id} and o.look = ${look} and l.token_hash = o.token_hash`
  return count > 0
}
