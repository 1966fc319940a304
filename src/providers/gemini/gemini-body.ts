/** A model request in the words of the Gemini API. */
import {
  type Content,
  FunctionCallingConfigMode,
  type GenerateContentConfig,
  type GenerateContentParameters,
  type Part,
} from '@google/genai'
import type { ModelRequest } from '../../actors/ports/index.ts'
import { wireFields } from '../answer-fields.ts'
import { geminiThoughts } from '../reasoning.ts'
import { createEchoes } from '../wire/echoes.ts'
import { argumentsOf, exchangesOf, toolsMentionedIn, type Wire } from '../wire/exchanges.ts'
import { bytesOf } from '../wire/outgoing-parts.ts'

/** A turn's parts as they came: Gemini 3 and later refuse calls that come back without their signature. */
export const echoes = createEchoes<readonly Part[]>('gemini')

const partsOf = (echo: object | undefined, request: ModelRequest): readonly Part[] | null =>
  echo === undefined ? null : echoes.of(echo, request)

/**
 * Calls of the history go without ids, which older models neither give nor know: vendor and order tell which result
 * is whose. `callIds` are those that the model gave in this reply: their results name them.
 */
const wireFor = (request: ModelRequest, callIds: ReadonlySet<string>): Wire<Part> => ({
  type: 'gemini',
  text: (text) => ({ text }),
  part: (part) => ({ inlineData: { mimeType: part.mediaType, data: bytesOf(part) } }),
  call: (call) => ({ functionCall: { name: call.name, args: argumentsOf(call) } }),
  result: ({ id, name }, content) => ({
    functionResponse: { name, response: { output: content }, ...(callIds.has(id) && { id }) },
  }),
  echoed: (echo) => partsOf(echo, request),
  resultsApart: true,
})

function idsIn(request: ModelRequest): Set<string> {
  const parts = request.messages.flatMap((one) => (one.role === 'assistant' && partsOf(one.echo, request)) || [])
  return new Set(parts.flatMap(({ functionCall }) => functionCall?.id ?? []))
}

function callingConfig({ tools, toolChoice }: ModelRequest): GenerateContentConfig {
  const config = (mode: FunctionCallingConfigMode, allowed?: string[]) => ({
    toolConfig: { functionCallingConfig: { mode, ...(allowed && { allowedFunctionNames: allowed }) } },
  })
  if (tools.length === 0 || toolChoice === 'none') return config(FunctionCallingConfigMode.NONE)
  if (toolChoice === undefined || toolChoice === 'auto') return {}
  return config(FunctionCallingConfigMode.ANY, toolChoice === 'required' ? undefined : [toolChoice.name])
}

/** What the SDK is asked. Its own loops (function calling, continuation) stay off: ours are durable. */
export function geminiRequest(request: ModelRequest, abortSignal: AbortSignal): GenerateContentParameters {
  const { model, system, messages, config, tools } = request
  const { thinkingConfig: effort, ...fields } = wireFields(request)
  const thinkingConfig = { ...Object(effort), ...geminiThoughts(request) }
  const contents = exchangesOf(messages, wireFor(request, idsIn(request))).map(
    ({ role, blocks }): Content => ({ role: role, parts: blocks }),
  )
  const declared = tools.length > 0 ? tools : toolsMentionedIn(messages)
  return {
    model,
    contents,
    config: {
      abortSignal,
      automaticFunctionCalling: { disable: true },
      automaticContinuation: false,
      ...(system !== null && system.trim() !== '' && { systemInstruction: system }),
      ...(config.temperature !== undefined && { temperature: config.temperature }),
      ...(config.topP !== undefined && { topP: config.topP }),
      ...(config.topK !== undefined && { topK: config.topK }),
      ...fields,
      ...(Object.keys(thinkingConfig).length > 0 && { thinkingConfig }),
      ...(declared.length > 0 && {
        tools: [
          {
            functionDeclarations: declared.map(({ name, description, inputSchema }) => ({
              name,
              description,
              parametersJsonSchema: inputSchema,
            })),
          },
        ],
      }),
      ...(declared.length > 0 && callingConfig(request)),
    },
  }
}
