/** How a reply ended, as its row keeps it: the columns that `fold_reply` is given, and what is read from them. */
import type { Settlement } from '../../../actors/ports/index.ts'
import type {
  Counted,
  FinishReason,
  MessageStatus,
  Outcome,
  ReplyErrorCode,
  Usage,
} from '../../../actors/reply/reply-event.ts'
import type { SettlementContributions } from '../contributions.ts'
import { decodeFacts, decodeShownCalls } from '../stored/stored-columns.ts'

/** Returns the columns of an outcome, and the title of a session that has none: the argument of `fold_reply`. */
export function outcomeColumns(
  { outcome, events: _, endedAt, requesterLost, reasoningMs, figures, title, waiting, steps, ...others }: Settlement,
  contributions: SettlementContributions,
) {
  others satisfies Record<string, never> // a field that is not stored does not compile
  const error = outcome.type === 'failed' ? outcome.error : null
  const calls = outcome.type === 'finished' ? outcome.calls : undefined
  return {
    finish_reason: outcome.type === 'failed' ? 'error' : outcome.reason,
    error_code: error?.code,
    error_message: error?.message,
    error_detail: error?.detail,
    prompt_tokens: outcome.usage.promptTokens,
    completion_tokens: outcome.usage.completionTokens,
    usage_estimated: outcome.usage.estimated,
    ended_at: endedAt,
    requester_lost: requesterLost,
    reasoning_ms: reasoningMs,
    facts: factsOf(figures, outcome.usage),
    title,
    ...(calls && calls.length > 0 && { shown_calls: calls }),
    ...(waiting && { waiting: contributions.waiting(waiting) }),
    ...(steps && steps.length > 0 && { steps: contributions.steps(steps) }),
  }
}

/** Returns the figures with what a provider counted besides, which is looked at, never searched for. */
function factsOf(figures: Settlement['figures'], usage: Usage) {
  const { promptTokens: _, completionTokens: __, estimated: ___, ...counted } = usage
  return Object.keys(counted).length === 0 ? figures : { ...figures, counted }
}

export type CountedDetails = Omit<Counted, 'promptTokens' | 'completionTokens'>

export interface UsageRow {
  prompt_tokens: number | null
  completion_tokens: number | null
  usage_estimated: boolean | null
  /** See `decodeFacts`. */
  facts: unknown
}

/** Returns the usage, or null when it is not counted, or not yet. */
export function storedUsage({ prompt_tokens, completion_tokens, usage_estimated, facts }: UsageRow): Usage | null {
  if (prompt_tokens === null || completion_tokens === null) return null
  const counts = { promptTokens: prompt_tokens, completionTokens: completion_tokens }
  return { ...counts, estimated: usage_estimated ?? true, ...decodeFacts(facts)?.counted }
}

export interface OutcomeRow extends UsageRow {
  status: MessageStatus
  finish_reason: FinishReason | 'error' | null
  error_code: ReplyErrorCode | null
  error_message: string | null
  error_detail: string | null
  /** See `decodeShownCalls`. */
  shown_calls: unknown
}

/** Returns the outcome, or null while the reply runs. */
export function outcomeOf(row: OutcomeRow): Outcome | null {
  if (row.status === 'streaming') return null
  const usage = storedUsage(row) ?? { promptTokens: 0, completionTokens: 0, estimated: true }
  if (row.status === 'complete' && row.finish_reason !== null && row.finish_reason !== 'error') {
    const calls = decodeShownCalls(row.shown_calls)
    return { type: 'finished', reason: row.finish_reason, usage, ...(calls && { calls }) }
  }
  const message = row.error_message ?? ''
  return {
    type: 'failed',
    error: { code: row.error_code ?? 'internal', message, detail: row.error_detail ?? message },
    usage,
  }
}
