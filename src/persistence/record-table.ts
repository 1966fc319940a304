/** Reads and writes a table of named records: rows with `id`, `name`, `num`, `created_at` and `updated_at`. */
import type { AnySql } from './postgres/database.ts'
import { type Fragment, listByAge, type Page, type PageQuery } from './postgres/page.ts'
import { isUuid } from './postgres/uuid.ts'

/** A record that does not exist is null, or false where it is to be removed; so is one whose id is no UUID. */
export interface RecordTable<Item> {
  /** Lists records, oldest first. Rejects with PageTooLong. */
  list(sql: AnySql, query: PageQuery): Promise<Page<Item>>
  find(sql: AnySql, id: string): Promise<Item | null>
  /** Inserts a record. `values`: the columns and their values, as `insert into` takes them. */
  insert(sql: AnySql, values: Fragment): Promise<Item>
  /** Updates a record. `assignments`: those of `set`, without `updated_at`. */
  update(sql: AnySql, id: string, assignments: Fragment): Promise<Item | null>
  remove(sql: AnySql, id: string): Promise<boolean>
}

/** Creates the access to a table whose rows are read into other records. */
export function readRecords<Row, Item>(table: RecordTable<Row>, read: (row: Row) => Item): RecordTable<Item> {
  const readAny = (row: Row | null): Item | null => (row === null ? null : read(row))
  return {
    async list(sql, query) {
      const { items, ...page } = await table.list(sql, query)
      return { ...page, items: items.map(read) }
    },
    find: async (sql, id) => readAny(await table.find(sql, id)),
    insert: async (sql, values) => read(await table.insert(sql, values)),
    update: async (sql, id, assignments) => readAny(await table.update(sql, id, assignments)),
    remove: table.remove,
  }
}

/** Creates the access to a table. `columns` select what `Item` names. */
export function recordTable<Item extends object>(table: string, columns: (sql: AnySql) => Fragment): RecordTable<Item> {
  return {
    list: (sql, query) => listByAge<Item>(sql, table, columns(sql), query),
    async find(sql, id) {
      if (!isUuid(id)) return null
      const [item] = await sql<Item[]>`select ${columns(sql)} from ${sql(table)} where id = ${id}`
      return item ?? null
    },
    async insert(sql, values) {
      const [item] = await sql<Item[]>`insert into ${sql(table)} ${values} returning ${columns(sql)}`
      if (item === undefined) throw new Error(`The new row of ${table} was not returned.`)
      return item
    },
    async update(sql, id, assignments) {
      if (!isUuid(id)) return null
      const [item] = await sql<Item[]>`
        update ${sql(table)} set ${assignments}, updated_at = clock_timestamp() where id = ${id} returning ${columns(sql)}`
      return item ?? null
    },
    async remove(sql, id) {
      if (!isUuid(id)) return false
      const { count } = await sql`delete from ${sql(table)} where id = ${id}`
      return count > 0
    },
  }
}
