/** A model request in the format of the Gemini API. */

import type { ModelRequest, ToolCall } from '../../actors/ports/index.ts'
import { wireFields } from '../answer-fields.ts'
import { geminiThoughts } from '../reasoning.ts'
import { argumentsOf, echoedArguments, exchangesOf, toolsMentionedIn, type Wire } from '../request/exchanges.ts'
import { bytesOf } from '../request/outgoing-parts.ts'
import { schemaFor } from '../request/tool-schemas.ts'
import { createEchoes } from '../wire/echoes.ts'
import { wireName } from './gemini-names.ts'

export interface Part {
  text?: string
  inlineData?: { mimeType: string; data: string }
  functionCall?: { name: string; args: Record<string, unknown>; id?: string }
  functionResponse?: { name: string; response: { output: string }; id?: string }
  thoughtSignature?: string
}

interface ToolConfig {
  functionCallingConfig: { mode: 'NONE' | 'ANY'; allowedFunctionNames?: string[] }
}

export interface GeminiBody {
  contents: { role: 'user' | 'model'; parts: Part[] }[]
  systemInstruction?: { role: 'user'; parts: Part[] }
  /** Sampling parameters and the fields of `wireFields`. */
  generationConfig: Record<string, unknown>
  tools?: { functionDeclarations: { name: string; description: string; parametersJsonSchema: object }[] }[]
  toolConfig?: ToolConfig
}

/**
 * Google's placeholder for a missing signature. Gemini 3 and later refuse a turn whose first call is not signed, though
 * another model made it. Earlier models accept and ignore it.
 */
const NOT_SIGNED = 'skip_thought_signature_validator'

/** The original parts of turns. Gemini 3 and later refuse calls that come back without their signature. */
export const echoes = createEchoes<readonly Part[]>('gemini')

/**
 * Omits the ids of calls in the history, which older models neither produce nor accept: vendor and order assign the
 * results. Results of this reply carry the ids that the model gave.
 */
const wireFor = (request: ModelRequest, given = new Set<string>()): Wire<Part> => ({
  type: 'gemini',
  text: (text) => ({ text }),
  part: (part) => ({ inlineData: { mimeType: part.mediaType, data: bytesOf(part) } }),
  call: (call, isFirst) => ({
    functionCall: { name: wireName(call.name), args: argumentsOf(call) },
    ...(isFirst && { thoughtSignature: NOT_SIGNED }),
  }),
  result: ({ id, name }, content) => ({
    functionResponse: { name: wireName(name), response: { output: content }, ...(given.has(id) && { id }) },
  }),
  partsInResults: false,
  echoed: (echo, calls) => withCalls(echoes.of(echo, request), calls, given),
  resultsApart: true,
})

/** Gives calls the names and ids that their results have. A call that came without an id is sent back without one. */
function withCalls(
  parts: readonly Part[] | null,
  calls: readonly ToolCall[],
  given: Set<string>,
): readonly Part[] | null {
  let next = 0
  const withCall = (part: Part): Part => {
    const { functionCall } = part
    if (functionCall === undefined) return part
    const call = calls[next++]
    if (call === undefined) return part
    const args = echoedArguments(functionCall.args, call)
    const named = { ...functionCall, args, name: wireName(call.name) }
    if (!named.id) return { ...part, functionCall: named }
    given.add(call.id)
    return { ...part, functionCall: { ...named, id: call.id } }
  }
  return parts?.map(withCall) ?? null
}

function callingConfig({ tools, toolChoice }: ModelRequest): { toolConfig?: ToolConfig } {
  if (tools.length === 0 || toolChoice === 'none') return { toolConfig: { functionCallingConfig: { mode: 'NONE' } } }
  if (toolChoice === undefined || toolChoice === 'auto') return {}
  const allowed = toolChoice === 'required' ? {} : { allowedFunctionNames: [wireName(toolChoice.name)] }
  return { toolConfig: { functionCallingConfig: { mode: 'ANY', ...allowed } } }
}

export function geminiBody(request: ModelRequest): GeminiBody {
  const { system, messages, config, tools } = request
  const { thinkingConfig: effort, ...fields } = wireFields(request)
  const thinkingConfig = { ...Object(effort), ...geminiThoughts(request) }
  const exchanges = exchangesOf(messages, wireFor(request))
  const declared = tools.length > 0 ? tools : toolsMentionedIn(messages)
  return {
    contents: exchanges.map(({ role, blocks }) => ({ role, parts: blocks })),
    ...(system !== null && system.trim() !== '' && { systemInstruction: { role: 'user', parts: [{ text: system }] } }),
    generationConfig: {
      ...(config.temperature !== undefined && { temperature: config.temperature }),
      ...(config.topP !== undefined && { topP: config.topP }),
      ...(config.topK !== undefined && { topK: config.topK }),
      ...fields,
      ...(Object.keys(thinkingConfig).length > 0 && { thinkingConfig }),
    },
    ...(declared.length > 0 && {
      tools: [
        {
          functionDeclarations: declared.map(({ name, description, inputSchema }) => ({
            name: wireName(name),
            description,
            parametersJsonSchema: schemaFor('gemini', inputSchema),
          })),
        },
      ],
      ...callingConfig(request),
    }),
  }
}
