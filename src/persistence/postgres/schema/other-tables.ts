/** Recognition of another application's tables where Greenroom would make its own. */
import type { Tx } from '../pool-types.ts'

/**
 * Rejects, naming DATABASE_URL and a table, if the schema of the connection holds tables and none of them says that it is
 * Greenroom's. Tables of extensions do not count, and nothing is changed.
 */
export async function expectNoOtherTables(tx: Tx): Promise<void> {
  if (await hasOwnTables(tx)) return
  const [other] = await tx<{ name: string; schema: string }[]>`
    select c.relname::text as name, c.relnamespace::regnamespace::text as schema
      from pg_class c
     where c.relkind in ('r', 'p', 'v', 'm', 'f')
       and (c.relnamespace = current_schema()::regnamespace or c.oid = to_regclass('schema_migrations'))
       and not exists (select from pg_depend d
                        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
     order by c.relname = 'schema_migrations' desc, c.relname limit 1`
  if (other === undefined) return
  const table = other.name === 'schema_migrations' ? 'table of migrations' : 'table'
  throw new Error(
    `DATABASE_URL: the schema ${other.schema} holds another application's ${table} "${other.name}". Name a database of its ` +
      'own for Greenroom, or a schema: create schema greenroom, and add ?schema=greenroom to the address.',
  )
}

/** Reports whether Greenroom has migrated the tables that the connection sees, whichever version it was. */
async function hasOwnTables(tx: Tx): Promise<boolean> {
  const rows = await tx`
    select from pg_attribute m
      join pg_class c on c.oid = m.attrelid
      join pg_class t on t.relnamespace = c.relnamespace and t.relname = 'agents'
      join pg_attribute a on a.attrelid = t.oid and a.attname = 'provider_id' and not a.attisdropped
     where m.attrelid = to_regclass('schema_migrations') and m.attname = 'md5' and not m.attisdropped`
  return rows.length > 0
}
