/** What a model turn's calls to its providers report. Types only. */

import type { ReplyErrorCode } from '../reply/reply-event.ts'
import type { ModelFailure, ModelRequest } from './index.ts'

/** Notified of the calls to providers that one model turn makes. They cost microseconds and never throw. */
export interface ProviderCalls {
  /** A call is made: the first one, a retry, or one to a fallback. */
  called(call: ProviderCall): void
  /** What that call sends. May be called again: a server that refuses a part is asked without it. */
  sent(request: ModelRequest, body: object): void
  /** The head of its answer has come. */
  answered(status: number): void
  /** Its first text or reasoning has come. */
  firstToken(): void
  /** That call is over. Called once for each. `status`: of an answer that refused it. */
  callEnded(outcome: ProviderCallOutcome, status: number | null): void
  /** A call failed and is made again. */
  retried(retry: ProviderRetry): void
  /** A provider has failed, and the next one is asked. */
  fellBack(failure: ProviderFailure): void
}

export interface ProviderCall {
  /** Base URL. Null: nothing leaves the process. */
  url: string | null
  providerId: string
  providerType: string
  model: string
}

/** `stopped`: its reply was over. */
export type ProviderCallOutcome = 'ok' | 'stopped' | ModelFailure['code']

export interface ProviderFailure {
  code: ReplyErrorCode
  /** The provider's full words, without secrets. */
  detail: string
}

export interface ProviderRetry extends ProviderFailure {
  /** The call that failed, from 1. */
  attempt: number
  /** Calls that may be made in all. */
  of: number
  waitMs: number
}
