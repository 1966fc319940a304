/** Admits messages: stores each and opens its reply, or says why not. */

import type {
  Admission,
  Admitted,
  Decisions,
  Journal,
  NewMessage,
  OverLimit,
  RequestRate,
  SessionToMake,
} from '../../../actors/ports/index.ts'
import { newId } from '../../../actors/reply/new-id.ts'
import type { RestState } from '../../../actors/reply/reply-event.ts'
import { retry } from '../../../async/retry.ts'
import { givenRows } from '../../../features/branches/store/given-messages.ts'
import { partRows } from '../../../features/parts/store/parts.ts'
import { limitColumns, noLimits, type StorageLimits } from '../../../features/parts/store/storage-limits.ts'
import { encodeInput } from '../../../features/queue/store/stored-input.ts'
import { changedNothing, isUnavailable, type Sql } from '../../postgres/database.ts'
import { type HistoryRow, historyOf } from '../reading/history.ts'
import { jsonText } from '../settling/stored-reply.ts'
import { createGroup, type GroupItem } from './group-commit.ts'

/** An instance, and the epoch under which it writes. */
export interface Owner {
  id: string
  epoch: number
}

/** What admit_message.sql answers; fields of some outcomes are absent from the others. */
export interface Answer {
  outcome: Exclude<Admission['outcome'], 'unknown'>
  reply_id: string
  session_num: number
  first_seq: number
  created_at: string
  parent_id: string | null
  history_end: number
  /** The text of a message that is answered again. */
  text?: string | null
  rest_state: RestState
  untitled: boolean
  first_text?: string | null
  by_key?: boolean
  /** In the queue, when the message waits there; else in its session. */
  position?: number
  values?: NonNullable<Admitted['values']>
  /** What stands before the message. Absent or null when it must be read by a statement of its own. */
  history?: HistoryRow[] | null
  rate?: RequestRate | null
  over?: OverLimit
}

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
 * One statement, idempotent by the reply's id: while the database is away it is sent again. All tries go under one epoch,
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
 * Whether the answer also settles earlier attempts that may still reach the server. What refuses a message now (a running reply, a full
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

/** The argument of admit_message.sql. */
export const admissionColumns = (message: NewMessage, limits = noLimits) => ({
  ...limitColumns(limits),
  agent_id: message.agentId,
  session_id: message.sessionId,
  end_user: message.user,
  user_id: newId(),
  reply_id: message.replyId,
  model: message.model,
  include_usage: message.includeUsage,
  key: message.idempotency?.key,
  body_hash: message.idempotency?.bodyHash.toString('hex'),
  is_retry: message.isRetry,
  may_start: message.mayStart,
  configuration: message.configuration,
  make_session: message.makeSession !== undefined,
  external_id: message.makeSession?.externalId,
  begins: message.makeSession?.begins && beginColumns(message.makeSession.begins),
  derived_title: message.title,
  title_is_draft: message.titleIsDraft,
  secret_number: message.makeSession?.secretNumber,
  parts: message.parts?.length ? partRows(message.parts) : undefined,
  decided_by: message.by,
  answers: message.answers?.length ? message.answers : undefined,
  ...(message.decided && decisionColumns(message.decided)),
  place: message.place,
  facts: message.facts && withoutNulls(message.facts),
  uses_values: message.usesValues === true ? true : undefined,
  limits: message.limits,
  on_busy: message.onBusy === 'reject' ? undefined : message.onBusy,
  may_queue: message.mayQueue === true ? true : undefined,
  input: message.mayQueue === true && message.queuedInput ? encodeInput(message.queuedInput) : undefined,
  history: message.historyLimits && {
    within: MOST_ANSWERED_BYTES,
    max_bytes: message.historyLimits.maxBytes,
    max_tool_text: message.historyLimits.maxToolText,
  },
})

/** What is null is left out: a null is stored with its name, twice a reply. */
const withoutNulls = (facts: object): object =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null))

function beginColumns({ title, metadata, messages }: NonNullable<SessionToMake['begins']>) {
  const { rows, bytes } = givenRows(messages)
  return { title, metadata, messages: rows, bytes }
}

const decisionColumns = ({ waitId, calls, hash }: Decisions) => ({
  wait_id: waitId,
  decisions: calls,
  decisions_hash: hash.toString('hex'),
})

interface Grouped extends GroupItem {
  owner: Owner
  message: NewMessage
}

/**
 * `admit`, for many at a time. A message that may only join, that is a retry, or brings decisions, answers or a history, always
 * goes alone.
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

/** Those of one epoch that nothing stands against, in one statement. Null when `admit` has to decide about it. */
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

function admissionOf(sql: Sql, answer: Answer, owner: Owner, message: NewMessage): Admission {
  if (answer.outcome === 'joined') return { outcome: 'joined', replyId: answer.reply_id }
  if (answer.outcome === 'limited') {
    if (answer.over === undefined) throw new Error('A refusal names no limit.')
    return { outcome: 'limited', over: answer.over, ...(answer.rate && { rate: answer.rate }) }
  }
  if (answer.outcome === 'queued')
    return {
      outcome: 'queued',
      replyId: answer.reply_id,
      position: answer.position ?? 0,
      ...(answer.rate && { rate: answer.rate }),
    }
  if (answer.outcome !== 'admitted') return { outcome: answer.outcome }
  const admitted = admittedOf(answer, owner, message)
  const { history } = answer
  return history ? { ...admitted, history: () => historyOf(sql, history) } : admitted
}

/** What admit_message answered of a message that it has admitted, now or when it began from the queue. */
export function admittedOf(
  answer: Answer,
  owner: Owner,
  message: Pick<NewMessage, 'replyId' | 'sessionId' | 'model' | 'includeUsage' | 'text'>,
): Admitted {
  return {
    outcome: 'admitted',
    restState: answer.rest_state,
    text: answer.text ?? message.text,
    parentId: answer.parent_id,
    historyEnd: answer.history_end,
    titleFrom: answer.untitled ? (answer.first_text ?? message.text) : null,
    ...(answer.values && { values: answer.values }),
    ...(answer.rate && { rate: answer.rate }),
    reply: {
      id: message.replyId,
      sessionId: message.sessionId,
      sessionNum: answer.session_num,
      firstSeq: answer.first_seq,
      model: message.model,
      createdAt: new Date(answer.created_at).toISOString(),
      includeUsage: message.includeUsage,
      instanceId: owner.id,
      epoch: owner.epoch,
    },
  }
}
