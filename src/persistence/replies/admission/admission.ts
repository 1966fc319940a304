/** Admits messages: stores each and opens its reply, or says why not. */

import type {
  Admission,
  Decisions,
  HistoryLimits,
  Journal,
  NewMessage,
  SessionToMake,
} from '../../../actors/ports/index.ts'
import { newId } from '../../../actors/reply/new-id.ts'
import { retry } from '../../../async/retry.ts'
import { givenRows } from '../../../features/branches/store/given-messages.ts'
import { partRows } from '../../../features/parts/store/parts.ts'
import { encodeInput } from '../../../features/queue/store/stored-input.ts'
import { changedNothing, isUnavailable, type Sql } from '../../postgres/database.ts'
import { limitColumns, noLimits, type StorageLimits } from '../sessions/storage-limits.ts'
import { jsonText } from '../settling/stored-reply.ts'
import { type Answer, admissionOf, type Owner } from './admission-answer.ts'
import { createGroup, type GroupItem } from './group-commit.ts'

/** A session that holds at most this many bytes has its history answered with the admission; a longer one would delay others. */
const MOST_ANSWERED_BYTES = 32_768

/** A client waits for the answer: while the database is away, it is asked for again for about so long. */
const RETRY_MS = 1000
const FIRST_WAIT_MS = 20

interface Log {
  warn(details: object, message: string): void
}

/** A try together with others, which failed. `begin`: in ms, monotonic. */
interface EarlierTry {
  begin: number
  maybeStored: boolean
}

/**
 * Admits a message by one statement, idempotent by the reply's id: while the database is away it is sent again. All tries go under one epoch,
 * since one whose answer was lost may have been stored under it. Rejects when no try has stored anything or will: each
 * was refused by the server, never reached it, or was only to look. Takes two silences of a connection and a second at most.
 */
export async function admit(
  sql: Sql,
  owner: Owner,
  message: NewMessage,
  log: Log,
  { limits = noLimits, earlier = null }: { limits?: StorageLimits; earlier?: EarlierTry | null } = {},
): Promise<Admission> {
  const begin = earlier?.begin ?? performance.now()
  let maybeStored = earlier?.maybeStored ?? false // by a try whose answer was lost
  const mayPass = (error: unknown) => {
    maybeStored ||= message.mayStart && !changedNothing(error)
    return isUnavailable(error)
  }
  const pace = { firstMs: FIRST_WAIT_MS, withinMs: RETRY_MS, since: begin }
  try {
    const answer = await retry(() => ask(sql, owner, message, limits), { ...pace, mayPass })
    return maybeStored && !isForGood(answer, message)
      ? { outcome: 'unknown' }
      : admissionOf(sql, answer, owner, message)
  } catch (error) {
    if (!maybeStored) throw error
    const { replyId, sessionId } = message
    log.warn({ err: error, replyId, sessionId }, 'It is not known whether a message was stored.')
    return { outcome: 'unknown' }
  }
}

/**
 * Returns whether the answer also settles earlier attempts that may still reach the server. What refuses a message now (a running reply, a full
 * instance, no message to answer) may be gone by then; a deleted session never returns, nor an epoch, and a key leads to its reply for a day.
 */
function isForGood({ outcome, reply_id, by_key }: Answer, { replyId }: NewMessage): boolean {
  if (outcome === 'joined' || outcome === 'queued') return by_key === true || reply_id === replyId
  return ![
    'busy',
    'queue_full',
    'refused',
    'stale',
    'nothing_to_answer',
    'session_full',
    'user_full',
    'limited',
  ].includes(outcome)
}

async function ask(sql: Sql, owner: Owner, message: NewMessage, limits: StorageLimits): Promise<Answer> {
  const wanted = jsonText(admissionColumns(message, limits))
  const [row] = await sql<{ answer: Answer }[]>`
    select admit_message(${owner.id}, ${owner.epoch}, ${wanted}::text::jsonb, ${message.text}) as answer`
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
    parts,
    place,
    decided,
    answers,
    by,
    model,
    includeUsage,
    idempotency,
    isRetry,
    configuration,
    mayStart,
    makeSession,
    title,
    titleIsDraft,
    facts,
    usesValues,
    limits,
    onBusy,
    queuedInput,
    mayQueue,
    historyLimits,
    ...others
  }: NewMessage,
  storageLimits = noLimits,
) {
  others satisfies Record<string, never> // a field that is not sent does not compile
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
    make_session: makeSession !== undefined,
    ...(makeSession && sessionColumns(makeSession)),
    derived_title: title,
    title_is_draft: titleIsDraft,
    parts: parts?.length ? partRows(parts) : undefined,
    decided_by: by,
    answers: answers?.length ? answers : undefined,
    ...(decided && decisionColumns(decided)),
    place,
    facts: facts && withoutNulls(facts),
    uses_values: usesValues === true ? true : undefined,
    limits,
    on_busy: onBusy === 'reject' ? undefined : onBusy,
    may_queue: mayQueue === true ? true : undefined,
    input: mayQueue === true && queuedInput ? encodeInput(queuedInput) : undefined,
    history: historyLimits && historyColumns(historyLimits),
  }
}

/** What is null is left out: a null is stored with its name, twice a reply. */
const withoutNulls = (facts: object): object =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null))

function sessionColumns({ externalId, secretNumber, begins, ...others }: SessionToMake) {
  others satisfies Record<string, never>
  return { external_id: externalId, secret_number: secretNumber, begins: begins && beginColumns(begins) }
}

function beginColumns({ title, metadata, messages, ...others }: NonNullable<SessionToMake['begins']>) {
  others satisfies Record<string, never>
  const { rows, bytes } = givenRows(messages)
  return { title, metadata, messages: rows, bytes }
}

function decisionColumns({ waitId, calls, hash, ...others }: Decisions) {
  others satisfies Record<string, never>
  return { wait_id: waitId, decisions: calls, decisions_hash: hash.toString('hex') }
}

function historyColumns({ maxBytes, maxToolText, ...others }: HistoryLimits) {
  others satisfies Record<string, never>
  return { within: MOST_ANSWERED_BYTES, max_bytes: maxBytes, max_tool_text: maxToolText }
}

interface Grouped extends GroupItem {
  owner: Owner
  message: NewMessage
}

/**
 * Creates `admit` for many messages at a time. A message that may only join, that is a retry, or brings decisions, answers or
 * a history, always goes alone.
 */
export function createAdmissions(
  sql: Sql,
  instance: { id: string; epoch(): number },
  log: Log,
  limits = noLimits,
): Journal['admit'] {
  const inGroups = () =>
    createGroup<Grouped, Admission>({
      together: (items) => admitTogether(sql, items),
      alone({ owner, message }, failed) {
        const earlier = failed && { begin: failed.begin, maybeStored: !changedNothing(failed.error) }
        return admit(sql, owner, message, log, { limits, earlier })
      },
    })
  const group = inGroups()
  // These wait for other instances that judge the same limits: nobody else waits with them.
  const limitedGroup = inGroups()
  return async (message) => {
    const owner = { id: instance.id, epoch: instance.epoch() }
    if (
      !message.mayStart ||
      message.isRetry ||
      message.decided ||
      message.answers?.length ||
      message.makeSession?.begins
    )
      return await admit(sql, owner, message, log, { limits })
    const row = jsonText({ ...admissionColumns(message, limits), text: message.text })
    const item = { owner, message, sessionId: message.sessionId, row }
    return await (message.limits ? limitedGroup(item) : group(item))
  }
}

/** Admits messages of one epoch that nothing stands against, in one statement. Null when `admit` has to decide about one. */
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
