/** What a request may ask of the answer itself (contract section 13). Types only. */

/** What the answer keeps to, as a completion request has it. `schema`: a JSON Schema. */
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

/** What an agent asks of its answers, where a request names nothing else. */
export interface AgentFields {
  maxTokens?: number
  reasoningEffort?: ReasoningEffort
}
