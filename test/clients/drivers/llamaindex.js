/** LlamaIndex.TS. */
import { OpenAI } from '@llamaindex/openai'
import { told, versionOf } from './told.js'

const lookup = {
  metadata: {
    name: 'lookup',
    description: 'Looks a word up.',
    parameters: { type: 'object', properties: { word: { type: 'string' } } },
  },
}

const partOf = (part) => (part.type === 'image' ? { type: 'image_url', image_url: { url: part.url } } : part)
const usageOf = (usage) => usage && { input: usage.prompt_tokens, output: usage.completion_tokens }

const modelOf = ({ baseURL, apiKey, retries, headers, usage }) =>
  new OpenAI({
    model: 'any',
    apiKey,
    baseURL,
    maxRetries: retries,
    additionalSessionOptions: { defaultHeaders: headers },
    ...(usage ? { additionalChatOptions: { stream_options: { include_usage: true } } } : {}),
  })

const chatOf = ({ messages, tools }) => ({
  messages: messages.map(({ role, content }) => ({
    role,
    content: Array.isArray(content) ? content.map(partOf) : content,
  })),
  ...(tools ? { tools: [lookup] } : {}),
})

export function openDriver() {
  return {
    name: '@llamaindex/openai',
    version: versionOf('@llamaindex/openai'),
    helperName: null,
    usageBy: '`additionalChatOptions`',
    aborts: false,
    whole: (ask) =>
      told(async (result) => {
        const { message, raw } = await modelOf(ask).chat(chatOf(ask))
        result.text = message.content
        result.toolCalls = message.options?.toolCall?.length ?? 0
        result.finish = raw.choices[0].finish_reason
        result.usage = usageOf(raw.usage)
      }),
    stream: (ask, { text = () => {}, signal } = {}) =>
      told(async (result) => {
        for await (const { delta, raw, options } of await modelOf(ask).chat({ ...chatOf(ask), stream: true })) {
          result.text += delta
          result.toolCalls += options?.toolCall?.length ?? 0
          result.finish = raw?.choices[0]?.finish_reason ?? result.finish
          result.usage = usageOf(raw?.usage) ?? result.usage
          if (delta !== '') text(delta)
          // It takes no signal, and does not pass on that its caller left the loop.
          if (signal?.aborted) break
        }
      }),
    helper: () => Promise.reject(new Error('It has none.')),
  }
}
