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
const CANDIDATES = 100
const TEXTS = 10
const SNIPPETS = 3
/** SQLSTATE of a statement that was stopped. */
const STOPPED = '57014'

type Candidate = FoundSession

/** A search while it reads: its transaction, and the end of its time. */
export interface Reading {
  tx: Tx
  endsAt: number
}

/** Runs a search within its time. Throws `SearchTooSlow`. */
export async function withinTime<Result>(sql: Sql, search: (reading: Reading) => Promise<Result>): Promise<Result> {
  const endsAt = performance.now() + AT_MOST_MS
  try {
    const { result } = await sql.begin('read only', async (tx) => ({
      result: await withoutIdling(tx, () => search({ tx, endsAt })),
    }))
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
  await openCandidates(reading, asked, after)
  for (let isMore = true; isMore && found.size < most; ) {
    const tx = await timed(reading)
    const candidates = await tx<Candidate[]>`fetch forward ${tx.unsafe(`${CANDIDATES}`)} from candidates`
    isMore = candidates.length === CANDIDATES
    for (let n = 0; n < candidates.length && found.size < most; n += TEXTS) {
      const some = candidates
        .slice(n, n + TEXTS)
        .filter(({ sessionId }) => !found.has(sessionId) && !earlier.has(sessionId))
      for (const { candidate } of await matching(reading, asked.terms, some)) {
        const { sessionId } = candidate
        if (found.has(sessionId) || earlier.has(sessionId) || found.size >= most) continue
        const isEarlier = after !== null && (await hasNewer(reading, asked, sessionId, after))
        if (isEarlier) earlier.add(sessionId)
        else found.set(sessionId, candidate)
      }
    }
  }
  return [...found.values()]
}

/** Returns the snippets of a session, newest first. */
export async function snippetsOf(reading: Reading, asked: Asked, sessionId: string): Promise<Snippet[]> {
  const snippets: Snippet[] = []
  for (let behind: Place | null = null, isMore = true; isMore && snippets.length < SNIPPETS; ) {
    const candidates: Candidate[] = await candidatesOf(reading, asked, { behind, sessionId })
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
  until?: Place
  sessionId?: string
}

/** Opens the candidates behind a place as a cursor: many are read on where they were left, instead of being looked for again. */
async function openCandidates(reading: Reading, asked: Asked, behind: Place | null): Promise<void> {
  const tx = await timed(reading)
  await tx`declare candidates no scroll cursor for ${candidateRows(tx, asked, { behind })}`
}

async function candidatesOf(reading: Reading, asked: Asked, of: Within): Promise<Candidate[]> {
  const tx = await timed(reading)
  return await tx<Candidate[]>`${candidateRows(tx, asked, of)} limit ${TEXTS}`
}

function candidateRows(tx: Tx, { terms, scope, filter }: Asked, { behind, until, sessionId }: Within): Fragment {
  const words = indexQuery(terms, scope)
  return tx`
    select w.message_id as "messageId", w.session_id as "sessionId", w.at::text as at
      from message_words w
     where (w.words @@ ${words}::text::tsquery or not w.whole)
       and w.session_id in (select id from sessions where true ${filter(tx)})
       ${sessionId === undefined ? tx`` : tx`and w.session_id = ${sessionId}`}
       ${behind === null ? tx`` : tx`and (w.at, w.message_id) < (${behind.at}::text::timestamptz, ${behind.messageId}::uuid)`}
       ${until === undefined ? tx`` : tx`and (w.at, w.message_id) >= (${until.at}::text::timestamptz, ${until.messageId}::uuid)`}
     order by w.at desc, w.message_id desc`
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
    const candidates: Candidate[] = await candidatesOf(reading, asked, { behind, until, sessionId })
    if ((await matching(reading, asked.terms, candidates)).length > 0) return true
    if (candidates.length < TEXTS) return false
    behind = candidates.at(-1) ?? null
  }
}
