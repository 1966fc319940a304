/**
 * The Responses adapter: one turn as a stream of events, and a model request in the format of OpenAI's Responses API.
 */
import type OpenAI from 'openai'
import type {
  MessagePart,
  ModelEvent,
  ModelMessage,
  ModelRequest,
  Segment,
  Take,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from '../../actors/ports/index.ts'
import { wireFields } from '../answer-fields.ts'
import { idWithin, withUniqueCallIds } from '../request/call-ids.ts'
import type { ProviderAnswer } from '../request/fetch.ts'
import { callWithout, type OptionalField, type RefusedFields } from '../request/optional-fields.ts'
import { bytesOf, segmentsFor, textOf, withToolPictures } from '../request/outgoing-parts.ts'
import { isLongDescription, refusesDescription, schemaFor, shortDescription } from '../request/tool-schemas.ts'
import { responsesToolChoice } from '../tool-choice.ts'
import { saidBehind } from '../wire/echoes.ts'
import { repeating } from '../wire/repeated.ts'
import { readingThinkTags } from '../wire/think-tags.ts'
import { streamTurn } from '../wire/turn-stream.ts'
import { isReasoningModel, refusesSampling } from './openai-models.ts'
import { type EchoedItem, echoes, messageText } from './responses-items.ts'
import { readResponsesTurn } from './responses-turn.ts'

/** Streams a turn. Rejects with ProviderProblem. */
export function streamResponses(
  send: (body: ResponsesBody, signal: AbortSignal) => Promise<ProviderAnswer>,
  request: ModelRequest,
  refusals: RefusedFields,
  signal: AbortSignal,
  take: Take<ModelEvent>,
): Promise<void> {
  // The first two events and the last one repeat the request's prompt, tools and format.
  const repeated = repeating(() => [request.system, request.tools, request.fields])
  const turn = readResponsesTurn({
    reasoning: request.reasoning,
    repeated,
    keepEcho: (items) => echoes.keep(request, items),
  })
  return streamTurn(
    readingThinkTags(turn, request.reasoning),
    (own) => callWithout(request, responsesBody(request), optional, refusals, (body) => send(body, own)),
    signal,
    take,
    repeated,
  )
}

type Item = OpenAI.Responses.ResponseInputItem
type Content = OpenAI.Responses.ResponseInputContent

export type ResponsesBody = OpenAI.Responses.ResponseCreateParamsStreaming & { input: Item[] }

/** The longest id of a call that the API accepts. */
const MAX_CALL_ID = 64

const ENCRYPTED = 'reasoning.encrypted_content'

function responsesBody(request: ModelRequest): ResponsesBody {
  const { model, system, messages, config, tools } = request
  const { parallel_tool_calls, reasoning, ...fields } = wireFields(request)
  const choice = responsesToolChoice(request)
  const thinks = isReasoningModel(model)
  const thought = { ...Object(reasoning), ...(showsReasoning(request) && { summary: 'auto' as const }) }
  const samples = !refusesSampling(model)
  return {
    model,
    stream: true,
    store: false, // conversations are stored here, and sent each time
    ...(system && { instructions: system }),
    input: withUniqueCallIds(withToolPictures(request.provider.type, messages, true), (id) =>
      idWithin(MAX_CALL_ID, id),
    ).flatMap((message) => itemsOf(message, request)),
    ...(samples && config.temperature !== undefined && { temperature: config.temperature }),
    ...(samples && config.topP !== undefined && { top_p: config.topP }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema, strict = false }) => ({
        type: 'function' as const,
        ...{ name, description, parameters: schemaFor('openai', inputSchema), strict },
      })),
      ...(choice !== undefined && { tool_choice: choice }),
      ...(typeof parallel_tool_calls === 'boolean' && { parallel_tool_calls }),
    }),
    ...(thinks && { include: [ENCRYPTED] }),
    ...(Object.keys(thought).length > 0 && { reasoning: thought }),
    ...fields,
  }
}

/** Returns whether to request summaries: no setting of the agent or the request may have to give way to them. */
function showsReasoning({ model, reasoning, config, fields }: ModelRequest): boolean {
  if (!reasoning || !isReasoningModel(model)) return false
  const { temperature, topP, topK } = config
  const limited = fields?.maxTokens !== undefined || fields?.reasoningEffort === 'none'
  return temperature === undefined && topP === undefined && topK === undefined && !limited
}

function itemsOf(message: ModelMessage, request: ModelRequest): Item[] {
  switch (message.role) {
    case 'user':
      return [{ type: 'message', role: 'user', content: userContent(request.provider.type, message) }]
    case 'tool':
      return [
        {
          type: 'function_call_output',
          call_id: message.toolCallId,
          output: outputOf(message),
        },
      ]
    case 'assistant': {
      const { content, toolCalls = [], echo } = message
      const echoed = echo ? echoes.of(echo, request) : null
      if (echo && echoed && countCalls(echoed) === toolCalls.length) {
        const behind = saidBehind(echo).map(({ role, content }): Item => ({ type: 'message', role, content }))
        return [...behind, ...withCalls(echoed, toolCalls)]
      }
      const text: Item[] =
        content === '' && toolCalls.length > 0 ? [] : [{ type: 'message', role: 'assistant', content }]
      return [...text, ...toolCalls.map((call) => callItem(call))]
    }
  }
}

/** Returns an output: a list where it holds more than text. */
const outputOf = (message: ToolResultMessage): string | Content[] => message.segments?.map(contentOf) ?? message.content

const countCalls = (items: readonly EchoedItem[]): number =>
  items.filter((item) => item.type === 'function_call').length

/**
 * Returns the original items of a turn, in order: a reasoning item without the one that followed it is refused, and so
 * is a call under its own id without the reasoning that led to it. Calls carry the ids that their results have.
 */
function withCalls(items: readonly EchoedItem[], calls: readonly ToolCall[]): Item[] {
  const left = [...calls]
  return items.map((item): Item => {
    if (item.type !== 'function_call') return item
    const call = left.shift() ?? { ...item, id: item.call_id }
    return { ...callItem(call), ...(item.id !== undefined && { id: item.id }) }
  })
}

const callItem = ({ id, name, arguments: text }: ToolCall): OpenAI.Responses.ResponseFunctionToolCall => ({
  type: 'function_call',
  call_id: id,
  name,
  arguments: text,
})

function userContent(type: string, message: UserMessage): string | Content[] {
  if (!message.segments) return message.content
  return segmentsFor(type, message).map(contentOf)
}

const contentOf = (segment: Segment): Content =>
  typeof segment === 'string' ? { type: 'input_text', text: segment } : partContent(segment)

/** Writes a part. The API has no text files, so they are sent as text. */
function partContent(part: MessagePart): Content {
  const { mediaType, filename, detail } = part
  if (mediaType.startsWith('text/')) {
    const name = filename === null ? mediaType : `${filename} (${mediaType})`
    return { type: 'input_text', text: `The file ${name}:\n\n${textOf(part)}` }
  }
  const url = `data:${mediaType};base64,${bytesOf(part)}`
  if (part.type === 'image_url') return { type: 'input_image', image_url: url, detail: detailOf(detail) }
  return { type: 'input_file', filename: filename ?? 'file.pdf', file_data: url }
}

const detailOf = (detail: string | null) => (detail === 'low' || detail === 'high' ? detail : 'auto')

/** Returns whether encrypted reasoning is requested or sent back. */
const hasEncrypted = ({ include, input }: ResponsesBody): boolean =>
  include !== undefined || input.some(({ type }) => type === 'reasoning')

function withoutEncrypted({ include: _, input, ...body }: ResponsesBody): ResponsesBody {
  const plain = input.flatMap((item): Item[] => {
    if (item.type === 'reasoning') return []
    if (item.type === 'function_call') return [callItem({ ...item, id: item.call_id })]
    // Only items from the vendor have an id.
    if (item.type === 'message' && 'id' in item) {
      return [{ type: 'message', role: 'assistant', content: messageText({ ...item }) }]
    }
    return [item]
  })
  return { ...body, input: plain }
}

const hasSummary = ({ reasoning }: ResponsesBody): boolean => reasoning?.summary !== undefined

function withoutSummary({ reasoning, ...body }: ResponsesBody): ResponsesBody {
  const { summary: _, ...rest } = reasoning ?? {}
  return { ...body, ...(Object.keys(rest).length > 0 && { reasoning: rest }) }
}

type Tool = OpenAI.Responses.Tool

const isLong = (tool: Tool): boolean => tool.type === 'function' && isLongDescription(tool.description)

const shortened = (tool: Tool): Tool =>
  tool.type === 'function' && isLong(tool) ? { ...tool, description: shortDescription(tool.description) } : tool

/** Parts of a body that no caller set and that a server may refuse. */
const optional: readonly OptionalField<ResponsesBody>[] = [
  { words: /summar/i, isIn: hasSummary, without: withoutSummary },
  { words: /encrypted|\binclude\b/i, isIn: hasEncrypted, without: withoutEncrypted },
  {
    words: refusesDescription,
    isIn: ({ tools = [] }) => tools.some(isLong),
    without: ({ tools = [], ...body }) => ({ ...body, tools: tools.map(shortened) }),
  },
]
