/** What a model turn's calls to its provider report. Types only. */
import type { ReplyErrorCode } from './reply-event.ts'

/** Notified of the calls to the provider that one model turn makes. They cost microseconds and never throw. */
export interface ProviderCalls {
  /** A call is made, the first one or a retry, to this base URL. Null: nothing leaves the process. */
  called(url: string | null): void
  /** A call failed and is made again. */
  retried(retry: ProviderRetry): void
}

export interface ProviderRetry {
  /** The call that failed, from 1. */
  attempt: number
  waitMs: number
  code: ReplyErrorCode
  /** The provider's full words, without secrets. */
  detail: string
}
