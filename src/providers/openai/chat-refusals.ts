/**
 * Parts of a chat-completions body that no caller set and that servers may refuse, and their replacements (contract
 * section 19).
 */
import type OpenAI from 'openai'
import type { ToolSpec } from '../../actors/ports/index.ts'
import { notAvailable, toolsNamed } from '../request/exchanges.ts'
import type { OptionalField } from '../request/optional-fields.ts'
import { isLongDescription, refusesDescription, schemaFor, shortDescription } from '../request/tool-schemas.ts'
import { type ChatReasoning, HELD, reasoningFields } from './chat-reasoning.ts'

type Message = OpenAI.Chat.ChatCompletionMessageParam
type Tool = OpenAI.Chat.ChatCompletionTool

/** A message of the request. `prefix`: the mark of an answer's beginning, for vendors that require it. */
export type ChatMessage = Message & ChatReasoning & { prefix?: true; [HELD]?: ChatReasoning }

export type ChatBody = OpenAI.Chat.ChatCompletionCreateParamsStreaming & { top_k?: number }

export const toolOf = ({ name, description, inputSchema, strict }: ToolSpec) => ({
  type: 'function' as const,
  function: { name, description, parameters: schemaFor('openai', inputSchema), ...(strict && { strict }) },
})

const callsIn = (message: Message) => (message.role === 'assistant' ? (message.tool_calls ?? []) : [])

const hasCalls = ({ messages }: ChatBody): boolean => messages.some((message) => callsIn(message).length > 0)

/** Returns whether the body offers tools or contains calls. */
export const isAboutTools = (body: ChatBody): boolean => body.tools !== undefined || hasCalls(body)

const hasReasoning = (message: ChatMessage): boolean => reasoningFields.some((name) => name in message)

/**
 * Returns whether the message lacks reasoning. A final assistant message is the beginning of an answer, marked or not:
 * a field next to it is read as the beginning of its reasoning.
 */
const lacksReasoning = (message: ChatMessage, index: number, { length }: ChatBody['messages']): boolean =>
  message.role === 'assistant' && index < length - 1 && !hasReasoning(message)

/**
 * An empty reasoning. DeepSeek and Kimi require the field in every answer of a conversation with tools, and take an
 * empty text for none.
 */
const blank: ChatReasoning = { reasoning_content: ' ' }

/**
 * Adds reasoning to answers: the held reasoning of this reply, and a blank in earlier ones, whose reasoning is never
 * sent.
 */
export const withReasoning = (body: ChatBody): ChatBody => ({
  ...body,
  messages: body.messages.map((message: ChatMessage, index, all) =>
    lacksReasoning(message, index, all) ? { ...message, ...(message[HELD] ?? blank) } : message,
  ),
})

const withoutReasoning = (body: ChatBody): ChatBody => ({
  ...body,
  messages: body.messages.map((message) => {
    const { reasoning_content: _, reasoning: __, reasoning_details: ___, ...plain }: ChatMessage = message
    return plain
  }),
})

const isUnanswered = (message: Message, index: number, all: readonly Message[]): boolean =>
  message.role === 'user' && all[index - 1]?.role === 'tool'

/** The answer inserted after tool results when the user interrupts the model there. */
const answer = { role: 'assistant', content: 'I have the results.' } as const

export const withAnsweredResults = (body: ChatBody): ChatBody => ({
  ...body,
  messages: body.messages.flatMap((message, index, all) =>
    isUnanswered(message, index, all) ? [answer, message] : [message],
  ),
})

/** Declares and forbids the tools that the history mentions. */
function withMentionedTools(body: ChatBody): ChatBody {
  const calls = body.messages.flatMap(callsIn)
  const names = calls.flatMap((call) => (call.type === 'function' ? [call.function.name] : []))
  return { ...body, tools: toolsNamed(names).map(toolOf), tool_choice: 'none' }
}

const isMentioned = (tool: Tool): boolean => tool.type === 'function' && tool.function.description === notAvailable

const isLong = (tool: Tool): boolean => tool.type === 'function' && isLongDescription(tool.function.description)

const shortened = (tool: Tool): Tool =>
  tool.type === 'function' && isLong(tool)
    ? { ...tool, function: { ...tool.function, description: shortDescription(tool.function.description) } }
    : tool

/** The words of servers that do not accept a field, whatever surrounds them. */
const refusing = /not (?:permitted|allowed|supported)|unsupported|extra_|\b(?:extra|unexpected|unknown|unrecognized)\b/

/**
 * The errors for missing reasoning of DeepSeek, Kimi and those who serve their models, and of Pydantic, which names the
 * place before the error. No quotation mark except the name's comes between: a quoted value holds the model's own
 * words.
 */
const wanting = [
  /reasoning[_ ]content[\\"'`]{0,2}(?:[\])],\s?\W{1,2}msg\W{2,6})?[^"'`]{0,80}(?:missing|required|passed back)/,
  /(?:missing|requires?|must include)[^"'`]{0,20}["'`]?reasoning[_ ]content/,
]

const wantsReasoning = new RegExp(
  `^(?!.*(?:${refusing.source})).*(?:${wanting.map(({ source }) => source).join('|')})`,
  'is',
)

export const optional: readonly OptionalField<ChatBody>[] = [
  {
    words: /stream_options|include_usage/,
    isIn: ({ stream_options }) => stream_options !== undefined,
    without: ({ stream_options: _, ...body }) => body,
  },
  {
    // OpenAI's newest models accept tools with an effort, even their default one, on the Responses API alone. An effort
    // that the request or the agent names is never replaced: the provider's error is the answer.
    words: /\btools?\b[^.]*reasoning[_ ]effort|reasoning[_ ]effort[^.]*\btools?\b/i,
    isIn: ({ tools, reasoning_effort }) => tools !== undefined && reasoning_effort === undefined,
    without: (body) => ({ ...body, reasoning_effort: 'none' }),
  },
  {
    // Mistral's models, wherever they are served.
    words: /role\W{1,4}user\W{1,4}after role\W{1,4}tool\b/i,
    isIn: ({ messages }) => messages.some(isUnanswered),
    without: withAnsweredResults,
  },
  {
    // LiteLLM before Claude and Bedrock, and both of them through other gateways.
    words: /tool calling without\W+tools=|toolConfig field must be defined|must define tools/i,
    isIn: (body) => body.tools === undefined && hasCalls(body),
    without: withMentionedTools,
  },
  {
    // Bedrock cannot forbid calls: one that is made all the same is not run.
    words: /tool_choice/,
    isIn: ({ tools = [], tool_choice }) => tool_choice === 'none' && tools.every(isMentioned),
    without: ({ tool_choice: _, ...body }) => body,
  },
  {
    words: refusesDescription,
    isIn: ({ tools = [] }) => tools.some(isLong),
    without: ({ tools = [], ...body }) => ({ ...body, tools: tools.map(shortened) }),
  },
  {
    // No chat without tools is known to require it.
    words: wantsReasoning,
    isIn: (body) => isAboutTools(body) && body.messages.some(lacksReasoning),
    without: withReasoning,
  },
  {
    // After the rule above: a sentence that only resembles a demand is recognised when meeting it did not help.
    words: /reasoning/i,
    isIn: ({ messages }) => messages.some(hasReasoning),
    without: withoutReasoning,
  },
]
