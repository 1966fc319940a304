/** Reader of a request's fields other than its input (contract section 24), as the other APIs name them. Throws 400. */
import type { components } from '../../../../../openapi/generated/schema.ts'
import { ResponseRequestBody } from '../../../../../openapi/schemas/deploy/responses.ts'
import type { AnswerFields, ResponseRequest } from '../../../../actors/ports/index.ts'
import { type CallerTools, readCallerTools } from '../../../../features/approvals/index.ts'
import type { Caller } from '../../../../features/users/index.ts'
import type { AgentForCompletion } from '../../../../persistence/records/agent-lookup.ts'
import { isObject } from '../../../../untrusted/is-object.ts'
import { isAbsent, readAnswerFields } from '../../../sending/answer-fields.ts'
import { type Instructions, instructionsOf, refuseOfSecret } from '../../../sending/caller-instructions.ts'
import { badRequest, HttpError } from '../../../server/http-error.ts'
import { foreignIn } from './foreign-items.ts'
import type { InputItem } from './input-items.ts'
import { toolRefusal } from './refused-tools.ts'

type Body = components['schemas']['ResponseRequestBody']

export interface RequestFields {
  fields: AnswerFields
  /** The tools of the caller. When absent, the session's current ones stay. */
  callerTools?: CallerTools
  includeActions: boolean
  /** The most tool calls of the reply and of those that continue it. Absent when the agent's number counts. */
  maxToolCalls?: number
  /** The request as the response repeats it. */
  response: ResponseRequest
}

/** The field names of this API, by the patterns of the shared readers' errors. */
const fieldNames: readonly (readonly [RegExp, string])[] = [
  [/^max_(?:completion_)?tokens:/, 'max_output_tokens:'],
  [/^response_format(?:\.json_schema)?/, 'text.format'],
  [/^reasoning_effort:/, 'reasoning.effort:'],
  [/^(tools\.\d+)\.function/, '$1'],
  [/^(tools: .*) response_format$/, '$1 text.format'],
  [/\{"type": "function", "function": \{"name"\}\}/, '{"type": "function", "name"}'],
  [/^messages:/, 'input:'],
  [/^parent_id: .*/, 'previous_response_id: there is no such response in this conversation'],
]

/** Translates field names in 400 errors of shared readers to those of this API. */
export async function renamingFieldsInErrors<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 400) throw error
    const named = fieldNames.find(([theirs]) => theirs.test(error.message))
    throw named ? new HttpError(400, error.message.replace(named[0], named[1]), error.headers) : error
  }
}

export function readFields(
  body: Body,
  { generationConfig }: Pick<AgentForCompletion, 'generationConfig'>,
): RequestFields {
  refuseUnsupported(body)
  const maxToolCalls = toolCallsIn(body.max_tool_calls)
  if (!isAbsent(body.instructions) && typeof body.instructions !== 'string') {
    badRequest('instructions: must be a string')
  }
  const { max_output_tokens: maxOutputTokens, parallel_tool_calls: parallelToolCalls, instructions } = body
  const { temperature, topP } = generationConfig
  const format = formatOf(body.text)
  const responseFormat = format && chatFormat(format)
  const fields = readAnswerFields({
    max_completion_tokens: maxOutputTokens,
    response_format: responseFormat,
    reasoning_effort: effortOf(body.reasoning),
    parallel_tool_calls: parallelToolCalls,
  })
  const tools = toolsOf(body.tools)
  const choice = isAbsent(body.tool_choice) ? undefined : body.tool_choice
  // Clients send "auto", and servers' histories "none", whether there are tools or not (contract section 32).
  const saysNothing = tools.length === 0 && (choice === 'auto' || choice === 'none')
  const callerTools = readCallerTools({
    tools: tools.map(chatTool),
    response_format: responseFormat,
    tool_choice: saysNothing ? undefined : chatChoice(choice),
  })
  const effort = fields.reasoningEffort ?? generationConfig.reasoningEffort
  const response: ResponseRequest = {
    background: body.background === true,
    metadata: body.metadata ?? {},
    ...(typeof instructions === 'string' && instructions !== '' && { instructions }),
    ...(fields.maxTokens && { maxOutputTokens: fields.maxTokens.value }),
    ...(maxToolCalls !== undefined && { maxToolCalls }),
    ...(fields.parallelToolCalls !== undefined && { parallelToolCalls: fields.parallelToolCalls }),
    ...(choice !== undefined && { toolChoice: choice }),
    ...(tools.length > 0 && { tools: tools.map(shownTool) }),
    ...(format && { format }),
    ...(effort !== undefined && { effort }),
    ...(typeof body.safety_identifier === 'string' && { safetyIdentifier: body.safety_identifier }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof topP === 'number' && { topP }),
  }
  return {
    fields,
    ...(callerTools.tools.length > 0 && { callerTools }),
    ...(maxToolCalls !== undefined && { maxToolCalls }),
    includeActions: body.include_actions === true,
    response,
  }
}

/** Refuses fields that would change the answer and are not supported, and ignored ones of another type than OpenAI's. */
export function refuseUnsupported(body: Body): void {
  const sent: Readonly<Record<string, unknown>> = body
  if (!isAbsent(sent.prompt)) badRequest('prompt: is not supported: the agent has the prompt; send instructions')
  if (!isAbsent(sent.top_logprobs) && sent.top_logprobs !== 0) badRequest('top_logprobs: is not supported')
  if (Array.isArray(sent.include) && sent.include.includes('message.output_text.logprobs')) {
    badRequest('include: message.output_text.logprobs is not supported')
  }
  for (const name of ['truncation', 'service_tier']) {
    const value = sent[name]
    if (value !== undefined && value !== null && typeof value !== 'string') badRequest(`${name}: must be a string`)
  }
}

/** Returns the value of `max_tool_calls`, which counts as absent when it is null or 0. */
function toolCallsIn(value: unknown): number | undefined {
  if (value === undefined || value === null || value === 0) return undefined
  const isWhole = typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
  return isWhole ? value : badRequest('max_tool_calls: must be a whole number of 1 or more')
}

const known = new Set([...Object.keys(ResponseRequestBody.properties), 'model'])

/**
 * Returns the body with nested fields next to the others, and the names that are read. The rest is named in
 * `x-greenroom-ignored`.
 */
export function ignoredIn(body: Body): [Readonly<Record<string, unknown>>, ReadonlySet<string>] {
  return [
    {
      ...body,
      ...unusedIn('text', body.text, 'format'),
      ...unusedIn('reasoning', body.reasoning, 'effort'),
      ...foreignIn(body.input),
    },
    known,
  ]
}

function unusedIn(name: string, value: unknown, used: string): Record<string, unknown> {
  const fields = isObject(value) ? Object.entries(value) : []
  return Object.fromEntries(fields.filter(([key]) => key !== used).map(([key, one]) => [`${name}.${key}`, one]))
}

/** Returns the text format of a request. It is undefined when none is given. */
function formatOf(text: unknown): Record<string, unknown> | undefined {
  if (isAbsent(text)) return undefined
  if (!isObject(text)) return badRequest('text: must be an object')
  if (isAbsent(text.format)) return undefined
  return isObject(text.format) ? { ...text.format } : badRequest('text.format: must be an object')
}

/** Returns the format as chat completions have it, with the schema one level deeper. */
function chatFormat(format: Readonly<Record<string, unknown>>): object {
  const { type, ...schema } = format
  return type === 'json_schema' ? { type, json_schema: schema } : { type }
}

function effortOf(reasoning: unknown): unknown {
  if (isAbsent(reasoning)) return undefined
  return isObject(reasoning) ? reasoning.effort : badRequest('reasoning: must be an object')
}

type Tool = Readonly<Record<string, unknown>>

function toolsOf(tools: unknown): Tool[] {
  if (isAbsent(tools)) return []
  if (!Array.isArray(tools)) return badRequest('tools: must be an array')
  return tools.map((tool: unknown, index) => {
    if (!isObject(tool)) return badRequest(`tools.${index}: must be an object`)
    if (tool.type !== 'function') {
      return badRequest(toolRefusal(tool.type, index))
    }
    return tool
  })
}

const chatTool = ({ type, ...named }: Tool): object => ({ type, function: named })

const shownTool = ({ type, name, description, parameters, strict }: Tool): Record<string, unknown> => ({
  type,
  name,
  description: description ?? null,
  parameters: parameters ?? null,
  strict: strict ?? null,
})

function chatChoice(choice: unknown): unknown {
  if (!isObject(choice) || choice.type !== 'function') return choice
  return { type: 'function', function: { name: choice.name } }
}

/** Returns the `instructions` of the request, followed by its system and developer items. Throws 400 and 403. */
export function instructionsIn(
  items: readonly InputItem[],
  { instructions: given }: { instructions?: string | undefined },
  { agent, caller }: { agent: Pick<AgentForCompletion, 'callerInstructions'>; caller: Caller },
): Instructions | null {
  const own = given === undefined ? [] : [{ text: given, where: 'instructions' }]
  const sent = items.flatMap((item) =>
    item.kind === 'instructions' ? [{ text: item.text, where: `${item.where}.role` }] : [],
  )
  const instructions = instructionsOf([...own, ...sent])
  if (caller.kind === 'secret') refuseOfSecret(agent, instructions)
  return instructions
}
