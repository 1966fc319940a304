/** Providers: connections to model vendors. Their keys are stored and returned encrypted only (`secrets.ts`). */
import type { WireApi } from '../../actors/ports/index.ts'
import type { AnySql, Tx } from '../postgres/database.ts'
import { type Fragment, listByAge, type Page, type PageQuery, timestamps } from '../postgres/page.ts'
import { isUuid } from '../postgres/uuid.ts'

/** A provider as callers read it. `Type`: the ids that were ever stored. Times are ISO 8601 UTC. */
export interface Provider<Type extends string = string> {
  id: string
  name: string
  providerType: Type
  baseUrl: string | null
  /** Null when its type knows one API only. */
  wireApi: WireApi | null
  hasApiKey: boolean
  apiKeyHint: string | null
  createdAt: string
  updatedAt: string
}

/** The data that a call to the vendor needs; `apiKey` is encrypted. */
export interface StoredConnection {
  id: string
  type: string
  baseUrl: string | null
  apiKey: string | null
  wireApi: WireApi | null
}

/** Returns the encryption context of a provider's key: an encrypted key that is moved to another row cannot be decrypted. */
export const keyContext = (providerId: string): string => `provider:${providerId}`

/** An encrypted key, and the part of it that may be shown. */
export interface SealedKey {
  apiKey: string | null
  apiKeyHint: string | null
}

export interface NewProvider<Type extends string> extends SealedKey {
  id: string
  name: string
  providerType: Type
  baseUrl: string | null
  wireApi: WireApi | null
}

/** Absent fields keep their value. */
export interface ProviderChanges {
  name?: string | undefined
  baseUrl?: string | null | undefined
  wireApi?: WireApi | undefined
  key?: SealedKey | undefined
}

/** Selects the API of a provider. `of`: the alias of the table, and a dot. */
export const wireApi = (sql: AnySql, of: Fragment): Fragment => sql`
  case when ${of}provider_type in ('openai', 'openai-compatible') then coalesce(${of}wire_api, 'chat_completions') end`

const columns = (sql: AnySql): Fragment => sql`
  id, name, provider_type as "providerType", base_url as "baseUrl", ${wireApi(sql, sql``)} as "wireApi",
  api_key is not null as "hasApiKey", api_key_hint as "apiKeyHint", ${timestamps(sql)}`

const connection = (sql: AnySql): Fragment => sql`
  id, provider_type as type, base_url as "baseUrl", api_key as "apiKey", ${wireApi(sql, sql``)} as "wireApi"`

/** Lists providers, oldest first. */
export const listProviders = <Type extends string>(sql: AnySql, query: PageQuery): Promise<Page<Provider<Type>>> =>
  listByAge<Provider<Type>>(sql, 'providers', columns(sql), query)

/** Returns the types that at least one provider has. */
export async function usedProviderTypes(sql: AnySql): Promise<string[]> {
  const rows = await sql<{ type: string }[]>`select distinct provider_type as type from providers`
  return rows.map(({ type }) => type)
}

/** Finds a provider. Null when there is no such provider. */
export async function findProvider<Type extends string>(sql: AnySql, id: string): Promise<Provider<Type> | null> {
  if (!isUuid(id)) return null
  const [provider] = await sql<Provider<Type>[]>`select ${columns(sql)} from providers where id = ${id}`
  return provider ?? null
}

/** Finds the connection of a provider. Null when there is no such provider. */
export async function findConnection(sql: AnySql, id: string): Promise<StoredConnection | null> {
  if (!isUuid(id)) return null
  const [stored] = await sql<StoredConnection[]>`select ${connection(sql)} from providers where id = ${id}`
  return stored ?? null
}

/** Finds the connections of these providers, those of them that exist. */
export const findConnections = (sql: AnySql, ids: readonly string[]) =>
  sql<StoredConnection[]>`select ${connection(sql)} from providers where id = any (${[...ids]}::uuid[])`

/** Rejects with the constraint `providers_name_unique` when the name is taken. */
export async function createProvider<Type extends string>(
  sql: AnySql,
  provider: NewProvider<Type>,
): Promise<Provider<Type>> {
  const { id, name, providerType, baseUrl, wireApi: api, apiKey, apiKeyHint } = provider
  const [created] = await sql<Provider<Type>[]>`
    insert into providers (id, name, provider_type, base_url, wire_api, api_key, api_key_hint)
    values (${id}, ${name}, ${providerType}, ${baseUrl}, ${api}, ${apiKey}, ${apiKeyHint})
    returning ${columns(sql)}`
  if (created === undefined) throw new Error('The new provider was not returned.')
  return created
}

/**
 * Changes a provider. `decide` gets the stored connection, locked until the changes are written. It may throw: then nothing
 * changes. Null: no such provider. Rejects with the constraint `providers_name_unique` when the name is taken.
 */
export async function changeProvider<Type extends string>(
  tx: Tx,
  id: string,
  decide: (stored: StoredConnection) => ProviderChanges,
): Promise<Provider<Type> | null> {
  if (!isUuid(id)) return null
  const [stored] = await tx<StoredConnection[]>`
    select ${connection(tx)} from providers where id = ${id} for no key update`
  if (stored === undefined) return null
  const { name, baseUrl, wireApi: api, key } = decide(stored)
  const [updated] = await tx<Provider<Type>[]>`
    update providers set
      name = coalesce(${name ?? null}, name),
      base_url = case when ${baseUrl !== undefined} then ${baseUrl ?? null} else base_url end,
      wire_api = coalesce(${api ?? null}, wire_api),
      api_key = case when ${key !== undefined} then ${key?.apiKey ?? null} else api_key end,
      api_key_hint = case when ${key !== undefined} then ${key?.apiKeyHint ?? null} else api_key_hint end,
      updated_at = clock_timestamp()
    where id = ${id}
    returning ${columns(tx)}`
  return updated ?? null
}

/**
 * Deletes a provider. False when there is no such provider. Rejects with the constraint `agents_provider` or
 * `agent_fallbacks_provider` while agents use it.
 */
export async function deleteProvider(sql: AnySql, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { count } = await sql`delete from providers where id = ${id}`
  return count > 0
}
