/** The schema of this version: where its migrations, functions and indexes are. */
import { fileURLToPath } from 'node:url'
import type { AnySql, Sql } from './postgres/database.ts'
import { buildIndexes, readIndexes } from './postgres/schema/indexes.ts'
import { applySchema, isOutdated, type Schema } from './postgres/schema/migrate.ts'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export const schema: Schema = {
  migrations: here('./migrations/'),
  definitions: [here('./replies/'), here('../features/'), here('../http/wires/')],
  indexes: here('./indexes/'),
}

/** Brings the database up to this version; see `applySchema`. */
export const migrate = (sql: Sql): Promise<string[]> => applySchema(sql, schema)

/** Builds the indexes that large tables lack; see `buildIndexes`. Returns their names. */
export const buildMissingIndexes = async (sql: Sql): Promise<string[]> =>
  await buildIndexes(sql, await readIndexes(schema.indexes))

/** Reports whether a newer version has migrated the database to tables that this one cannot run on. */
export const isTooOld = (sql: AnySql): Promise<boolean> => isOutdated(sql, schema)
