/** Sessions of people who signed in at the issuer (contract section 33), beside the rows of `logins`. */
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

/** Locks the row until the end of the transaction: one instance asks the issuer, and the others wait for it. */
export async function lockOidcLogin(tx: Tx, tokenHash: Buffer): Promise<OidcLogin | null> {
  await tx`select from oidc_logins where token_hash = ${tokenHash} for update`
  // A statement of its own: what another instance has stored meanwhile is in its snapshot.
  return await findOidcLogin(tx, tokenHash)
}

/** Stores what the issuer confirmed. */
export async function confirmOidcLogin(tx: Tx, id: string, name: string, confirmed: Confirmed): Promise<void> {
  await tx`
    with changed as (
      update oidc_logins set role = ${confirmed.role}, id_token = ${confirmed.idToken}, refresh_token = ${confirmed.refreshToken},
             looked_at = clock_timestamp(),
             next_look = clock_timestamp() + make_interval(secs => ${confirmed.nextLookS}::double precision),
             ends_at = to_timestamp(${confirmed.endsAt}::double precision)
       where id = ${id} returning token_hash
    )
    update logins l set username = ${name} from changed c where l.token_hash = c.token_hash`
}

/** Puts the next look off: the issuer did not answer to its end. `refreshToken`: a newer one that it gave before. */
export async function postponeLook(
  tx: Tx,
  id: string,
  { seconds, refreshToken }: { seconds: number; refreshToken: string | null },
): Promise<void> {
  await tx`
    update oidc_logins set next_look = clock_timestamp() + make_interval(secs => ${seconds}::double precision),
           refresh_token = coalesce(${refreshToken}, refresh_token)
     where id = ${id}`
}
