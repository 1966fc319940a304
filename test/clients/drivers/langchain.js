/** LangChain.js. */
import { AIMessage, HumanMessage, SystemMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent } from 'langchain'
import { told, versionOf } from './told.js'

const parameters = { type: 'object', properties: { word: { type: 'string' } } }
const lookup = { type: 'function', function: { name: 'lookup', description: 'Looks a word up.', parameters } }

const kinds = { system: SystemMessage, user: HumanMessage, assistant: AIMessage }
const partOf = (part) => (part.type === 'image' ? { type: 'image_url', image_url: { url: part.url } } : part)
const messagesOf = ({ messages }) =>
  messages.map(({ role, content }) => new kinds[role](Array.isArray(content) ? content.map(partOf) : content))

function modelOf({ baseURL, apiKey, retries, headers, tools }) {
  const configuration = { baseURL, defaultHeaders: headers }
  const model = new ChatOpenAI({ model: 'any', apiKey, maxRetries: retries, configuration })
  return tools ? model.bindTools([lookup]) : model
}

function take(result, message) {
  result.text = message.text
  result.finish = message.response_metadata.finish_reason ?? null
  result.toolCalls = message.tool_calls?.length ?? 0
  const usage = message.usage_metadata
  result.usage = usage ? { input: usage.input_tokens, output: usage.output_tokens } : null
}

export function openDriver() {
  return {
    name: '@langchain/openai',
    version: versionOf('@langchain/openai'),
    helperName: '`chunk.concat()`',
    usageBy: 'by itself',
    aborts: true,
    whole: (ask, { signal } = {}) =>
      told(async (result) => take(result, await modelOf(ask).invoke(messagesOf(ask), { signal }))),
    stream: (ask, { text = () => {}, signal } = {}) =>
      told(async (result) => {
        let all
        for await (const chunk of await modelOf(ask).stream(messagesOf(ask), { signal })) {
          all = all ? all.concat(chunk) : chunk
          take(result, all)
          if (chunk.text !== '') text(chunk.text)
        }
      }),
    structuredBy: '`withStructuredOutput()`',
    structured: (ask, schema) =>
      told(async (result) => {
        const model = modelOf(ask).withStructuredOutput(schema, { name: 'place', method: 'jsonSchema' })
        result.text = JSON.stringify(await model.invoke(messagesOf(ask)))
      }),
    loopBy: '`createAgent()` of langchain',
    loop: (ask, look) =>
      told(async (result) => {
        const tools = [tool(({ word }) => look(word), { ...lookup.function, schema: parameters })]
        const answer = await createAgent({ model: modelOf(ask), tools }).invoke({ messages: messagesOf(ask) })
        result.text = answer.messages.at(-1).text
      }),
    helper: (ask) =>
      told(async (result) => {
        let all
        for await (const chunk of await modelOf(ask).stream(messagesOf(ask))) all = all ? all.concat(chunk) : chunk
        take(result, all)
      }),
  }
}
