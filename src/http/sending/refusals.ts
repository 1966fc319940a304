/** Why a message was not taken (contract sections 3 and 4): the same on every surface, each in its own format. */
import type { Refusal } from '../../actors/session/host.ts'
import type { NoRoom, Session } from '../../features/sessions/index.ts'
import type { Full } from '../../persistence/replies/sessions/storage-limits.ts'
import { CodedError, HttpError, missing, revokedSecret } from '../server/http-error.ts'

/** Official clients try again by themselves on 409 and 5xx; this stops them. */
export const noRetry = { 'x-should-retry': 'false' }
/** A message, a copy or a history that has no room. */
export const fullWords = {
  session_full: 'The session would hold more than MAX_SESSION_BYTES allows.',
  user_full: 'The sessions of this user would hold more than MAX_USER_BYTES allows.',
} satisfies Record<Exclude<Full, 'too_many_sessions'>, string>

/** Returns the session as it was changed. Throws 404, and 413 where there is no room for the change. */
export function changed(session: Session | NoRoom | null, kind: string): Session {
  if (session === null) return missing(kind)
  if ('full' in session) throw new HttpError(413, fullWords[session.full], noRetry)
  return session
}

/** Refuses one more session of a user. Deleting one makes room; time does not. */
export const tooManySessions = () =>
  new CodedError(429, 'This user has as many sessions as MAX_USER_SESSIONS allows.', 'too_many_sessions', noRetry)

const retryAfter = { 'retry-after': '2' }

interface ErrorRow {
  status: number
  message: string
  headers: Readonly<Record<string, string>>
  /** The field at fault, in snake case. */
  field?: string
}

const refusals = {
  busy: { status: 409, message: 'A reply is running in this session.', headers: noRetry },
  parent_waits: {
    status: 409,
    message: 'This session answers a call of another one, which has no result yet.',
    headers: noRetry,
  },
  queue_full: { status: 409, message: 'Twenty messages wait in this session already.', headers: noRetry },
  not_waiting: { status: 409, message: 'Nothing in this session waits for this decision.', headers: noRetry },
  too_many_remembered: {
    status: 400,
    field: 'remember',
    message: '200 decisions are remembered already; revoke some of them',
    headers: {},
  },
  key_reused: { status: 400, message: 'Idempotency-Key: was used for another body', headers: {} },
  not_found: { status: 404, message: 'There is no such session.', headers: {} },
  full: { status: 503, message: 'Too many replies run at the moment.', headers: retryAfter },
  draining: { status: 503, message: 'The instance is shutting down.', headers: retryAfter },
  stale: { status: 503, message: 'The configuration is being changed.', headers: retryAfter },
  // No `x-should-retry`: a retry joins the reply, if there is one.
  unknown: { status: 500, message: 'It is not known whether the message was stored.', headers: retryAfter },
  unknown_parent: { status: 400, field: 'parent_id', message: 'there is no such reply in this session', headers: {} },
  unknown_message: {
    status: 400,
    field: 'message_id',
    message: 'there is no such message in this session',
    headers: {},
  },
  nothing_to_answer: { status: 400, field: 'regenerate', message: 'there is no user message to answer', headers: {} },
  session_full: { status: 413, message: fullWords.session_full, headers: noRetry },
  user_full: { status: 413, message: fullWords.user_full, headers: noRetry },
  unavailable: { status: 503, message: 'The instance cannot write at the moment.', headers: retryAfter },
} satisfies Record<Exclude<Refusal, 'revoked' | 'too_many_sessions'>, ErrorRow>

/** The way in which a surface writes the names of fields, which are given in snake case. */
export type NameOf = (field: string) => string

export const snakeCase: NameOf = (field) => field

/** Throws the refusal as its HTTP error. */
export function refuse(outcome: Refusal, nameOf: NameOf = snakeCase): never {
  if (outcome === 'revoked') throw revokedSecret()
  if (outcome === 'too_many_sessions') throw tooManySessions()
  const { status, message, headers, field }: ErrorRow = refusals[outcome]
  throw new HttpError(status, field === undefined ? message : `${nameOf(field)}: ${message}`, headers)
}

/** Refuses what needs a session at rest: a reply or a summary runs in the session, or its calls wait. Throws 409. */
export function refuseBusy(session: { pending: readonly unknown[] } | null): never {
  if (session === null || session.pending.length === 0) return refuse('busy')
  throw new HttpError(
    409,
    'Calls wait for a decision in this session. Decide them, or send a message instead.',
    noRetry,
  )
}
