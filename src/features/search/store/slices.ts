/** Slices: the signatures of some thousand messages, turned, so that a search reads a few bits of each message and no rows. */
import { setImmediate } from 'node:timers/promises'
import { type Sql, type Tx, withoutIdling } from '../../../persistence/postgres/database.ts'
import type { Fragment } from '../../../persistence/postgres/page.ts'

/** Messages that are searched by their rows alone, and bytes of their signatures, until they are turned. */
const MOST_OPEN = 4096
const MOST_OPEN_BYTES = 2 ** 19

/** Returns the condition on the progress `p` under which slices are due. */
export const isFull = (tx: Tx): Fragment =>
  tx`(p.given - p.sliced >= ${MOST_OPEN} or p.open_bytes >= ${MOST_OPEN_BYTES})`

interface Signed {
  /** The place of a message among them, from 0. */
  n: number
  signature: Buffer
}

/** Turns the signatures that are not in slices yet. Slices of messages that are all deleted go. */
export async function makeSlices(tx: Tx): Promise<void> {
  // Signatures of messages that were deleted just when they were signed.
  await tx`
    delete from message_signatures w using signature_progress p
     where w.num > p.sliced and not exists (select from messages m where m.id = w.message_id)`
  const rows = await tx<Signed[]>`
    select (w.num - p.sliced - 1)::integer as n, w.signature from signature_progress p
      join message_signatures w on w.num > p.sliced and w.num <= p.given`
  const bytes = rows.reduce((sum, { signature }) => sum + signature.length, 0)
  const width = widthOf((8 * bytes) / Math.max(1, rows.length))
  const messages = rows.reduce((most, { n }) => Math.max(most, n + 1), 0)
  const slices = await withoutIdling(tx, () => turned(rows, { messages, width }))
  if (rows.length > 0)
    await tx`
      insert into signature_slices (first_num, messages, width, last_at, slices)
      select p.sliced + 1, ${messages}, ${width},
             (select max(w.at) from message_signatures w where w.num > p.sliced and w.num <= p.given), ${slices}
        from signature_progress p`
  await tx`update signature_progress set sliced = given, open_bytes = 0`
  await tx`
    delete from signature_slices s
     where not exists (
       select from message_signatures w where w.num between s.first_num and s.first_num + s.messages - 1)`
}

/** Returns the power of two that is nearest to a mean number of bits. */
const widthOf = (bits: number): number => 2 ** Math.max(6, Math.round(Math.log2(Math.max(1, bits))))

/** Rows that are turned before others have their turn: some tenths of a millisecond. */
const AT_A_TIME = 128

/** Returns slice after slice: a bit of each is a message. Longer signatures are folded, shorter ones are repeated. */
export async function turned(
  rows: readonly Signed[],
  { messages, width }: { messages: number; width: number },
): Promise<Buffer> {
  const length = bytesOf(messages)
  const slices = Buffer.alloc(width * length)
  for (const [k, { n, signature }] of rows.entries()) {
    if (k % AT_A_TIME === AT_A_TIME - 1) await setImmediate()
    const size = signature.length * 8
    for (const [place, byte] of signature.entries())
      for (let left = byte, bit = 0; left !== 0; left >>= 1, bit += 1)
        if ((left & 1) === 1)
          for (let slice = (place * 8 + bit) & (width - 1); slice < width; slice += size) {
            const at = slice * length + (n >> 3)
            slices[at] = (slices[at] ?? 0) | (1 << (n & 7))
          }
  }
  return slices
}

const bytesOf = (messages: number): number => (messages + 7) >> 3

/** The slices of some messages, without their bits. */
export interface Chunk {
  first: number
  messages: number
  /** The time at which the newest of them was stored. */
  lastAt: string
}

/** Lists the slices, those with the newest messages first. */
export async function chunksOf(tx: Tx | Sql): Promise<Chunk[]> {
  return await tx<Chunk[]>`
    select first_num as first, messages, last_at::text as "lastAt" from signature_slices order by last_at desc`
}

/** Returns the numbers of the messages that have all of the bits, as far as the slices tell. */
export async function numbersWith(tx: Tx, chunks: readonly Chunk[], bits: readonly number[]): Promise<number[]> {
  const rows = await tx<{ first: number; messages: number; read: Buffer }[]>`
    select s.first_num as first, s.messages,
           (select string_agg(substring(s.slices from 1 + b.slice * ((s.messages + 7) / 8) for (s.messages + 7) / 8), '')
              from (select distinct bit & (s.width - 1) as slice from unnest(${[...bits]}::integer[]) bit) b) as read
      from signature_slices s where s.first_num = any(${chunks.map(({ first }) => first)}::bigint[])`
  return rows.flatMap(({ first, messages, read }) => inAll(read, messages).map((n) => first + n))
}

/** Returns the messages whose bit stands in all of the slices. */
function inAll(slices: Buffer, messages: number): number[] {
  const length = bytesOf(messages)
  const found: number[] = []
  for (let byte = 0; byte < length; byte += 1) {
    let left = 0xff
    for (let at = byte; at < slices.length && left !== 0; at += length) left &= slices[at] ?? 0
    for (let n = byte * 8; left !== 0; left >>= 1, n += 1) if ((left & 1) === 1) found.push(n)
  }
  return found
}
