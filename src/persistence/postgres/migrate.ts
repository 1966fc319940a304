/** Brings the tables up to this version. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Postgrator from 'postgrator'
import type { Sql, Tx } from './database.ts'

const folder = fileURLToPath(new URL('../migrations/', import.meta.url))

// An arbitrary number that nobody else should use for advisory locks in this database.
export const migrationLock = 7_236_150_001

/**
 * Applies what is missing of `migrations/NNN.do.NAME.sql`, all of it or nothing, and answers with the names of
 * the files that it applied. Any number of instances may call it at once: one works, the others wait and find
 * nothing to do. Rejects when PostgreSQL is older than 15, when an applied file was changed, and when a newer version
 * has migrated the database to something that this one can't run on (`compatibility`).
 */
export async function migrate(sql: Sql, directory = folder): Promise<string[]> {
  const applied = await sql.begin(async (tx) => {
    const [server] = await tx<{ number: number; version: string }[]>`
      select current_setting('server_version_num')::int as number, current_setting('server_version') as version`
    if (!server || server.number < 150_000) {
      throw new Error(`PostgreSQL 15 or newer is needed; DATABASE_URL names a server of version ${server?.version}.`)
    }
    // Another instance may be at it for a while: the connection's own time-outs would be too short.
    await tx`select set_config('lock_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`
    await tx`select pg_advisory_xact_lock(${migrationLock})`
    const postgrator = new Postgrator({
      driver: 'pg',
      // A pattern, not a path: what means something in patterns stands for itself after a backslash.
      migrationPattern: join(directory.replace(/[\\[\]?*{}()]/g, '\\$&'), '*.do.*.sql'),
      schemaTable: 'schema_migrations',
      newline: 'LF',
      execQuery: async (query) => ({ rows: await tx.unsafe(query).simple() }),
    })
    const files = await postgrator.migrate('max').catch((error: unknown) => {
      const changed = /checksum failed for migration \[(\d+)\]/i.exec(String(error))?.[1]
      if (!changed) throw error
      throw new Error(`Migration ${changed} was changed after it had been applied to this database.`)
    })
    const [have, known] = [await postgrator.getDatabaseVersion(), await postgrator.getMaxVersion()]
    if (known < 1) throw new Error(`There are no migrations in ${directory}: the installation is incomplete.`)
    if (have > known && known < (await oldestVersion(tx))) {
      throw new Error(`The database was migrated to ${have} by a newer version; this one knows ${known}.`)
    }
    return files.map((file) => `${file.version} ${file.name}`)
  })
  return applied
}

/** The oldest version that runs on the tables as a newer one has left them. */
async function oldestVersion(tx: Tx): Promise<number> {
  const [row] = await tx<{ oldest: number }[]>`select oldest from compatibility`
  return row?.oldest ?? Number.POSITIVE_INFINITY
}
