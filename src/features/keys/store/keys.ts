/** Named keys of the deploy and management APIs (contract section 23). Only a key's SHA-256 is stored. */
import { createHash, randomBytes } from 'node:crypto'
import type { Role } from '../../../../openapi/operation.ts'
import type { Limits } from '../../../actors/ports/limits.ts'
import type { AnySql, Tx } from '../../../persistence/postgres/database.ts'
import { type Fragment, isoTime, timestamps } from '../../../persistence/postgres/page.ts'
import { recordTable } from '../../../persistence/record-table.ts'

export type KeyScope = 'deploy' | 'management' | 'management:read' | 'audit:read'

/** Times are ISO 8601 UTC. */
export interface Key {
  id: string
  name: string
  /** The last four characters of the key. */
  hint: string
  scopes: KeyScope[]
  /** Narrows what `management` and `management:read` open. Null when it has none. */
  role: Role | null
  /** Null when it opens all agents. */
  agentIds: string[] | null
  /** Null when it has none. */
  limits: Limits | null
  /** Null when it does not expire. */
  expiresAt: string | null
  /** Null when it was never used. */
  lastUsedAt: string | null
  /** The name of the login that made it. Null where no login was required. */
  createdBy: string | null
  createdAt: string
  updatedAt: string
}

/** A key as instances compare it with what was sent. */
export type KnownKey = Pick<Key, 'id' | 'name' | 'scopes' | 'role' | 'agentIds' | 'limits' | 'expiresAt'> & {
  hash: string
}

export type NewKey = Pick<Key, 'name' | 'scopes' | 'role' | 'agentIds' | 'limits' | 'expiresAt' | 'createdBy'>

/** Absent fields keep their value. */
export type KeyChanges = { [Field in 'name' | 'agentIds' | 'limits' | 'expiresAt']?: Key[Field] | undefined }

export const hashOfKey = (key: string): string => createHash('sha256').update(key).digest('hex')

const columns = (sql: AnySql): Fragment => sql`
  id, name, hint, coalesce(role_scopes, scopes) as scopes, role, agent_ids as "agentIds", limits, ${isoTime(sql, 'expires_at')} as "expiresAt",
  ${isoTime(sql, 'last_used_at')} as "lastUsedAt", created_by as "createdBy", ${timestamps(sql)}`

const known = (sql: AnySql): Fragment => sql`
  id, name, coalesce(role_scopes, scopes) as scopes, role, agent_ids as "agentIds", limits, ${isoTime(sql, 'expires_at')} as "expiresAt", encode(hash, 'hex') as hash`

const table = recordTable<Key>('keys', columns)
export const { list: listKeys, find: findKey, remove: deleteKey } = table

/** Makes the key too, which is read here alone. */
export async function createKey(
  sql: AnySql,
  { name, scopes, role, agentIds, limits, expiresAt, createdBy }: NewKey,
): Promise<Key & { key: string }> {
  const key = `gr_${randomBytes(32).toString('base64url')}`
  const created = await table.insert(
    sql,
    sql`(name, hint, hash, scopes, role, role_scopes, agent_ids, limits, expires_at, created_by)
    values (${name}, ${key.slice(-4)}, decode(${hashOfKey(key)}, 'hex'), ${role === null ? scopes : []}::text[], ${role},
            ${role === null ? null : scopes}::text[], ${agentIds}::uuid[],
            ${limits && JSON.stringify(limits)}::text::jsonb, ${expiresAt}::text::timestamptz, ${createdBy})`,
  )
  return { ...created, key }
}

/** Returns the keys that name this agent. Locks them until the end of the transaction. */
export const lockKeysOf = async (tx: Tx, agentId: string): Promise<Key[]> =>
  await tx<
    Key[]
  >`select ${columns(tx)} from keys where ${agentId}::uuid = any (agent_ids) order by id for no key update`

/** Changes a key. Returns null if there is no such key. */
export const updateKey = (
  sql: AnySql,
  id: string,
  { name, agentIds, limits, expiresAt }: KeyChanges,
): Promise<Key | null> =>
  table.update(
    sql,
    id,
    sql`
      name = coalesce(${name ?? null}, name),
      agent_ids = case when ${agentIds !== undefined} then ${agentIds ?? null}::uuid[] else agent_ids end,
      limits = case when ${limits !== undefined} then ${limits ? JSON.stringify(limits) : null}::text::jsonb else limits end,
      expires_at = case when ${expiresAt !== undefined} then ${expiresAt ?? null}::text::timestamptz else expires_at end`,
  )

/** Returns a number that rises with every change of a key. */
export async function keysVersion(sql: AnySql): Promise<number> {
  const [row] = await sql<{ version: string }[]>`select version::text from key_changes`
  return Number(row?.version ?? 0)
}

export const knownKeys = async (sql: AnySql): Promise<KnownKey[]> => [
  ...(await sql<KnownKey[]>`select ${known(sql)} from keys`),
]

/** Returns a key by its hash or id. Null if there is none. */
export async function findKnownKey(sql: AnySql, by: { hash: string } | { id: string }): Promise<KnownKey | null> {
  const [key] =
    'hash' in by
      ? await sql<KnownKey[]>`select ${known(sql)} from keys where hash = decode(${by.hash}, 'hex')`
      : await sql<KnownKey[]>`select ${known(sql)} from keys where id = ${by.id}`
  return key ?? null
}

export async function noteUse(sql: AnySql, ids: readonly string[]): Promise<void> {
  await sql`update keys set last_used_at = clock_timestamp() where id = any (${[...ids]}::uuid[])`
}
