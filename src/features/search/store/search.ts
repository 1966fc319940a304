/** Searching in messages (contract section 31). Signatures name candidates; their texts decide. */
import { isoTime } from '../../../persistence/postgres/page.ts'
import { readSession, type Session, type SessionRow, sessionColumns } from '../../sessions/index.ts'
import { type Mark, marksIn, snippetOf, type Term } from '../text/query.ts'
import { type Asked, type Candidate, candidatesOf, candidatesWithin, type Place } from './candidates.ts'
import { type Reading, SearchTooSlow, timed } from './reading.ts'

export interface Snippet {
  messageId: string
  role: 'user' | 'assistant'
  text: string
  marks: Mark[]
  createdAt: string
}

/** Candidates that are looked through together, and texts that are read at once. */
const WINDOW = 200
const TEXTS = 20
const SNIPPETS = 3

/** Returns the sessions behind a place, in the order of their newest matching messages, at most `most`. */
export async function findSessions(
  reading: Reading,
  asked: Asked,
  { most, after }: { most: number; after: Place | null },
): Promise<Candidate[]> {
  const found = new Map<string, Candidate>()
  const earlier = new Set<string>() // those that a page before has shown
  for await (const candidates of candidatesOf(reading, asked, after))
    for (let n = 0; n < candidates.length; n += WINDOW) {
      const some = candidates
        .slice(n, n + WINDOW)
        .filter(({ sessionId }) => !found.has(sessionId) && !earlier.has(sessionId))
      for (const candidate of await newestOfEach(reading, asked.terms, some)) {
        const { sessionId } = candidate
        const isEarlier = after !== null && (await hasNewer(reading, asked, sessionId, after))
        if (isEarlier) earlier.add(sessionId)
        else found.set(sessionId, candidate)
        if (found.size === most) return [...found.values()]
      }
    }
  return [...found.values()]
}

/**
 * Returns the first of each session's candidates that matches, in their order. Most often that is the first one: the
 * others are not read.
 */
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
    const candidates: Candidate[] = await candidatesWithin(reading, asked, { behind, sessionId }, TEXTS)
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
  const tx = timed(reading)
  const rows = await tx<SessionRow[]>`select ${sessionColumns(tx)} from sessions where id = any(${[...ids]}::uuid[])`
  return new Map(rows.map((row) => [row.id, readSession(row)]))
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
  const tx = timed(reading)
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
    const candidates: Candidate[] = await candidatesWithin(reading, asked, { behind, until, sessionId }, TEXTS)
    if ((await matching(reading, asked.terms, candidates)).length > 0) return true
    if (candidates.length < TEXTS) return false
    behind = candidates.at(-1) ?? null
  }
}
