/** Bytes of a file, stored as they arrive: never more than a piece of them is held. */
import { createHash, randomBytes } from 'node:crypto'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { copyPiece, PIECE_BYTES } from '../../parts/index.ts'

export interface StreamedContent {
  /** The key under which they are stored, in hex. */
  key: string
  /** Hex. */
  sha256: string
  size: number
}

/**
 * Stores bytes under a new key, and keeps them for the upload until `releaseContents`. Rejects as a query does, and with
 * what `chunks` throws.
 */
export async function storeStream(
  sql: Sql,
  uploadId: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<StreamedContent> {
  const key = randomBytes(32).toString('hex')
  await sql.begin(async (tx) => {
    await tx`insert into part_contents (sha256, size) values (decode(${key}, 'hex'), 0)`
    await tx`insert into part_uploads (id, sha256) values (${uploadId}, decode(${key}, 'hex'))`
  })
  const hash = createHash('sha256')
  const piece = Buffer.allocUnsafeSlow(PIECE_BYTES)
  let filled = 0
  let n = 0
  let size = 0
  const flush = async () => {
    // In a transaction of its own: a connection that copies takes no other statement, and is not held between pieces.
    const row = { key, n: n++, piece: piece.subarray(0, filled) }
    if (filled > 0) await sql.begin((tx) => copyPiece(tx, row))
    filled = 0
  }
  for await (const chunk of chunks) {
    hash.update(chunk)
    size += chunk.length
    for (let at = 0; at < chunk.length; ) {
      const taken = chunk.subarray(at, at + PIECE_BYTES - filled)
      piece.set(taken, filled)
      filled += taken.length
      at += taken.length
      if (filled === PIECE_BYTES) await flush()
    }
  }
  await flush()
  return { key, sha256: hash.digest('hex'), size }
}
