/** Admits messages: stores each and opens its reply, or says why not. */

import type { Admission, HistoryLimits, Journal, NewMessage, ReplyFacts } from '../../../actors/ports/index.ts'
import { newId } from '../../../actors/reply/new-id.ts'
import { retry } from '../../../async/retry.ts'
import { changedNothing, isUnavailable, type Sql } from '../../postgres/database.ts'
import { createGroup, type GroupItem } from '../../postgres/group-commit.ts'
import type { AdmissionContributions } from '../contributions.ts'
import { limitColumns, noLimits, type StorageLimits } from '../sessions/storage-limits.ts'
import { jsonText } from '../settling/stored-reply.ts'
import { keepTexts } from '../stored/kept-texts.ts'
import { type Answer, admissionOf, type Owner } from './admission-answer.ts'

/**
 * A session that holds at most this many bytes has its history answered with the admission; a longer one would delay
 * others.
 */
const MOST_ANSWERED_BYTES = 32_768

/** A client waits for the answer: while the database is away, it is asked for again for about so long. */
const RETRY_MS = 1000
const FIRST_WAIT_MS = 20

interface Log {
  warn(details: object, message: string): void
}

export interface AdmissionOptions {
  sql: Sql
  contributions: AdmissionContributions
  /** The limits of sessions. When absent, they may hold any number of bytes. */
  limits?: StorageLimits | undefined
  log: Log
}

/** A try together with others, which failed. `begin`: in ms, monotonic. */
interface EarlierTry {
  begin: number
  maybeStored: boolean
}

/**
 * Admits a message by one statement, idempotent by the reply's id: while the database is away it is sent again. All
 * tries go under one epoch, since one whose answer was lost may have been stored under it. Rejects when no try has
 * stored anything or will: each was refused by the server, never reached it, or was only to look. Takes two silences of
 * a connection and a second at most.
 */
export async function admit(
  { sql, contributions, limits, log }: AdmissionOptions,
  owner: Owner,
  message: NewMessage,
  earlier: EarlierTry | null = null,
): Promise<Admission> {
  const begin = earlier?.begin ?? performance.now()
  let maybeStored = earlier?.maybeStored ?? message.isLate ?? false // by a try whose answer was lost
  const mayPass = (error: unknown) => {
    maybeStored ||= message.mayStart && !changedNothing(error)
    return isUnavailable(error)
  }
  const pace = { firstMs: FIRST_WAIT_MS, withinMs: RETRY_MS, since: begin }
  try {
    const wanted = jsonText(admissionColumns(message, contributions, limits))
    const answer = await retry(() => ask(sql, owner, wanted, message.text), { ...pace, mayPass })
    return maybeStored && !holdsForGood(answer, message)
      ? { outcome: 'unknown' }
      : admissionOf(sql, answer, owner, message)
  } catch (error) {
    if (!maybeStored || message.isLate) throw error
    const { replyId, sessionId } = message
    log.warn({ err: error, replyId, sessionId }, 'It is not known whether a message was stored.')
    return { outcome: 'unknown' }
  }
}

/**
 * Returns whether the answer also settles earlier attempts that may still reach the server. What refuses a message now
 * (a running reply, a full instance, no message to answer) may be gone by then; a deleted session never returns, nor an
 * epoch, and a key leads to its reply for a day.
 */
function holdsForGood({ outcome, reply_id, by_key, by_parent }: Answer, { replyId }: NewMessage): boolean {
  if (outcome === 'joined' || outcome === 'queued') return by_key === true || reply_id === replyId
  return isForGood[outcome] && !by_parent
}

const isForGood = {
  admitted: true,
  decided_in_part: true,
  fenced: true,
  key_reused: true,
  not_found: true,
  not_waiting: true,
  revoked: true,
  too_many_remembered: true,
  unknown_message: true,
  unknown_parent: true,
  busy: false,
  limited: false,
  nothing_to_answer: false,
  parent_waits: false,
  pinned: false,
  queue_full: false,
  refused: false,
  session_full: false,
  stale: false,
  too_many_sessions: false,
  user_full: false,
} satisfies Record<Exclude<Answer['outcome'], 'joined' | 'queued'>, boolean>

async function ask(sql: Sql, owner: Owner, wanted: string, text: string): Promise<Answer> {
  const [row] = await sql<{ answer: Answer }[]>`
    select admit_message(${owner.id}, ${owner.epoch}, ${wanted}::text::jsonb, ${text}) as answer`
  if (row === undefined) throw new Error('admit_message returned no row')
  return row.answer
}

/** Returns the argument of admit_message.sql. */
export function admissionColumns(
  {
    replyId,
    agentId,
    sessionId,
    user,
    text: _, // an argument of its own
    place,
    by,
    model,
    includeUsage,
    idempotency,
    isRetry,
    configuration,
    pin,
    mayStart,
    isLate: _late, // says how its answer is read
    title,
    titleIsDraft,
    facts,
    usesValues,
    onBusy,
    mayQueue,
    historyLimits,
    extras: { queue, limits, parts, approval, session, ...unknown },
    ...others
  }: NewMessage,
  contributions: AdmissionContributions,
  storageLimits = noLimits,
) {
  others satisfies Record<string, never> // a field that is not sent does not compile
  unknown satisfies Record<string, never>
  return {
    ...limitColumns(storageLimits),
    agent_id: agentId,
    session_id: sessionId,
    end_user: user,
    user_id: newId(),
    reply_id: replyId,
    model,
    include_usage: includeUsage,
    key: idempotency?.key,
    body_hash: idempotency?.bodyHash.toString('hex'),
    is_retry: isRetry,
    may_start: mayStart,
    configuration,
    pin,
    make_session: session !== undefined,
    ...(session && contributions.session(session)),
    derived_title: title,
    title_is_draft: titleIsDraft,
    ...(parts && contributions.parts(parts)),
    decided_by: by,
    ...(approval && contributions.approval(approval)),
    place,
    ...(facts && factColumns(facts)),
    uses_values: usesValues === true ? true : undefined,
    ...(limits && contributions.limits(limits)),
    on_busy: onBusy === 'reject' ? undefined : onBusy,
    may_queue: mayQueue === true ? true : undefined,
    ...(mayQueue === true && queue && contributions.queue(queue)),
    history: historyLimits && historyColumns(historyLimits),
  }
}

function factColumns(facts: ReplyFacts) {
  const { facts: stored, texts } = keepTexts(facts)
  return { facts: withoutNulls(stored), ...(texts.length > 0 && { texts }) }
}

/** Leaves out what is null: a null is stored with its name, twice a reply. */
const withoutNulls = (facts: object): object =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null))

function historyColumns({ maxBytes, maxToolText, withTimes: _, ...others }: HistoryLimits) {
  others satisfies Record<string, never>
  return { within: MOST_ANSWERED_BYTES, max_bytes: maxBytes, max_tool_text: maxToolText }
}

interface Grouped extends GroupItem {
  owner: Owner
  message: NewMessage
}

/**
 * Creates `admit` for many messages at a time. A message that may only join, that is a retry, or brings decisions, answers, a
 * history or texts besides, always goes alone.
 */
export function createAdmissions(
  options: AdmissionOptions & { instance: { id: string; epoch(): number } },
): Journal['admit'] {
  const { sql, instance, contributions } = options
  const inGroups = () =>
    createGroup<Grouped, Admission>({
      together: (items) => admitTogether(sql, items),
      alone({ owner, message }, failed) {
        const earlier = failed && { begin: failed.begin, maybeStored: !changedNothing(failed.error) }
        return admit(options, owner, message, earlier)
      },
    })
  const group = inGroups()
  // These wait for other instances that judge the same limits: nobody else waits with them.
  const limitedGroup = inGroups()
  return async (message) => {
    const owner = { id: instance.id, epoch: instance.epoch() }
    const { approval, session, limits } = message.extras
    if (!message.mayStart || message.isRetry || approval || session?.begins) return await admit(options, owner, message)
    const columns = admissionColumns(message, contributions, options.limits)
    if (columns.texts) return await admit(options, owner, message)
    const row = jsonText({ ...columns, text: message.text })
    const item = { owner, message, lane: message.sessionId, row }
    return await (limits ? limitedGroup(item) : group(item))
  }
}

/**
 * Admits messages of one epoch that nothing stands against, in one statement. Null when `admit` has to decide about
 * one.
 */
async function admitTogether(sql: Sql, items: readonly Grouped[]): Promise<(Admission | null)[]> {
  const [first] = items
  if (first === undefined) return []
  const { id, epoch } = first.owner
  const rows = items.filter(({ owner }) => owner.epoch === epoch).map(({ row }) => row)
  const [found] = await sql<{ answers: Answer[] }[]>`
    select admit_messages(${id}, ${epoch}, ${`[${rows.join()}]`}::text::jsonb) as answers`
  const answers = new Map(found?.answers.map((answer) => [answer.reply_id, answer]))
  return items.map(({ owner, message }) => {
    const answer = answers.get(message.replyId)
    return answer ? admissionOf(sql, answer, owner, message) : null
  })
}
