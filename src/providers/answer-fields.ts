/**
 * The fields that change the answer: which provider accepts them, and under which name (contract section 13). The table
 * decides what is sent, what is refused and what docs/fields.md says. Pure.
 */
import type { AnswerFields, ModelRequest, ModelTarget, ReasoningEffort } from '../actors/ports/index.ts'
import { isReasoningModel } from './openai/openai-models.ts'
import { findProviderType, type ProviderTypeId, wireApiOf } from './provider-types.ts'

export type Field = keyof AnswerFields

/** Names of the fields in requests. */
export const fieldNames = {
  maxTokens: 'max_tokens',
  stop: 'stop',
  seed: 'seed',
  responseFormat: 'response_format',
  reasoningEffort: 'reasoning_effort',
  parallelToolCalls: 'parallel_tool_calls',
} as const satisfies Record<Field, string>

/** The name within the provider's request; a dot leads into an object. Null when it is not taken. */
type Names = Record<Field, string | null>
const common: Names = fieldNames

/** The caller's choice between `max_tokens` and `max_completion_tokens`. */
export const AS_SENT = 'as sent'

/** The key of the table: the provider's type, or the Responses API for every type that uses it. */
export type FieldWire = ProviderTypeId | 'responses'

export const takenFields: Readonly<Record<FieldWire, Names>> = {
  // OpenAI's reasoning models refuse `max_tokens`; all its models take the other name.
  openai: { ...common, maxTokens: 'max_completion_tokens' },
  anthropic: {
    maxTokens: 'max_tokens',
    stop: 'stop_sequences',
    seed: null,
    responseFormat: 'output_config.format',
    reasoningEffort: 'output_config.effort',
    parallelToolCalls: 'tool_choice.disable_parallel_tool_use',
  },
  gemini: {
    maxTokens: 'maxOutputTokens',
    stop: 'stopSequences',
    seed: 'seed',
    responseFormat: 'responseJsonSchema',
    reasoningEffort: 'thinkingConfig',
    parallelToolCalls: null,
  },
  mistral: { ...common, seed: 'random_seed' },
  openrouter: common,
  groq: { ...common, maxTokens: 'max_completion_tokens' },
  deepseek: { ...common, seed: null, parallelToolCalls: null },
  xai: { ...common, maxTokens: 'max_completion_tokens' },
  ollama: { ...common, parallelToolCalls: null },
  // Compatible servers accept one of the two names, and their callers know which.
  'openai-compatible': { ...common, maxTokens: AS_SENT },
  responses: {
    maxTokens: 'max_output_tokens',
    stop: null,
    seed: null,
    responseFormat: 'text.format',
    reasoningEffort: 'reasoning.effort',
    parallelToolCalls: 'parallel_tool_calls',
  },
  demo: {
    maxTokens: AS_SENT,
    stop: 'stop',
    seed: null,
    responseFormat: null,
    reasoningEffort: null,
    parallelToolCalls: null,
  },
}

/** The smallest value that the Responses API accepts. */
const LEAST_OUTPUT = 16

interface Limit {
  /** The row of the documentation's table. */
  words: string
  /** Returns whether the limit keeps these fields from this model. */
  excludes(fields: AnswerFields, model: string): boolean
}

const efforts = (...taken: ReasoningEffort[]): Limit => ({
  words: taken.join(', '),
  excludes: ({ reasoningEffort }) => reasoningEffort !== undefined && !taken.includes(reasoningEffort),
})

/** Values that a provider's API lacks, of fields that it has. */
export const limits: Partial<Record<FieldWire, Partial<Record<Field, readonly Limit[]>>>> = {
  anthropic: {
    responseFormat: [
      {
        words: 'json_schema with a schema',
        excludes: ({ responseFormat: format }) =>
          format?.type === 'json_object' || (format?.type === 'json_schema' && !format.json_schema.schema),
      },
      { words: 'Claude Opus 4.1, Sonnet 4.5, Haiku 4.5 and later', excludes: (_, model) => !hasSchemas(model) },
    ],
    reasoningEffort: [
      efforts('low', 'medium', 'high', 'xhigh', 'max'),
      { words: 'Claude Opus 4.5, Sonnet 4.6 and later', excludes: (_, model) => !hasEffort(model) },
    ],
  },
  gemini: {
    reasoningEffort: [
      {
        words: 'minimal, low, medium, high; none by Gemini 2.5 alone; no model before',
        excludes: ({ reasoningEffort: effort }, model) => effort !== undefined && thinkingOf(model, effort) === null,
      },
    ],
  },
  mistral: { reasoningEffort: [efforts('none', 'high')] },
  responses: {
    maxTokens: [
      {
        words: `${LEAST_OUTPUT} or more`,
        excludes: ({ maxTokens }) => maxTokens !== undefined && maxTokens.value < LEAST_OUTPUT,
      },
    ],
  },
  deepseek: {
    responseFormat: [
      { words: 'json_object', excludes: ({ responseFormat: format }) => format?.type === 'json_schema' },
    ],
  },
}

/** Returns whether a model supports response schemas. Claude 3 to Opus 4 and Sonnet 4 do not. */
const hasSchemas = (model: string): boolean =>
  !/claude-3-|claude-(?:opus|sonnet)-4(?:-0)?(?:-\d{8}|-latest|@|$)/.test(model)

const hasEffort = (model: string): boolean =>
  hasSchemas(model) && !/claude-opus-4-1|claude-(?:sonnet|haiku)-4-5/.test(model)

/**
 * Returns token budgets as Google's own chat-completions endpoint sets them; levels from Gemini 3 on. Null when it is
 * not taken.
 */
function thinkingOf(model: string, effort: ReasoningEffort): object | null {
  if (effort === 'xhigh' || effort === 'max' || /gemini-(?:1|2\.0)/.test(model)) return null
  if (/gemini-2\.5/.test(model)) {
    const budgets = { none: 0, minimal: 1024, low: 1024, medium: 8192, high: 24_576 }
    return { thinkingBudget: budgets[effort] }
  }
  return effort === 'none' ? null : { thinkingLevel: effort.toUpperCase() }
}

type Target = { provider: Pick<ModelTarget['provider'], 'type' | 'wireApi'>; model: string }

const fieldWireOf = (provider: Target['provider'], type: ProviderTypeId): FieldWire =>
  wireApiOf(provider) === 'responses' ? 'responses' : type

/** Returns why a model does not accept these fields: a message that begins with the field. Null when it accepts all. */
export function fieldRefusal({ provider, model }: Target, fields: AnswerFields): string | null {
  const known = findProviderType(provider.type)
  if (known === null) return null
  const wire = fieldWireOf(provider, known.id)
  for (const field of fieldsIn(fields)) {
    const name = field === 'maxTokens' ? (fields.maxTokens?.name ?? fieldNames.maxTokens) : fieldNames[field]
    const api = wire === 'responses' ? ', Responses API' : ''
    const named = `the provider (${known.name}, type ${known.id}${api})`
    if (takenFields[wire][field] === null) return `${name}: ${named} does not take this field`
    const limit = limits[wire]?.[field]?.find(({ excludes }) => excludes(fields, model))
    if (limit) return `${name}: ${named} takes it with this limit: ${limit.words}`
  }
  return null
}

/** Merges the request's fields with the agent's. A fallback is not sent those of the agent's fields that it rejects. */
export function withAgentFields(request: ModelRequest, isFallback: boolean): AnswerFields {
  const { fields = {}, agentFields = {}, model } = request
  const { maxTokens: value, reasoningEffort } = agentFields
  // Reasoning models refuse `max_tokens`, and older servers know nothing else.
  const name = isReasoningModel(model) ? 'max_completion_tokens' : 'max_tokens'
  const given: AnswerFields[] = [
    ...(value === undefined ? [] : [{ maxTokens: { name, value } as const }]),
    ...(reasoningEffort === undefined ? [] : [{ reasoningEffort }]),
  ]
  const taken = given.filter((field) => !isFallback || fieldRefusal(request, field) === null)
  return Object.assign({}, ...taken, fields)
}

/**
 * Returns the names of the fields to send. The response format of plain text is left out, since it is every model's
 * default.
 */
const fieldsIn = (fields: AnswerFields): Field[] =>
  fieldList.filter(
    (field) => fields[field] !== undefined && !(field === 'responseFormat' && fields.responseFormat?.type === 'text'),
  )

const fieldList = Object.keys(fieldNames).filter((name): name is Field => name in fieldNames)

/** Returns the fields as the provider's request has them. Only for fields that `fieldRefusal` accepted. */
export function wireFields({ provider, model, fields = {} }: ModelRequest): Record<string, unknown> {
  const known = findProviderType(provider.type)
  const wire: Record<string, unknown> = {}
  if (known === null) return wire
  const fieldWire = fieldWireOf(provider, known.id)
  for (const field of fieldsIn(fields)) {
    const name = takenFields[fieldWire][field]
    if (name === null) continue
    const [outer = '', inner] = (name === AS_SENT ? (fields.maxTokens?.name ?? '') : name).split('.')
    const value = wireValue(fieldWire, field, fields, model)
    wire[outer] = inner === undefined ? value : { ...Object(wire[outer]), [inner]: value }
  }
  if (known.id === 'gemini' && 'responseJsonSchema' in wire) {
    wire.responseMimeType = 'application/json'
    if (wire.responseJsonSchema === undefined) delete wire.responseJsonSchema
  }
  return wire
}

function wireValue(type: FieldWire, field: Field, fields: AnswerFields, model: string): unknown {
  const { responseFormat: format, reasoningEffort: effort } = fields
  // An interrupted reply may have less left than the minimum. A caller who sets less is refused.
  if (type === 'responses' && field === 'maxTokens') return Math.max(LEAST_OUTPUT, fields.maxTokens?.value ?? 0)
  if (field === 'maxTokens') return fields.maxTokens?.value
  if (type === 'anthropic' && field === 'parallelToolCalls') return !fields.parallelToolCalls
  if (type === 'gemini' && field === 'reasoningEffort') return effort && thinkingOf(model, effort)
  if (field === 'responseFormat' && format?.type === 'json_schema') {
    const { schema } = format.json_schema
    if (type === 'responses') return { type: 'json_schema', ...format.json_schema }
    if (type === 'anthropic') return { type: 'json_schema', schema }
    if (type === 'gemini') return schema ?? undefined
  }
  if (type === 'gemini' && field === 'responseFormat') return undefined
  return fields[field]
}
