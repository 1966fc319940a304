/** A model request in the format of Anthropic's Messages API. */

import type { GenerationConfig, MessagePart, ModelRequest, ToolCall } from '../../actors/ports/index.ts'
import { wireFields } from '../answer-fields.ts'
import { anthropicThinking } from '../reasoning.ts'
import { argumentsOf, echoedArguments, exchangesOf, toolsMentionedIn, type Wire } from '../request/exchanges.ts'
import { bytesOf, textOf } from '../request/outgoing-parts.ts'
import { schemaFor } from '../request/tool-schemas.ts'
import { anthropicToolChoice, isForced } from '../tool-choice.ts'
import { createEchoes } from '../wire/echoes.ts'

type Cached = { cache_control?: { type: 'ephemeral' } }
type Image = {
  type: 'image'
  source: { type: 'base64'; media_type: (typeof pictureTypes)[number]; data: string }
} & Cached
type Document = {
  type: 'document'
  source:
    | { type: 'base64'; media_type: 'application/pdf'; data: string }
    | { type: 'text'; media_type: 'text/plain'; data: string }
  title?: string
} & Cached

type Shown = ({ type: 'text'; text: string } & Cached) | Image | Document

export type Block =
  | Shown
  | { type: 'tool_use'; id: string; name: string; input: object }
  | ({ type: 'tool_result'; tool_use_id: string; content?: string | Shown[] } & Cached)
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }

/**
 * The request's body. Fields that `wireFields` adds are not listed. Older models accept sampling parameters, under the
 * API's older version.
 */
export interface AnthropicBody {
  model: string
  max_tokens: number
  stream: true
  messages: { role: 'user' | 'assistant'; content: Block[] }[]
  system?: ({ type: 'text'; text: string } & Cached)[]
  temperature?: number
  top_p?: number
  top_k?: number
  thinking?: NonNullable<ReturnType<typeof anthropicThinking>>
  tools?: ({ name: string; description: string; input_schema: { type: 'object' } } & Cached)[]
  tool_choice?: { type: 'none' | 'auto' | 'any' } | { type: 'tool'; name: string }
}

/**
 * Returns the required `max_tokens`: the longest answer of the model's family, thinking included, so that the model
 * itself ends a reply. 4,096 for Claude 3, 8,192 for 3.5, 32,000 for Opus 4 and 4.1, 128,000 from Opus 4.6 and Claude 5
 * on, 64,000 for all others.
 */
function maxTokensOf(model: string): number {
  if (/claude-3-5/.test(model)) return 8192
  if (/claude-3-(?!7)/.test(model)) return 4096
  if (/claude-opus-4(?:-[01])?(?:-\d{8}|-latest|@|$)/.test(model)) return 32_000
  return /claude-(?:opus-4-[6-9]|[a-z]+-(?:[5-9]|\d\d)(?!\d))/.test(model) ? 128_000 : 64_000
}

/**
 * Matches Claude 3 to 4.6, the models that accept `temperature`, `top_p` and `top_k`. Later ones answer 400 to any of
 * them.
 */
const takesSampling = (model: string): boolean =>
  /claude-3-|claude-(?:opus|sonnet|haiku)-4(?:-[0-6])?(?:-\d{8}|-latest|@|$)/.test(model)

/**
 * Returns the API's version. 2026-10-21 has no sampling parameters: where an agent sets them and the model accepts
 * them, the version before is used.
 */
export const versionFor = ({ model, config }: Pick<ModelRequest, 'model' | 'config'>): string =>
  Object.keys(sampling(model, config)).length > 0 ? '2023-06-01' : '2026-10-21'

/**
 * Returns the sampling parameters. Claude 4.1 to 4.6 refuse `top_p` next to `temperature`. Values are sent as the agent
 * has them: a temperature above 1 is refused in the provider's words.
 */
function sampling(model: string, { temperature, topP, topK }: GenerationConfig) {
  if (!takesSampling(model)) return {}
  const takesBoth = /claude-3-|claude-(?:opus|sonnet)-4(?:-0)?(?:-\d{8}|-latest|@|$)/.test(model)
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && (temperature === undefined || takesBoth) && { top_p: topP }),
    ...(topK !== undefined && { top_k: topK }),
  }
}

/** The cache mark. Prefixes up to it are kept for five minutes and cost a tenth when they come again. */
const cached = { cache_control: { type: 'ephemeral' } } as const

/** The original blocks of turns: signed thinking must come back unchanged, and in its place. */
export const echoes = createEchoes<readonly Block[]>('anthropic')

const wireFor = (request: ModelRequest): Wire<Block> => ({
  type: 'anthropic',
  text: (text) => ({ type: 'text', text }),
  part: (part) => (part.type === 'image_url' ? imageBlock(part) : documentBlock(part)),
  call: (call) => ({ type: 'tool_use', id: call.id, name: call.name, input: argumentsOf(call) }),
  // An empty result is left out: blank text blocks are refused.
  result: (call, content, blocks) => ({
    type: 'tool_result',
    tool_use_id: call.id,
    ...(blocks === null ? content.trim() !== '' && { content } : { content: blocks.filter(isShown) }),
  }),
  partsInResults: true,
  echoed: (echo, calls) => withCalls(echoes.of(echo, request), calls),
  resultsApart: false,
})

/** Gives calls the names and ids that their results have: the API may not accept back a name that a model made up. */
function withCalls(blocks: readonly Block[] | null, calls: readonly ToolCall[]): readonly Block[] | null {
  let next = 0
  const withCall = (block: Block): Block => {
    if (block.type !== 'tool_use') return block
    const call = calls[next++]
    return call === undefined
      ? block
      : { ...block, id: call.id, name: call.name, input: echoedArguments(block.input, call) }
  }
  return blocks?.map(withCall) ?? null
}

const isShown = (block: Block): block is Shown =>
  block.type === 'text' || block.type === 'image' || block.type === 'document'

const imageBlock = (part: MessagePart): Image => {
  const media_type = pictureTypes.find((type) => type === part.mediaType)
  if (media_type === undefined) throw new Error(`${part.mediaType} is no picture that is taken.`)
  return { type: 'image', source: { type: 'base64', media_type, data: bytesOf(part) } }
}

const pictureTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const

const documentBlock = (part: MessagePart): Document => ({
  type: 'document',
  source:
    part.mediaType === 'application/pdf'
      ? { type: 'base64', media_type: 'application/pdf', data: bytesOf(part) }
      : { type: 'text', media_type: 'text/plain', data: textOf(part) },
  ...(part.filename !== null && { title: part.filename }),
})

/**
 * Returns the thinking setting. Null when reasoning is off. Within a budget, pending calls must begin with the
 * reasoning that led to them, or the request is refused. A forced call has none.
 */
export function thinkingOf(request: ModelRequest): ReturnType<typeof anthropicThinking> {
  if (isForced(request)) return null
  const thinking = anthropicThinking(request)
  if (thinking?.type !== 'enabled') return thinking
  const last = request.messages.findLast(({ role }) => role === 'assistant')
  if (last?.role !== 'assistant' || !last.toolCalls?.length) return thinking
  const [first] = (last.echo && echoes.of(last.echo, request)) ?? []
  return first?.type === 'thinking' || first?.type === 'redacted_thinking' ? thinking : null
}

export function anthropicBody(request: ModelRequest): AnthropicBody {
  const { model, system, messages, config, tools } = request
  const { tool_choice: choice, ...fields } = wireFields(request)
  const thinking = thinkingOf(request)
  const exchanges = exchangesOf(messages, wireFor(request))
  const newest = exchanges.at(-1)
  // The newest message is the longest prefix that the next turn will repeat.
  if (newest?.role === 'user') newest.blocks = newest.blocks.map(markLast)
  const declared = tools.length > 0 ? tools : toolsMentionedIn(messages)
  const hasSystem = system !== null && system.trim() !== ''
  return {
    model,
    max_tokens: maxTokensOf(model),
    stream: true,
    messages: exchanges.map(({ role, blocks }) => ({ role: role === 'user' ? 'user' : 'assistant', content: blocks })),
    // Tools stand before the system prompt in a prefix: one mark covers both.
    ...(hasSystem && { system: [{ type: 'text', text: system, ...cached }] }),
    ...sampling(model, config),
    ...(thinking !== null && { thinking }),
    ...(declared.length > 0 && {
      tools: declared.map(({ name, description, inputSchema }, index) => ({
        name,
        description,
        input_schema: { ...schemaFor('anthropic', inputSchema), type: 'object' as const },
        ...(!hasSystem && index === declared.length - 1 && cached),
      })),
    }),
    ...(declared.length > 0 && tools.length === 0 && { tool_choice: { type: 'none' } as const }),
    ...(tools.length > 0 && choiceOf(request, choice)),
    ...fields,
  }
}

/** Returns the tool choice, or nothing for the API's own. `choice`: the choice of other fields. */
function choiceOf(request: ModelRequest, choice: unknown): Pick<AnthropicBody, 'tool_choice'> {
  const asked = anthropicToolChoice(request)
  if (asked === undefined) return choice === undefined ? {} : { tool_choice: { type: 'auto', ...Object(choice) } }
  return { tool_choice: asked.type === 'none' ? asked : { ...asked, ...Object(choice) } }
}

const markLast = (block: Block, index: number, all: readonly Block[]): Block =>
  index === all.length - 1 && isMarkable(block) ? { ...block, ...cached } : block

/** Returns whether a block can carry a cache mark. Reasoning cannot. */
const isMarkable = (block: Block) =>
  block.type === 'text' || block.type === 'tool_result' || block.type === 'image' || block.type === 'document'
