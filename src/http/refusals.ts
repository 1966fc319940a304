/** Why a message was not taken (contract sections 3 and 4): the same on every surface, each in its own format. */
import type { Refusal } from '../actors/session-host.ts'
import { HttpError } from './http-error.ts'

/** Official clients try again by themselves on 409 and 5xx; this stops them. */
export const noRetry = { 'x-should-retry': 'false' }
const retryAfter = { 'retry-after': '2' }

interface ErrorRow {
  status: number
  say: string
  headers: Readonly<Record<string, string>>
}

export const refusals = {
  busy: { status: 409, say: 'A reply is running in this session.', headers: noRetry },
  key_reused: { status: 400, say: 'Idempotency-Key: was used for another body', headers: {} },
  not_found: { status: 404, say: 'There is no such session.', headers: {} },
  full: { status: 503, say: 'Too many replies run at the moment.', headers: retryAfter },
  draining: { status: 503, say: 'The instance is shutting down.', headers: retryAfter },
  stale: { status: 503, say: 'The configuration is being changed.', headers: retryAfter },
  // No `x-should-retry`: a retry joins the reply, if there is one.
  unknown: { status: 500, say: 'It is not known whether the message was stored.', headers: retryAfter },
  unavailable: { status: 503, say: 'The instance cannot write at the moment.', headers: retryAfter },
} satisfies Record<Refusal, ErrorRow>

/** Throws the refusal as its HTTP error. */
export function refuse(outcome: keyof typeof refusals): never {
  const { status, say, headers } = refusals[outcome]
  throw new HttpError(status, say, headers)
}
