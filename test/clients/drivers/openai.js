/** The official client, of three majors: `openai-6` is openai 6 under a name of its own. */
import { told, versionOf } from './told.js'

const parameters = { type: 'object', properties: { word: { type: 'string' } } }
const lookup = { type: 'function', function: { name: 'lookup', description: 'Looks a word up.', parameters } }

const partOf = (part) => (part.type === 'image' ? { type: 'image_url', image_url: { url: part.url } } : part)
const usageOf = (usage) => usage && { input: usage.prompt_tokens, output: usage.completion_tokens }

const bodyOf = ({ messages, usage, tools }, stream) => ({
  model: 'any',
  messages: messages.map(({ role, content }) => ({
    role,
    content: Array.isArray(content) ? content.map(partOf) : content,
  })),
  ...(stream && usage ? { stream_options: { include_usage: true } } : {}),
  ...(tools ? { tools: [lookup] } : {}),
})

export async function openDriver(name) {
  const { default: OpenAI } = await import(name)
  const clientOf = ({ baseURL, apiKey, retries, headers }) =>
    new OpenAI({ baseURL, apiKey, maxRetries: retries, defaultHeaders: headers })

  const takeWhole = (result, completion) => {
    const [choice] = completion.choices
    result.text = choice.message.content ?? ''
    result.finish = choice.finish_reason
    result.toolCalls = choice.message.tool_calls?.length ?? 0
    result.usage = usageOf(completion.usage) ?? null
  }
  return {
    name: 'openai',
    version: versionOf(name),
    helperName: '`chat.completions.stream()`',
    usageBy: '`stream_options`',
    aborts: true,
    whole: (ask, { signal } = {}) =>
      told(async (result) =>
        takeWhole(result, await clientOf(ask).chat.completions.create(bodyOf(ask, false), { signal })),
      ),
    stream: (ask, { text = () => {}, signal } = {}) =>
      told(async (result) => {
        const body = { ...bodyOf(ask, true), stream: true }
        for await (const chunk of await clientOf(ask).chat.completions.create(body, { signal })) {
          const [choice] = chunk.choices
          const piece = choice?.delta.content ?? ''
          result.text += piece
          if (piece !== '') text(piece)
          result.finish = choice?.finish_reason ?? result.finish
          result.toolCalls += choice?.delta.tool_calls?.length ?? 0
          result.usage = usageOf(chunk.usage) ?? result.usage
        }
      }),
    structuredBy: '`response_format`',
    structured: (ask, schema) =>
      told(async (result) => {
        const response_format = { type: 'json_schema', json_schema: { name: 'place', strict: true, schema } }
        takeWhole(result, await clientOf(ask).chat.completions.parse({ ...bodyOf(ask, false), response_format }))
      }),
    loopBy: '`runTools()`',
    loop: (ask, lookup) =>
      told(async (result) => {
        const { messages } = bodyOf(ask, false)
        const run = { parse: JSON.parse, parameters, description: 'Looks a word up.', name: 'lookup' }
        const tools = [{ type: 'function', function: { ...run, function: ({ word }) => lookup(word) } }]
        result.text = await clientOf(ask).chat.completions.runTools({ model: 'any', messages, tools }).finalContent()
      }),
    helper: (ask) =>
      told(async (result) =>
        takeWhole(result, await clientOf(ask).chat.completions.stream(bodyOf(ask, true)).finalChatCompletion()),
      ),
  }
}
