/** A database as a whole, to be compared with another one: its rows, and what it is made of. */
import type { AnySql, Sql } from '../../src/persistence/postgres/database.ts'

/** All rows of all tables except the migration's own. */
export async function rowsOf(sql: AnySql): Promise<Record<string, unknown>> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables
     where schemaname = 'public' and tablename not in ('schema_migrations', 'compatibility', 'definitions') order by 1`
  const rows = tables.map(async ({ name }) => [
    name,
    (await sql`select to_jsonb(t) as row from ${sql(name)} t order by to_jsonb(t)::text`).map(({ row }) => row),
  ])
  return Object.fromEntries(await Promise.all(rows))
}

/** Columns, constraints, indexes, triggers and functions, in any order. */
export const shapeOf = (sql: Sql) => sql`
  select 'column' as kind, attrelid::regclass::text || '.' || attname as name,
         format_type(atttypid, atttypmod) || ' ' || attnotnull || ' ' || attidentity::text || ' '
         || coalesce((select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = attrelid and adnum = attnum), '') as text
    from pg_attribute where attrelid::regclass::text in (select tablename from pg_tables where schemaname = 'public')
     and attnum > 0 and not attisdropped
  union all select 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid) from pg_constraint
   where connamespace = 'public'::regnamespace and contype <> 'n'
  union all select 'index', indexname, indexdef from pg_indexes where schemaname = 'public'
  union all select 'trigger', tgrelid::regclass || '.' || tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
  union all select 'function', oid::regprocedure::text, pg_get_functiondef(oid) from pg_proc
   where pronamespace = 'public'::regnamespace
  union all select 'storage', oid::regclass::text, array_to_string(reloptions, ' ') from pg_class
   where relnamespace = 'public'::regnamespace and reloptions is not null
  union all select 'sequence', relname, '' from pg_class where relkind = 'S' and relnamespace = 'public'::regnamespace
  union all select 'bookkeeping', 'compatibility', oldest::text from compatibility
  union all select 'bookkeeping', 'migration', version || ' ' || name || ' ' || md5 from schema_migrations where version > 0
  union all select 'bookkeeping', name, revision || ' ' || checksum from definitions
   order by 1, 2, 3`

/** These rows without what was null before, in the same order. */
export const withNullsOf = (before: unknown, rows: unknown): unknown[] => {
  const earlier = new Map(Array.from(Object(before), (row) => [Object(row).id, Object(row)]))
  return Array.from(Object(rows), (row) => {
    const nulls = Object.entries(earlier.get(Object(row).id)).filter(([, value]) => value === null)
    return { ...Object(row), ...Object.fromEntries(nulls) }
  })
}

/** Rows without the tables and columns that later migrations add. */
export function knownTo(before: Record<string, unknown>, after: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(before).map(([table, rows]) => {
      const found = after[table]
      if (!Array.isArray(rows) || !Array.isArray(found)) return [table, found]
      const columns = Object.keys(Object(rows[0]))
      return [
        table,
        found.map((row) =>
          Object.fromEntries(Object.entries(Object(row)).filter(([column]) => columns.includes(column))),
        ),
      ]
    }),
  )
}
