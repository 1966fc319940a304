/** How a generation ends by itself, whatever the model says. */
import type { ModelFailure } from '../ports/index.ts'
import type { FinishReason, ReplyError, ReplyErrorCode } from '../reply/reply-event.ts'
import type { Wait } from './waiting-calls.ts'

/** How generating ended, before it is stored. */
export type Ending = { type: 'finished'; reason: FinishReason; wait?: Wait } | { type: 'failed'; error: ReplyError }

export const endedEarly: ModelFailure = {
  code: 'internal',
  message: 'The model call ended without an end.',
  detail: 'The model call ended without an end.',
}

const failed = (code: ReplyErrorCode, message: string): Ending => ({
  type: 'failed',
  error: { code, message, detail: message },
})

export const timedOut = (timeoutMs: number): Ending =>
  failed('provider_timeout', `The reply took longer than ${timeoutMs / 1000} s.`)

export const leaseOver = failed('internal', 'The instance could not renew its lease in time.')

export const unstored = failed('internal', 'A part of the reply could not be stored.')

/** The fault is the database's: observers tell that from other faults, the wire does not. */
export const isNotStored = (ending: Ending): boolean => ending === leaseOver || ending === unstored
