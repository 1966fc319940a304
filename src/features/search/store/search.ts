/** Searching in messages (contract section 31). The index names candidates; their texts decide. */
import { type Sql, type Tx, withoutIdling } from '../../../persistence/postgres/database.ts'
import { type Fragment, isoTime } from '../../../persistence/postgres/page.ts'
import { columns, type Session } from '../../../persistence/replies/sessions/sessions.ts'
import { indexQuery, type Mark, marksIn, snippetOf, type Term } from '../text/query.ts'

export interface Snippet {
  messageId: string
  role: 'user' | 'assistant'
  text: string
  marks: Mark[]
  createdAt: string
}

/** The newest matching message of a session: its place among all. */
export interface Place {
  at: string
  messageId: string
}

export interface Asked {
  terms: readonly Term[]
  /** Words of the index that each message has that may be found. */
  scope: readonly string[]
  isOfUser: boolean
  /** Conditions on a row of `sessions`, each with its `and`. */
  filter: (tx: Tx) => Fragment
}

export interface FoundSession extends Place {
  sessionId: string
}

/** The search took too long. */
export class SearchTooSlow extends Error {}

/** The time for which a search reads the database, in milliseconds. */
const AT_MOST_MS = 2000
/** Candidates that are read at once, at first and later. */
const CANDIDATES = 1000
const MORE_CANDIDATES = 10_000
/** Sessions whose words are read without the index. */
const FEW_SESSIONS = 1000
/** Candidates that are looked through together, and texts that are read at once. */
const WINDOW = 200
const TEXTS = 20
const SNIPPETS = 3
/** SQLSTATE of a statement that was stopped. */
const STOPPED = '57014'

type Candidate = FoundSession

/** A search while it reads: its transaction, and the end of its time. */
export interface Reading {
  tx: Tx
  endsAt: number
}

/** Runs a search within its time, which begins when there is a connection. Throws `SearchTooSlow`. */
export async function withinTime<Result>(sql: Sql, search: (reading: Reading) => Promise<Result>): Promise<Result> {
  try {
    const { result } = await sql.begin('read only', async (tx) => {
      const endsAt = performance.now() + AT_MOST_MS
      return { result: await withoutIdling(tx, () => search({ tx, endsAt })) }
    })
    return result
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === STOPPED) throw new SearchTooSlow()
    throw error
  }
}

/** Gives the next statement the time that is left. */
export async function timed({ tx, endsAt }: Reading): Promise<Tx> {
  const left = Math.floor(endsAt - performance.now())
  if (left <= 0) throw new SearchTooSlow()
  await tx`select set_config('statement_timeout', ${`${left}`}, true)`
  return tx
}

/** Returns the sessions behind a place, in the order of their newest matching messages, at most `most`. */
export async function findSessions(
  reading: Reading,
  asked: Asked,
  { most, after }: { most: number; after: Place | null },
): Promise<FoundSession[]> {
  const found = new Map<string, FoundSession>()
  const earlier = new Set<string>() // those that a page before has shown
  const isFew = await hasFewSessions(reading, asked)
  let place = after
  for (let [looked, isMore] = [CANDIDATES, true]; isMore && found.size < most; looked = MORE_CANDIDATES) {
    const candidates = await candidatesOf(reading, asked, { behind: place, isFew }, looked)
    isMore = candidates.length === looked
    place = candidates.at(-1) ?? place
    for (let n = 0; n < candidates.length && found.size < most; n += WINDOW) {
      const some = candidates
        .slice(n, n + WINDOW)
        .filter(({ sessionId }) => !found.has(sessionId) && !earlier.has(sessionId))
      for (const candidate of await newestOfEach(reading, asked.terms, some)) {
        const { sessionId } = candidate
        if (found.size >= most) break
        const isEarlier = after !== null && (await hasNewer(reading, asked, sessionId, after))
        if (isEarlier) earlier.add(sessionId)
        else found.set(sessionId, candidate)
      }
    }
  }
  return [...found.values()]
}

/** Returns the first of each session's candidates that matches, in their order. Most often that is the first one: the others are not read. */
async function newestOfEach(
  reading: Reading,
  terms: readonly Term[],
  candidates: readonly Candidate[],
): Promise<Candidate[]> {
  const matched = new Map<string, Candidate>()
  for (let left = [...candidates]; left.length > 0; ) {
    const firsts = [...new Map(left.toReversed().map((one) => [one.sessionId, one])).values()].slice(0, TEXTS)
    for (const { candidate } of await matching(reading, terms, firsts)) matched.set(candidate.sessionId, candidate)
    left = left.filter((one) => !firsts.includes(one) && !matched.has(one.sessionId))
  }
  return candidates.filter((one) => matched.get(one.sessionId) === one)
}

/** Returns the snippets of a session, newest first. */
export async function snippetsOf(reading: Reading, asked: Asked, sessionId: string): Promise<Snippet[]> {
  const snippets: Snippet[] = []
  for (let behind: Place | null = null, isMore = true; isMore && snippets.length < SNIPPETS; ) {
    const candidates: Candidate[] = await candidatesOf(reading, asked, { behind, sessionId }, TEXTS)
    isMore = candidates.length === TEXTS
    behind = candidates.at(-1) ?? behind
    for (const { candidate, row, marks } of await matching(reading, asked.terms, candidates)) {
      if (snippets.length === SNIPPETS) break
      snippets.push({
        messageId: candidate.messageId,
        role: row.role,
        ...snippetOf(row.content, marks),
        createdAt: row.createdAt,
      })
    }
  }
  return snippets
}

/** Returns the sessions' records by their ids. */
export async function sessionsOf(reading: Reading, ids: readonly string[]): Promise<Map<string, Session>> {
  const tx = await timed(reading)
  const rows = await tx<Session[]>`select ${columns(tx)} from sessions where id = any(${[...ids]}::uuid[])`
  return new Map(rows.map((session) => [session.id, session]))
}

interface Within {
  behind: Place | null
  /** In few sessions: no index of words is asked. */
  isFew?: boolean
  until?: Place
  sessionId?: string
}

/** Returns whether the search is in so few sessions that reading their words is faster than the index, which knows common words alone. */
async function hasFewSessions(reading: Reading, { isOfUser, filter }: Asked): Promise<boolean> {
  if (!isOfUser) return false
  const tx = await timed(reading)
  const [row] = await tx<{ n: number }[]>`
    select count(*)::integer as n from (select from sessions where true ${filter(tx)} limit ${FEW_SESSIONS + 1}) s`
  return (row?.n ?? 0) <= FEW_SESSIONS
}

/** Reads candidates. The limit is a part of the plan: words that many messages have are found by going back in time. */
async function candidatesOf(reading: Reading, asked: Asked, of: Within, most: number): Promise<Candidate[]> {
  const tx = await timed(reading)
  const { terms, scope, filter } = asked
  const { behind, until, sessionId, isFew = sessionId !== undefined } = of
  const words = tx`${indexQuery(terms, scope)}::text::tsquery`
  return await tx<Candidate[]>`
    select w.message_id as "messageId", w.session_id as "sessionId", w.at::text as at
      from message_words w
     where (${isFew ? tx`ts_match_vq(w.words, ${words})` : tx`w.words @@ ${words}`} or not w.whole)
       and w.session_id in (select id from sessions where true ${filter(tx)})
       ${sessionId === undefined ? tx`` : tx`and w.session_id = ${sessionId}`}
       ${behind === null ? tx`` : tx`and (w.at, w.message_id) < (${behind.at}::text::timestamptz, ${behind.messageId}::uuid)`}
       ${until === undefined ? tx`` : tx`and (w.at, w.message_id) >= (${until.at}::text::timestamptz, ${until.messageId}::uuid)`}
     order by w.at desc, w.message_id desc limit ${most}`
}

interface TextRow {
  id: string
  role: 'user' | 'assistant'
  content: string
  createdAt: string
}

/** Returns those whose texts hold all that is asked for, in their order. */
async function matching(reading: Reading, terms: readonly Term[], candidates: readonly Candidate[]) {
  if (candidates.length === 0) return []
  const tx = await timed(reading)
  const rows = await tx<TextRow[]>`
    select id, role, content, ${isoTime(tx, 'created_at')} as "createdAt" from messages
     where id = any(${candidates.map(({ messageId }) => messageId)}::uuid[])`
  const byId = new Map(rows.map((row) => [row.id, row]))
  const found: { candidate: Candidate; row: TextRow; marks: Mark[] }[] = []
  for (const candidate of candidates) {
    if (performance.now() > reading.endsAt) throw new SearchTooSlow()
    const row = byId.get(candidate.messageId)
    const marks = row === undefined ? null : await marksIn(row.content, terms)
    if (row !== undefined && marks !== null) found.push({ candidate, row, marks })
  }
  return found
}

/** Returns whether a session has a matching message up to the place, so that a page before has shown it. */
async function hasNewer(reading: Reading, asked: Asked, sessionId: string, until: Place): Promise<boolean> {
  for (let behind: Place | null = null; ; ) {
    const candidates: Candidate[] = await candidatesOf(reading, asked, { behind, until, sessionId }, TEXTS)
    if ((await matching(reading, asked.terms, candidates)).length > 0) return true
    if (candidates.length < TEXTS) return false
    behind = candidates.at(-1) ?? null
  }
}
