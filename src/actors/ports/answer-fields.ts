/** The fields by which a request shapes the answer itself (contract section 13). Types only. */

/** The form of the answer, as a completion request names it. `schema`: a JSON Schema. */
export interface AnswerSchema {
  name: string
  description?: string
  schema?: Record<string, unknown>
  strict?: boolean
}

export type ResponseFormat =
  | { type: 'text' }
  | { type: 'json_object' }
  | { type: 'json_schema'; json_schema: AnswerSchema }

export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** Fields of a request that change the answer (contract section 13). What is absent is left to the provider. */
export interface AnswerFields {
  /** `name`: the one of the two fields that was sent. */
  maxTokens?: { name: 'max_tokens' | 'max_completion_tokens'; value: number }
  stop?: readonly string[]
  seed?: number
  responseFormat?: ResponseFormat
  reasoningEffort?: ReasoningEffort
  parallelToolCalls?: boolean
}

/** The fields that an agent sets for its answers, unless the request sets others. */
export interface AgentFields {
  maxTokens?: number
  reasoningEffort?: ReasoningEffort
}
