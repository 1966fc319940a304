/** A model request in the words of the chat-completions format. */
import { createHash } from 'node:crypto'
import type OpenAI from 'openai'
import type { ModelMessage, ModelRequest } from '../actors/ports.ts'
import { wireFields } from './answer-fields.ts'
import { type ChatReasoning, echoes, reasoningFields } from './chat-reasoning.ts'
import type { Dialect } from './provider-types.ts'

type Message = OpenAI.Chat.ChatCompletionMessageParam

export type ChatBody = OpenAI.Chat.ChatCompletionCreateParamsStreaming & { top_k?: number }

/** `maxToolCalls` is the generate loop's; without tools the field is left out, since `[]` is refused by many. */
export function chatBody(request: ModelRequest, dialect: Dialect): ChatBody {
  const { model, system, messages, config, tools } = request
  const { parallel_tool_calls, ...fields } = wireFields(request)
  const reasoningOf = (echo: object | undefined) => (echo && echoes.of(echo, request)) ?? {}
  return {
    model,
    stream: true,
    messages: [
      ...(system ? [{ role: 'system', content: system } as const] : []),
      ...messages.map((message) => wireMessage(message, dialect, reasoningOf)),
    ],
    ...(dialect.usageOption && { stream_options: { include_usage: true } }),
    ...(config.temperature !== undefined && { temperature: config.temperature }),
    ...(config.topP !== undefined && { top_p: config.topP }),
    ...(config.topK !== undefined && dialect.topK && { top_k: config.topK }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: 'function' as const,
        function: { name, description, parameters: inputSchema },
      })),
      // Refused without tools.
      ...(typeof parallel_tool_calls === 'boolean' && { parallel_tool_calls }),
    }),
    ...fields,
  }
}

function wireMessage(
  message: ModelMessage,
  dialect: Dialect,
  reasoningOf: (echo: object | undefined) => ChatReasoning,
): Message & ChatReasoning {
  const callId = (id: string) => (dialect.shortCallIds ? shortId(id) : id)
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.content }
    case 'tool':
      return { role: 'tool', tool_call_id: callId(message.toolCallId), content: message.content }
    case 'assistant':
      if (!message.toolCalls?.length) return { role: 'assistant', content: message.content }
      return {
        role: 'assistant',
        content: message.content || null, // as the vendors themselves send it
        ...reasoningOf(message.echo),
        tool_calls: message.toolCalls.map(({ id, name, arguments: text }) => ({
          id: callId(id),
          type: 'function',
          function: { name, arguments: text },
        })),
      }
  }
}

/** Whether reasoning goes back in it. */
export const hasReasoning = ({ messages }: ChatBody): boolean =>
  messages.some((message) => reasoningFields.some((name) => name in message))

export const withoutReasoning = (body: ChatBody): ChatBody => ({
  ...body,
  messages: body.messages.map((message) => {
    const { reasoning_content: _, reasoning: __, reasoning_details: ___, ...plain }: Message & ChatReasoning = message
    return plain
  }),
})

/** Mistral takes only nine letters and digits; a session may hold calls of another vendor. Same id, same result. */
const shortId = (id: string): string =>
  /^[a-zA-Z0-9]{9}$/.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9)
