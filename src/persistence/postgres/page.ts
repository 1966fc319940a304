/** Lists of named records: a page and the number of all, in one statement. */
import type postgres from 'postgres'
import type { AnySql } from './database.ts'

/** Query of a list. `q`: a part of the name, without case. */
export interface PageQuery {
  limit: number
  offset: number
  q?: string | undefined
}

export interface Page<T> {
  items: T[]
  /** The number of all records that `q` matches. */
  total: number
}

/** Several records that together hold more than is read and written at once. */
export class PageTooLong extends Error {}

/** A page is one value in the database, here, and in the answer: 100 prompts of 4 MB held up all others for seconds. */
const MOST_BYTES = 32 * 2 ** 20

/** A piece of SQL. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

/** Formats a timestamptz as ISO 8601 UTC with milliseconds. */
export const isoTime = (sql: AnySql, column: string): Fragment =>
  sql`to_char(${sql(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Formats a time as JSON in a tenth of the time, for lists of many rows. `isoOf` converts it to the same text. */
export const quickTime = (sql: AnySql, column: string): Fragment =>
  sql`to_json(${sql(column)} at time zone 'UTC')::text`

/** Converts `"2026-01-02T03:04:05.6"`, quoted and with up to six decimals or none. */
export const isoOf = (time: string): string => `${time.slice(1, 20)}.${time.slice(21, -1).padEnd(3, '0').slice(0, 3)}Z`

/** Selects the two columns that every record ends with. */
export const timestamps = (sql: AnySql): Fragment =>
  sql`${isoTime(sql, 'created_at')} as "createdAt", ${isoTime(sql, 'updated_at')} as "updatedAt"`

/** Builds the column `items`, which is null where `item` of all rows of `rows` is too long together. */
export const itemsOf = (sql: AnySql, order: 'asc' | 'desc'): Fragment => sql`
  case when (select count(*) < 2 or sum(octet_length(item::text)) <= ${MOST_BYTES} from rows)
       then coalesce((select json_agg(item order by num ${order === 'asc' ? sql`asc` : sql`desc`}) from rows), '[]') end as items`

/** Rejects with PageTooLong. */
export function wholePage<Item>(page: { items: Item[] | null; total: number } | undefined): Page<Item> {
  const { items = [], total = 0 } = page ?? {}
  if (items === null) throw new PageTooLong()
  return { items, total }
}

/**
 * Lists the records of a table, oldest first. `table` has `name` and `num`; `columns` select what `Item` names, none of
 * them `num`. Rejects with PageTooLong. As json, not jsonb, which would forget the order of a schema's properties: a
 * client that sends a record back would lose it.
 */
export async function listByAge<Item>(
  sql: AnySql,
  table: string,
  columns: Fragment,
  { limit, offset, q = '' }: PageQuery,
): Promise<Page<Item>> {
  // strpos takes `%` and `_` as they are; it finds '' everywhere.
  const [page] = await sql<{ items: Item[] | null; total: number }[]>`
    with matching as (select * from ${sql(table)} where strpos(lower(name), lower(${q}::text)) > 0),
    page as (select * from matching order by num limit ${limit} offset ${offset}),
    rows as (select num, (select to_json(record) from (select ${columns}) as record) as item from page)
    select (select count(*)::integer from matching) as total, ${itemsOf(sql, 'asc')}`
  return wholePage(page)
}
