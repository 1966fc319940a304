/** Messages that may hold what is asked for, newest first: their signatures name them, their texts decide. */
import type { Tx } from '../../../persistence/postgres/database.ts'
import type { Fragment } from '../../../persistence/postgres/page.ts'
import type { Term } from '../text/query.ts'
import { bitsAsked } from '../text/signature.ts'
import { type Reading, timed } from './reading.ts'
import { type Chunk, chunksOf, numbersWith } from './slices.ts'

/** The place of a message among all. */
export interface Place {
  at: string
  messageId: string
}

export interface Candidate extends Place {
  sessionId: string
}

export interface Asked {
  terms: readonly Term[]
  /** Words of the signature of each message that may be found. */
  scope: readonly string[]
  isOfUser: boolean
  /** Conditions on a row of `sessions`, each with its `and`. */
  filter: (tx: Tx) => Fragment
}

/** Sessions of which the messages are read without slices. */
const FEW_SESSIONS = 1000
/** Candidates that are read of few sessions at once. */
const AT_ONCE = 1000
/** Candidates of which half as many make the next read wider, and the most slices that it takes. */
const ENOUGH = 2000
const WIDEST = 64

/** Yields candidates behind a place, in their order. */
export async function* candidatesOf(
  reading: Reading,
  asked: Asked,
  after: Place | null,
): AsyncGenerator<Candidate[], void> {
  if (!(await hasFewSessions(reading, asked))) return yield* candidatesOfAll(reading, asked, after)
  for (let behind = after, isMore = true; isMore; ) {
    const found = await candidatesWithin(reading, asked, { behind }, AT_ONCE)
    yield found
    isMore = found.length === AT_ONCE
    behind = found.at(-1) ?? behind
  }
}

/** Returns whether the search is in so few sessions that reading their signatures is faster than reading slices. */
async function hasFewSessions(reading: Reading, { isOfUser, filter }: Asked): Promise<boolean> {
  if (!isOfUser) return false
  const tx = timed(reading)
  const [row] = await tx<{ n: number }[]>`
    select count(*)::integer as n from (select from sessions where true ${filter(tx)} limit ${FEW_SESSIONS + 1}) s`
  return (row?.n ?? 0) <= FEW_SESSIONS
}

interface Range {
  behind: Place | null
  until?: Place
}

/** Reads the candidates of a session, or of few. */
export async function candidatesWithin(
  reading: Reading,
  asked: Asked,
  { sessionId, ...range }: Range & { sessionId?: string },
  most: number,
): Promise<Candidate[]> {
  const tx = timed(reading)
  const which = tx`
    w.session_id in (select id from sessions where true ${asked.filter(tx)})
    ${sessionId === undefined ? tx`` : tx`and w.session_id = ${sessionId}`}`
  return await candidatesAmong(tx, which, { ...range, bits: bitsAsked(asked.terms, asked.scope), most })
}

async function candidatesAmong(
  tx: Tx,
  which: Fragment,
  { behind, until, bits, most = null }: Range & { bits: readonly number[]; most?: number | null },
): Promise<Candidate[]> {
  return await tx<Candidate[]>`
    select w.message_id as "messageId", w.session_id as "sessionId", w.at::text as at
      from message_signatures w
     where ${which}
       ${behind === null ? tx`` : tx`and (w.at, w.message_id) < (${behind.at}::text::timestamptz, ${behind.messageId}::uuid)`}
       ${until === undefined ? tx`` : tx`and (w.at, w.message_id) >= (${until.at}::text::timestamptz, ${until.messageId}::uuid)`}
       and ${mayHold(tx, bits)}
     order by w.at desc, w.message_id desc limit ${most}::bigint`
}

/** Returns the condition that a signature has all of the bits. (`offset 0`: it is asked of one row after the other.) */
const mayHold = (tx: Tx, bits: readonly number[]): Fragment => tx`
  not exists (select from unnest(${[...bits]}::integer[]) bit
    where get_bit(w.signature, bit & (octet_length(w.signature) * 8 - 1)) = 0 offset 0)`

/**
 * Yields the candidates of all sessions: those of the messages that are in no slices yet, and then those of slice after
 * slice, as soon as no other slices have newer messages.
 */
async function* candidatesOfAll(
  reading: Reading,
  asked: Asked,
  after: Place | null,
): AsyncGenerator<Candidate[], void> {
  const bits = bitsAsked(asked.terms, asked.scope)
  const read = async (which: (tx: Tx) => Fragment) => {
    const tx = timed(reading)
    const isAsked = tx`exists (select from sessions where id = w.session_id ${asked.filter(tx)} offset 0)`
    return await candidatesAmong(tx, tx`${which(tx)} and ${isAsked}`, { behind: after, bits })
  }
  const all = await chunksOf(timed(reading))
  const end = all.reduce((last, { first, messages }) => Math.max(last, first + messages), 0)
  let waiting = await read((tx) => tx`w.num >= ${end}`)
  for (let [n, width] = [0, 1]; n < all.length; ) {
    const newest = all[n]?.lastAt ?? ''
    const isNewer = ({ at }: Candidate) => at > newest
    yield waiting.filter(isNewer)
    waiting = waiting.filter((one) => !isNewer(one))
    const some: Chunk[] = all.slice(n, n + width)
    const numbers = await numbersWith(timed(reading), some, bits)
    const found = await read((tx) => tx`w.num = any(${numbers}::bigint[])`)
    waiting = [...waiting, ...found].sort(newestFirst)
    n += some.length
    if (numbers.length < ENOUGH / 2) width = Math.min(WIDEST, width * 2)
    if (numbers.length > ENOUGH) width = Math.max(1, width / 2)
  }
  yield waiting
}

/** Compares places. Texts of times compare as the times do: PostgreSQL leaves out zeros at the end, and `+` is less than `.` and digits. */
const newestFirst = (a: Candidate, b: Candidate): number =>
  a.at === b.at ? (a.messageId < b.messageId ? 1 : -1) : a.at < b.at ? 1 : -1
