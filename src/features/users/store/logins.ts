/** Logins of the management API, and the rate limit on failed attempts (contract section 2). */
import type { AnySql, Sql } from '../../../persistence/postgres/database.ts'

/** A login that has not expired. */
export interface Login {
  username: string
  method: 'password' | 'oidc'
  /** The fingerprint of the credential that it was created with. */
  credentialHash: Buffer
  /** True if its time was extended just now. */
  renewed: boolean
  /** Seconds until it expires if it is not used. */
  expiresIn: number
}

const alive = (sql: AnySql) => sql`
  seen_at > clock_timestamp() - interval '7 days' and created_at > clock_timestamp() - interval '30 days'`

/** Stores a login under the SHA-256 of its token, and deletes expired ones. */
export async function createLogin(
  sql: AnySql,
  login: { tokenHash: Buffer } & Pick<Login, 'username' | 'credentialHash' | 'method'>,
): Promise<void> {
  await sql`
    with expired as (delete from logins where not (${alive(sql)}))
    insert into logins (token_hash, username, credential_hash, method)
    values (${login.tokenHash}, ${login.username}, ${login.credentialHash}, ${login.method})`
}

/** Finds a login and extends its 7 days, up to 30 in total. Null when there is none, or it has expired. */
export async function useLogin(sql: AnySql, tokenHash: Buffer): Promise<Login | null> {
  // Once a minute is enough for 7 days, and saves a write on other requests.
  const [login] = await sql<Login[]>`
    with renewed as (
      update logins set seen_at = clock_timestamp()
      where token_hash = ${tokenHash} and ${alive(sql)} and seen_at < clock_timestamp() - interval '1 minute'
      returning seen_at
    )
    select username, method, credential_hash as "credentialHash", exists (select from renewed) as renewed,
      floor(extract(epoch from least(
        coalesce((select seen_at from renewed), seen_at) + interval '7 days', created_at + interval '30 days'
      ) - clock_timestamp()))::integer as "expiresIn"
    from logins where token_hash = ${tokenHash} and ${alive(sql)}`
  return login ?? null
}

/** Finds a login without extending it. */
export async function findLogin(sql: AnySql, tokenHash: Buffer): Promise<Login | null> {
  const [login] = await sql<Login[]>`
    select username, method, credential_hash as "credentialHash", false as renewed, 0 as "expiresIn"
      from logins where token_hash = ${tokenHash} and ${alive(sql)}`
  return login ?? null
}

export async function deleteLogin(sql: AnySql, tokenHash: Buffer): Promise<void> {
  await sql`delete from logins where token_hash = ${tokenHash}`
}

/** An attempt that counts as failed until it is forgiven. Refused: seconds until the next one is allowed. */
export type Attempt = { allowed: true; at: string } | { allowed: false; retryAfter: number }

/**
 * Counts an attempt before its password is checked, so that concurrent guesses cannot exceed the limit: five a minute
 * for an address and name, thirty for an address. Refused attempts are not counted.
 */
export async function beginAttempt(sql: Sql, address: string, username: string): Promise<Attempt> {
  return sql.begin(async (tx) => {
    // A separate statement: the snapshot of the next one must be taken after the lock.
    await tx`select pg_advisory_xact_lock(hashtextextended(${`login ${address}`}, 0))`
    const [counted] = await tx<{ at: string | null; retryAfter: number | null }[]>`
      with old as (
        delete from login_failures where ctid = any (array(
          select ctid from login_failures where at < clock_timestamp() - interval '1 minute' for update skip locked
        ))
      ),
      recent as (
        select at, username from login_failures
        where address = ${address} and at >= clock_timestamp() - interval '1 minute'
      ),
      full_since as (
        select greatest(
          (select at from recent where username = ${username} order by at desc offset 4 limit 1),
          (select at from recent order by at desc offset 29 limit 1)
        ) as at
      ),
      added as (
        insert into login_failures (address, username)
        select ${address}, ${username} from full_since where at is null
        returning at::text
      )
      select (select at from added) as at,
        greatest(1, ceil(extract(epoch from at + interval '1 minute' - clock_timestamp())))::integer as "retryAfter"
      from full_since`
    if (counted?.at) return { allowed: true, at: counted.at }
    return { allowed: false, retryAfter: counted?.retryAfter ?? 60 }
  })
}

/** Removes an attempt from the count: its password was correct. `at` as returned by `beginAttempt`. */
export async function forgiveAttempt(sql: AnySql, address: string, username: string, at: string): Promise<void> {
  await sql`
    delete from login_failures
    where address = ${address} and username = ${username} and at = ${at}::text::timestamptz`
}

/** Removes logins and failures that have expired. May run anywhere, any number of times. */
export async function tidyLogins(sql: Sql): Promise<void> {
  await sql`delete from login_failures where at < clock_timestamp() - interval '1 hour'`
  await sql`
    delete from logins where created_at < clock_timestamp() - interval '30 days'
                          or seen_at < clock_timestamp() - interval '7 days'`
}
