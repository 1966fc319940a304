/** SQL functions: one file each, `NAME.sql`, beside the code that calls it. The first line has the revision. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Tx } from '../pool-types.ts'

export interface Definition {
  name: string
  revision: number
  /** The checksum of the text with normalized line ends. */
  checksum: string
  /** A `create or replace` statement. */
  text: string
}

/** Reads all definitions in these folders and below, by name. Rejects with one line that names a malformed file. */
export async function readDefinitions(folders: readonly string[]): Promise<Definition[]> {
  const files = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(folder, { recursive: true })).filter(isSql).map((file) => join(folder, file)),
    ),
  )
  const definitions = await Promise.all(files.flat().map(readDefinition))
  return definitions.sort((a, b) => (a.name < b.name ? -1 : 1))
}

const isSql = (file: string): boolean => file.endsWith('.sql')

async function readDefinition(file: string): Promise<Definition> {
  const text = (await readFile(file, 'utf8')).replaceAll('\r\n', '\n')
  const revision = Number(/^-- revision (\d+)\n/.exec(text)?.[1])
  if (!(revision > 0)) throw new Error(`${file}: the first line must be "-- revision N".`)
  const checksum = createHash('sha256').update(text).digest('hex').slice(0, 32)
  return { name: basename(file, '.sql'), revision, checksum, text }
}

/**
 * Applies the functions that the database has in an older revision, with another text, or not at all. Returns their
 * names. A higher revision, from a newer version, stays: both versions run side by side during an upgrade.
 */
export async function applyDefinitions(tx: Tx, definitions: readonly Definition[]): Promise<string[]> {
  const stored = await tx<Omit<Definition, 'text'>[]>`select name, revision, checksum from definitions`
  const inForce = new Map(stored.map((row) => [row.name, row]))
  const due = definitions.filter(({ name, revision, checksum }) => {
    const known = inForce.get(name)
    if (known === undefined) return true
    return revision > known.revision || (revision === known.revision && checksum !== known.checksum)
  })
  for (const { name, revision, checksum, text } of due) {
    await tx.unsafe(text).simple()
    await tx`
      insert into definitions (name, revision, checksum) values (${name}, ${revision}, ${checksum})
      on conflict (name) do update set revision = excluded.revision, checksum = excluded.checksum`
  }
  return due.map(({ name }) => name)
}
