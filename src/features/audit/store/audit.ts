/** The audit log (contract section 23). An entry is written in the transaction of its change. */
import type { AnySql } from '../../../persistence/postgres/database.ts'
import { type Fragment, isoTime, itemsOf, type Page, wholePage } from '../../../persistence/postgres/page.ts'
import { parseExact } from '../../../untrusted/exact-json.ts'

type AuditAction =
  | 'create'
  | 'update'
  | 'delete'
  | 'import'
  | 'export'
  | 'login'
  | 'login_failed'
  | 'logout'
  | 'revoke'
  | 'decide'
  | 'read'
  | 'publish'

/** The sender of a change, and the request. */
export interface AuditOrigin {
  /** Name of a login, a key or an end user. Null when there is none. */
  actor: string | null
  actorKind: 'login' | 'oidc' | 'key' | 'deploy_key' | 'client_secret' | 'system'
  ip: string | null
  requestId: string | null
}

export type AuditChanges = Record<string, { from: unknown; to: unknown }>

/** An action on one record. */
export interface AuditedChange {
  action: AuditAction
  kind: string
  recordId: string | null
  recordName: string | null
  changes: AuditChanges
}

export interface AuditEntry extends AuditedChange, AuditOrigin {
  id: string
  /** ISO 8601 UTC. */
  at: string
}

export interface AuditQuery {
  limit: number
  offset: number
  /** A part of the actor's or the record's name, or the record's id. */
  q?: string | undefined
  actor?: string | undefined
  kind?: string | undefined
  /** ISO 8601. */
  from?: string | undefined
  /** ISO 8601, exclusive. */
  to?: string | undefined
}

/** A reading of the audit in the order of commits. */
export interface AuditFollowing extends Pick<AuditQuery, 'limit' | 'q' | 'actor' | 'kind'> {
  /** The place behind which it continues: 0, or that of an entry that was read. */
  after: bigint
}

/** Tells the transaction who changes something: the author of versions that the change makes. */
export const tellActor = (tx: AnySql, { actor }: Pick<AuditOrigin, 'actor'>) =>
  tx`select set_config('greenroom.actor', ${actor ?? ''}, true)`

/** Writes entries, several at once: an import changes many records. */
export async function writeEntries(
  sql: AnySql,
  { actor, actorKind, ip, requestId }: AuditOrigin,
  changes: readonly AuditedChange[],
): Promise<void> {
  if (changes.length === 0) return
  await sql`
    insert into audit_entries (actor, actor_kind, ip, request_id, action, kind, record_id, record_name, changes)
    select ${actor}, ${actorKind}, ${ip}, ${requestId}, c.action, c.kind, c."recordId", c."recordName", c.changes
      from jsonb_to_recordset(${JSON.stringify(changes)}::text::jsonb)
           as c(action text, kind text, "recordId" text, "recordName" text, changes jsonb)`
}

/** Returns the conditions for the entries of a list. */
function matching(sql: AnySql, { q = '', actor, kind, from, to }: Omit<AuditQuery, 'limit' | 'offset'>): Fragment {
  const names = sql`lower(coalesce(actor, '') || ' ' || coalesce(record_name, '') || ' ' || coalesce(record_id, ''))`
  return sql`${q === '' ? sql`` : sql`and strpos(${names}, lower(${q}::text)) > 0`}
             ${actor === undefined ? sql`` : sql`and actor = ${actor}`}
             ${kind === undefined ? sql`` : sql`and kind = ${kind}`}
             ${from === undefined ? sql`` : sql`and at >= ${from}::text::timestamptz`}
             ${to === undefined ? sql`` : sql`and at < ${to}::text::timestamptz`}`
}

const columns = (sql: AnySql): Fragment => sql`
  id, ${isoTime(sql, 'at')} as at, actor, actor_kind as "actorKind", action, kind, record_id as "recordId",
  record_name as "recordName", changes::text as changes, ip, request_id as "requestId"`

/** Changes are read as text: the driver's numbers lose digits. */
type Row = Omit<AuditEntry, 'changes'> & { changes: string }

const readEntry = ({ changes, ...entry }: Row): AuditEntry => ({ ...entry, changes: Object(parseExact(changes)) })

/**
 * Returns entries in the order of their commits, and the place of the last one: whoever continues there misses none that
 * commits late (`number_audit_entry` gives the places). Null where no entry ever had the place. Rejects with PageTooLong.
 */
export async function followEntries(
  sql: AnySql,
  query: AuditFollowing,
): Promise<{ entries: AuditEntry[]; next: string } | null> {
  const [page] = await sql<{ items: Row[] | null; last: string | null; known: boolean }[]>`
    with page as (
      select committed as num, ${columns(sql)} from audit_entries
       where committed > ${String(query.after)}::text::bigint ${matching(sql, query)} order by committed limit ${query.limit}
    ),
    rows as (select num, to_jsonb(page) - 'num' as item from page)
    select (select max(num)::text from page) as last,
           ${String(query.after)}::text::bigint <= coalesce(pg_sequence_last_value('audit_commits'::regclass), 0) as known,
           ${itemsOf(sql, 'asc')}`
  if (page === undefined || !page.known) return null
  const { items } = wholePage({ items: page.items, total: 0 })
  return { entries: items.map(readEntry), next: page.last ?? String(query.after) }
}

/**
 * Returns a page of entries, newest first. The page is found through the index, and other entries are only counted.
 * Rejects with PageTooLong.
 */
export async function listEntries(sql: AnySql, query: AuditQuery): Promise<Page<AuditEntry>> {
  const { limit, offset } = query
  const found = matching(sql, query)
  const [page] = await sql<{ items: Row[] | null; total: number }[]>`
    with page as (
      select num, ${columns(sql)}
        from audit_entries where true ${found} order by num desc limit ${limit} offset ${offset}
    ),
    rows as (select num, to_jsonb(page) - 'num' as item from page)
    select (select count(*)::integer from audit_entries where true ${found}) as total, ${itemsOf(sql, 'desc')}`
  const { items, total } = wholePage(page)
  return { items: items.map(readEntry), total }
}

export async function forgetEntries(sql: AnySql, days: number): Promise<void> {
  await sql`delete from audit_entries where at < clock_timestamp() - make_interval(days => ${days}::integer)`
}
