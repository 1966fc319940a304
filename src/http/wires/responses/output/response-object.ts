/** The response object (contract section 24), built from a stored reply. Pure. */
import type { ReplyInfo, ResponseRequest } from '../../../../actors/ports/index.ts'
import type { FinishReason, ReplyError, Usage } from '../../../../actors/reply/reply-event.ts'
import { idOf } from './ids.ts'

export interface OutputText {
  type: 'output_text'
  text: string
  annotations: []
  logprobs: []
}

type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export type OutputItem =
  | {
      id: string
      type: 'message'
      status: ItemStatus
      role: 'assistant'
      content: OutputText[]
      /** Absent in a reply that called no tools. */
      phase?: 'commentary' | 'final_answer'
    }
  | { id: string; type: 'reasoning'; status: ItemStatus; summary: { type: 'summary_text'; text: string }[] }
  | { id: string; type: 'function_call'; status: ItemStatus; call_id: string; name: string; arguments: string }
  | { id: string; type: 'mcp_approval_request'; name: string; arguments: string; server_label: string }

/** The constant fields of a response. */
export interface ResponseHead {
  reply: Pick<ReplyInfo, 'id' | 'createdAt' | 'model'>
  /** The session's id. Null for a stateless reply. */
  sessionId: string | null
  /** The version of the encoder that numbers its events. */
  encoder: number
  /** The reply before it. Null without one. */
  previousId: string | null
  /** The request of the response. Null when another API started the reply. */
  request: ResponseRequest | null
}

/** The response's progress so far. */
export interface ResponseProgress {
  /** The model of the last turn. */
  model: string
  output: OutputItem[]
  usage: Usage | null
  /** The outcome of the reply. Null while it runs or is queued. */
  ended: FinishReason | ReplyError | null
}

export const isFailure = (ended: ResponseProgress['ended']): ended is ReplyError =>
  ended !== null && typeof ended !== 'string'

const statuses = {
  stop: 'completed',
  steered: 'completed',
  tool_calls: 'completed',
  length: 'incomplete',
  content_filter: 'incomplete',
  cancelled: 'cancelled',
} as const satisfies Record<FinishReason, Status>

const incompleteReasons: Partial<Record<FinishReason, 'max_output_tokens' | 'content_filter'>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
}

type Status = 'queued' | 'in_progress' | 'completed' | 'cancelled' | 'failed' | 'incomplete'

const statusOf = (ended: ResponseProgress['ended']): Status => {
  if (ended === null) return 'in_progress'
  return isFailure(ended) ? 'failed' : statuses[ended]
}

export const usageOf = ({
  promptTokens,
  completionTokens,
  cachedTokens,
  cacheWriteTokens,
  reasoningTokens,
}: Usage) => ({
  input_tokens: promptTokens,
  input_tokens_details: { cached_tokens: cachedTokens ?? 0, cache_write_tokens: cacheWriteTokens ?? 0 },
  output_tokens: completionTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
  total_tokens: promptTokens + completionTokens,
})

const noRequest: ResponseRequest = { background: false, metadata: {} }

/** Returns the response object. `status` overrides the status that the outcome gives. */
export function responseObject(
  head: ResponseHead,
  { model, output, usage, ended }: ResponseProgress,
  status: Status = statusOf(ended),
) {
  const { reply, sessionId, previousId } = head
  const request = head.request ?? noRequest
  const reason = isFailure(ended) || ended === null ? undefined : incompleteReasons[ended]
  return {
    id: idOf('resp', reply.id),
    object: 'response' as const,
    created_at: Math.floor(Date.parse(reply.createdAt) / 1000),
    // The frames do not say when a reply ended, and every reader gets the same bytes.
    completed_at: null,
    status,
    background: request.background,
    error: isFailure(ended) ? { code: ended.code, message: ended.message } : null,
    incomplete_details: reason === undefined ? null : { reason },
    instructions: request.instructions ?? null,
    max_output_tokens: request.maxOutputTokens ?? null,
    model,
    output,
    parallel_tool_calls: request.parallelToolCalls ?? true,
    previous_response_id: previousId === null ? null : idOf('resp', previousId),
    conversation: sessionId === null ? null : { id: idOf('conv', sessionId) },
    store: sessionId !== null,
    // The vendors' defaults, unless the agent sets them.
    temperature: request.temperature ?? 1,
    top_p: request.topP ?? 1,
    presence_penalty: 0 as const,
    frequency_penalty: 0 as const,
    top_logprobs: 0 as const,
    reasoning: { effort: request.effort ?? null, summary: null },
    // A conversation that is too long is truncated or summarised.
    truncation: 'auto' as const,
    max_tool_calls: request.maxToolCalls ?? null,
    service_tier: 'default' as const,
    safety_identifier: request.safetyIdentifier ?? null,
    prompt_cache_key: null,
    text: { format: request.format ?? { type: 'text' } },
    tool_choice: request.toolChoice ?? 'auto',
    tools: [...(request.tools ?? [])],
    usage: usage === null ? null : usageOf(usage),
    metadata: request.metadata,
  }
}

export type ResponseObject = ReturnType<typeof responseObject>
