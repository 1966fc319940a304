/** Runs a script of `dump.ts`, all or nothing. Rejects if the database is not empty, or if the script is cut off. */
import { once } from 'node:events'
import type { Dumped } from './dump.ts'
import type { Sql, Tx } from './postgres/database.ts'

const NEWLINE = 10
/** Rows are sent in pieces of about so many bytes. */
const PIECE_BYTES = 64 * 1024

/** Yields the lines of a script, without their ends. (Rows hold characters at which readline would split.) */
async function* linesOf(script: AsyncIterable<string | Uint8Array>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []
  for await (const part of script) {
    const bytes = Buffer.from(part)
    let from = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...rest, bytes.subarray(from, end)])
      rest = []
      from = end + 1
    }
    if (from < bytes.length) rest.push(bytes.subarray(from))
  }
}

const endOfRows = Buffer.from('\\.')

/** Returns how many rows there were. */
async function loadRows(tx: Tx, copy: string, lines: AsyncGenerator<Buffer>): Promise<number> {
  const table = await tx.unsafe(copy).writable()
  const stored = once(table, 'finish')
  stored.catch(() => {}) // its caller gets the error
  let piece: Buffer[] = []
  let bytes = 0
  let rows = 0
  const send = async () => {
    const hasRoom = table.write(Buffer.concat(piece))
    piece = []
    bytes = 0
    if (!hasRoom) await Promise.race([once(table, 'drain'), stored])
  }
  // Not `for await`: it would end the script with the rows.
  for (let { value, done } = await lines.next(); !done; { value, done } = await lines.next()) {
    if (value.equals(endOfRows)) {
      await send()
      table.end()
      await stored
      return rows
    }
    piece.push(value, Buffer.from('\n'))
    bytes += value.length + 1
    rows += 1
    if (bytes >= PIECE_BYTES) await send()
  }
  throw cutOff()
}

const cutOff = () => new Error('The file ends before its last line: it was cut off, and nothing was restored.')

interface Restoring {
  /** Called with each table once its rows are loaded. */
  onTable?: (table: Dumped) => void
  /** Called in the transaction before its end. */
  atLast?: ((tx: Tx) => Promise<void>) | undefined
}

/**
 * Restores a dump. End the connection afterwards, also when it
 * rejects: rows may be under way on it.
 */
export async function restore(
  sql: Sql,
  script: AsyncIterable<string | Uint8Array>,
  { onTable = () => {}, atLast = async () => {} }: Restoring = {},
): Promise<void> {
  let cause: unknown = null
  await sql
    .begin(async (tx) => {
      const restored = run(tx, script, onTable).then(() => atLast(tx))
      await restored.catch((error: unknown) => {
        cause ??= error // a second try has no rows left
        throw error
      })
    })
    // The library cannot roll back while rows are under way, and would say that instead.
    .catch((error: unknown) => Promise.reject(cause ?? error))
}

async function run(
  tx: Tx,
  script: AsyncIterable<string | Uint8Array>,
  onTable: (table: Dumped) => void,
): Promise<void> {
  const lines = linesOf(script)
  let statements: string[] = []
  const execute = async () => {
    await tx.unsafe(statements.join('\n')).simple()
    statements = []
  }
  for (let { value, done } = await lines.next(); !done; { value, done } = await lines.next()) {
    const line = value.toString('utf8')
    if (line === 'commit;') return await execute()
    if (line.startsWith('copy ') && line.endsWith(' from stdin;')) {
      await execute()
      const rows = await loadRows(tx, line.slice(0, -1), lines)
      onTable({ table: /^copy (\S+)/.exec(line)?.[1] ?? '', rows })
    } else if (line !== 'begin;') statements.push(line)
  }
  throw cutOff()
}
