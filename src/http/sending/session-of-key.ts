/**
 * Sessions that requests with an `Idempotency-Key` create (contract section 24). A key is no secret, so the id is derived
 * with one of ours: nobody takes the id that another's key will need.
 */
import { createHash, createHmac } from 'node:crypto'
import type { AnySql } from '../../persistence/postgres/database.ts'
import type { DerivedKey } from '../../persistence/records/access/secrets.ts'

export interface SessionOfKey {
  id: string
  /** True when the key has created the session. Otherwise no session has this id yet. */
  isMade: boolean
}

/** The caller of a request with a key. */
export interface KeyOwner {
  agentId: string
  user: string | null
  /** The `Idempotency-Key`. */
  key: string
}

/**
 * The number of sessions of one key that one query looks up. A key that is used once a day has created one session for
 * each day.
 */
const SESSIONS_AT_ONCE = 20

/**
 * Returns the session of an idempotency key. A retry finds the session that the first request created, as long as the
 * key is kept there. After that the key creates another session, which its own retries find. Of `secrets` the first one
 * names new sessions; those of the others were created before or during a rotation.
 */
export async function sessionOfKey(
  sql: AnySql,
  secrets: readonly Pick<DerivedKey, 'bytes'>[],
  owner: KeyOwner,
): Promise<SessionOfKey> {
  const { agentId, user, key } = owner
  for (let from = 0; ; from += SESSIONS_AT_ONCE) {
    const [ids = [], ...earlier] = secrets.map(({ bytes }) =>
      Array.from({ length: SESSIONS_AT_ONCE }, (_, n) => sessionId(bytes, [agentId, user, key, from + n])),
    )
    const known = from === 0 ? [...earlier.flat(), idOfEarlierVersions([agentId, user, key])] : earlier.flat()
    const found = await findSession(sql, { ids, known }, owner)
    if (found !== null) return found
  }
}

const sessionId = (secret: Uint8Array, of: readonly unknown[]): string =>
  derivedUuid(createHmac('sha256', secret).update(JSON.stringify(of)).digest('hex'))

/** Returns the id that earlier versions gave a key's first session: its retries come after an upgrade, too. */
const idOfEarlierVersions = (of: readonly unknown[]): string =>
  derivedUuid(createHash('sha256').update(JSON.stringify(of)).digest('hex'))

/** Returns a UUID of version 8. */
const derivedUuid = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`

/**
 * Returns the first of these sessions that the owner's key has created in the last 24 hours, or else the first of `ids`
 * without a session. It is null when each of them has a session, and none is the owner's and holds the key.
 */
export async function findSession(
  sql: AnySql,
  { ids, known }: { ids: readonly string[]; known: readonly string[] },
  { agentId, user, key }: KeyOwner,
): Promise<SessionOfKey | null> {
  // Each id is looked up by itself: a join read all keys, by a plan that was made when there were few.
  const [row] = await sql<SessionOfKey[]>`
    select n.id, k.is_there is not null as "isMade"
      from unnest(${[...ids, ...known]}::text[]::uuid[]) with ordinality as n (id, place)
      left join lateral (
        select x.agent_id::text = ${agentId} and x.end_user is not distinct from ${user}::text as is_own
          from sessions x where x.id = n.id limit 1) s on true
      left join lateral (
        select true as is_there from idempotency_keys x
         where s.is_own and x.session_id = n.id and x.key = ${key}
           and x.created_at > clock_timestamp() - interval '24 hours' limit 1) k on true
     where k.is_there or (s.is_own is null and n.place <= ${ids.length})
     order by k.is_there is null, n.place limit 1`
  return row ?? null
}
