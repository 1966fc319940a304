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
/** Messages of all sessions that are looked at first, and twice as many each time after. */
const FIRST = 500

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
  const bits = bitsAsked(asked.terms, asked.scope)
  return await candidatesAmong(tx, { ...range, which: tx`${which} and ${mayHold(tx, bits)}`, most })
}

interface Among extends Range {
  which: Fragment
  most: number
  /** Whether one of the newest is asked for. Absent: all of them are. */
  isAsked?: Fragment
}

/** Reads the newest messages of those that are behind a place, and whether each is asked for. */
async function candidatesAmong(
  tx: Tx,
  { which, behind, until, most, isAsked = tx`true` }: Among,
): Promise<(Candidate & { isAsked: boolean })[]> {
  return await tx<(Candidate & { isAsked: boolean })[]>`
    select w.message_id as "messageId", w.session_id as "sessionId", w.at::text as at, ${isAsked} as "isAsked"
      from (
        select * from message_signatures w
         where ${which}
           ${behind === null ? tx`` : tx`and (w.at, w.message_id) < (${behind.at}::text::timestamptz, ${behind.messageId}::uuid)`}
           ${until === undefined ? tx`` : tx`and (w.at, w.message_id) >= (${until.at}::text::timestamptz, ${until.messageId}::uuid)`}
         order by w.at desc, w.message_id desc limit ${most}) w
     order by w.at desc, w.message_id desc`
}

/** Returns the condition that a signature has all of the bits. (`offset 0`: it is asked of one row after the other.) */
const mayHold = (tx: Tx, bits: readonly number[]): Fragment => tx`
  not exists (select from unnest(${[...bits]}::integer[]) bit
    where get_bit(w.signature, bit & (octet_length(w.signature) * 8 - 1)) = 0 offset 0)`

/** Messages by their numbers, which are read on behind a place, the newest first. */
interface Source {
  which: (tx: Tx) => Fragment
  behind: Place | null
  /** The number of them that is looked at next. */
  most: number
}

/**
 * Yields the candidates of all sessions: those of the messages that are in no slices yet, and of slices, those with the newest
 * messages first. They are shown as soon as nothing that is unread is newer. Of words that most messages have, no more than
 * some hundred are read at once: looking at a row's time takes a tenth of reading it.
 */
async function* candidatesOfAll(
  reading: Reading,
  asked: Asked,
  after: Place | null,
): AsyncGenerator<Candidate[], void> {
  const bits = bitsAsked(asked.terms, asked.scope)
  const begun: (Source & { behind: Place })[] = []
  let waiting: Candidate[] = []
  const readOn = async (source: Source) => {
    const rows = await newestOf(reading, { ...asked, bits }, source)
    const last = rows.at(-1)
    if (last !== undefined && rows.length === source.most)
      begun.push({ ...source, behind: last, most: source.most * 2 })
    waiting = [...waiting, ...rows.filter(({ isAsked }) => isAsked)].sort(newestFirst)
  }
  let chunks: readonly Chunk[] = await chunksOf(timed(reading))
  const end = chunks.reduce((last, { first, messages }) => Math.max(last, first + messages), 0)
  await readOn({ which: (tx) => tx`w.num >= ${end}`, behind: after, most: FIRST })
  for (let width = 1; begun.length > 0 || chunks.length > 0; ) {
    begun.sort((a, b) => newestFirst(a.behind, b.behind))
    const [source] = begun
    const inSource = source?.behind.at ?? ''
    const inChunks = chunks[0]?.lastAt ?? ''
    const isNewer = ({ at }: Candidate) => at > inSource && at > inChunks
    yield waiting.filter(isNewer)
    waiting = waiting.filter((one) => !isNewer(one))
    if (source !== undefined && inSource > inChunks) {
      begun.shift()
      await readOn(source)
      continue
    }
    const numbers = await numbersWith(timed(reading), chunks.slice(0, width), bits)
    chunks = chunks.slice(width)
    await readOn({ which: (tx) => tx`w.num = any(${numbers}::bigint[])`, behind: after, most: FIRST })
    if (numbers.length < ENOUGH / 2) width = Math.min(WIDEST, width * 2)
    if (numbers.length > ENOUGH) width = Math.max(1, width / 2)
  }
  yield waiting
}

/** Reads the newest messages of a source, and whether each is in a session that is asked for and may hold the words. */
async function newestOf(
  reading: Reading,
  { bits, filter }: Pick<Asked, 'filter'> & { bits: readonly number[] },
  { which, behind, most }: Source,
): Promise<(Candidate & { isAsked: boolean })[]> {
  const tx = timed(reading)
  const isAsked = tx`
    ${mayHold(tx, bits)} and exists (select from sessions where id = w.session_id ${filter(tx)} offset 0)`
  return await candidatesAmong(tx, { which: which(tx), behind, most, isAsked })
}

/**
 * Compares places. Texts of times compare as the times do: PostgreSQL leaves out zeros at the end, and `+` is less than
 * `.` and digits.
 */
const newestFirst = (a: Place, b: Place): number =>
  a.at === b.at ? (a.messageId < b.messageId ? 1 : -1) : a.at < b.at ? 1 : -1
