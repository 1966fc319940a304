/**
 * Clients whose default is the Responses API, as their users write them: nothing is set but base URL and key. Each keeps
 * the conversation as it does by itself. `turn` sends a message behind what was said before and resolves to the answer.
 */
import { createOpenAI } from '@ai-sdk/openai'
import { HumanMessage } from '@langchain/core/messages'
import { tool as chainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { Agent, tool as agentTool, OpenAIProvider, Runner, setTracingDisabled } from '@openai/agents'
import { tool as aiTool, generateText, isStepCount, jsonSchema, streamText } from 'ai'
import { createAgent } from 'langchain'
import OpenAI from 'openai'
import { versionOf } from './told.js'

// Its traces would go to OpenAI.
setTracingDisabled(true)

const description = 'Looks a word up.'
const parameters = {
  type: 'object',
  properties: { word: { type: 'string' } },
  required: ['word'],
  additionalProperties: false,
}

/** The `openai` package keeps nothing: its users name the response before. */
function openai({ baseURL, apiKey }) {
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 })
  let previous
  const body = (input, lookup) => ({
    model: 'any',
    input,
    ...(previous && { previous_response_id: previous }),
    ...(lookup && { tools: [{ type: 'function', name: 'lookup', description, parameters, strict: true }] }),
  })
  return {
    async turn(text, { stream, lookup, onText = () => {} }) {
      let input = text
      for (;;) {
        const asked = body(input, lookup)
        let response
        if (stream) {
          const events = client.responses.stream(asked)
          events.on('response.output_text.delta', ({ delta }) => onText(delta))
          response = await events.finalResponse()
        } else response = await client.responses.create(asked)
        previous = response.id
        const calls = response.output.filter(({ type }) => type === 'function_call')
        if (calls.length === 0) return response.output_text
        input = calls.map((call) => ({
          type: 'function_call_output',
          call_id: call.call_id,
          output: lookup(JSON.parse(call.arguments).word),
        }))
      }
    },
    async inBackground(text) {
      const { id } = await client.responses.create({ model: 'any', input: text, background: true })
      const numbers = []
      for await (const event of await client.responses.retrieve(id, { stream: true })) {
        numbers.push(event.sequence_number)
        if (event.type === 'response.output_text.delta') break
      }
      const rest = await client.responses.retrieve(id, { stream: true, starting_after: numbers.at(-1) })
      for await (const event of rest) numbers.push(event.sequence_number)
      return { text: (await client.responses.retrieve(id)).output_text, numbers }
    },
    async approving(text) {
      const asking = await client.responses.create({ model: 'any', input: text, include_actions: true })
      const asked = asking.output.find(({ type }) => type === 'mcp_approval_request')
      const answered = await client.responses.create({
        model: 'any',
        previous_response_id: asking.id,
        input: [{ type: 'mcp_approval_response', approval_request_id: asked.id, approve: true }],
      })
      return { tool: asked.name, text: answered.output_text }
    },
  }
}

function agents({ baseURL, apiKey }) {
  const openAIClient = new OpenAI({ baseURL, apiKey, maxRetries: 0 })
  const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient }), tracingDisabled: true })
  let history = []
  return {
    async turn(text, { stream, lookup, onText = () => {} }) {
      const execute = ({ word }) => lookup(word)
      const tools = lookup ? [agentTool({ name: 'lookup', description, parameters, strict: true, execute })] : []
      const agent = new Agent({ name: 'caller', model: 'any', tools })
      const result = await runner.run(agent, [...history, { role: 'user', content: text }], { stream })
      if (stream) {
        for await (const piece of result.toTextStream()) onText(piece)
        await result.completed
      }
      history = result.history
      return result.finalOutput
    },
  }
}

function ai({ baseURL, apiKey }) {
  const model = createOpenAI({ baseURL, apiKey })('any')
  let messages = []
  return {
    async turn(text, { stream, lookup, onText = () => {} }) {
      messages = [...messages, { role: 'user', content: text }]
      const execute = async ({ word }) => lookup(word)
      const tools = lookup && { lookup: aiTool({ description, inputSchema: jsonSchema(parameters), execute }) }
      const options = { model, messages, maxRetries: 0, stopWhen: isStepCount(5), ...(tools && { tools }) }
      if (stream) {
        const failures = []
        const result = streamText({ ...options, onError: ({ error }) => void failures.push(error) })
        for await (const piece of result.textStream) onText(piece)
        for (const failure of failures) throw failure
        messages = [...messages, ...(await result.responseMessages)]
        return await result.text
      }
      const result = await generateText(options)
      messages = [...messages, ...result.responseMessages]
      return result.text
    },
  }
}

function langchain({ baseURL, apiKey }) {
  const model = new ChatOpenAI({
    model: 'any',
    apiKey,
    maxRetries: 0,
    useResponsesApi: true,
    configuration: { baseURL },
  })
  let messages = []
  return {
    async turn(text, { stream, lookup, onText = () => {} }) {
      messages = [...messages, new HumanMessage(text)]
      if (lookup) {
        const tools = [chainTool(async ({ word }) => lookup(word), { name: 'lookup', description, schema: parameters })]
        const result = await createAgent({ model, tools }).invoke({ messages })
        messages = result.messages
      } else if (stream) {
        let whole
        for await (const chunk of await model.stream(messages)) {
          if (chunk.text !== '') onText(chunk.text)
          whole = whole === undefined ? chunk : whole.concat(chunk)
        }
        messages = [...messages, whole]
      } else messages = [...messages, await model.invoke(messages)]
      return messages.at(-1).text
    },
  }
}

/**
 * `keeps`: how its users keep a conversation; `loopBy`: who makes the calls of the caller's tools; `background` and
 * `approves`: how its users do that, null where the client has no way of its own.
 */
export const openDriver = () => [
  {
    name: 'openai',
    version: versionOf('openai'),
    set: '`new OpenAI({ baseURL, apiKey })`',
    keeps: '`previous_response_id`',
    loopBy: 'the caller sends `function_call_output`',
    background: '`background: true`, then `retrieve(id, { stream: true, starting_after })`',
    approves: '`include_actions: true`, then `mcp_approval_response`',
    talk: openai,
  },
  {
    name: '@openai/agents',
    version: versionOf('@openai/agents'),
    set: '`new Runner({ modelProvider: new OpenAIProvider({ openAIClient }) })`',
    keeps: 'sends everything each time',
    loopBy: '`run()`',
    background: null,
    approves: null,
    talk: agents,
  },
  {
    name: 'ai + @ai-sdk/openai',
    version: `${versionOf('ai')} + ${versionOf('@ai-sdk/openai')}`,
    set: '`createOpenAI({ baseURL, apiKey })(model)`',
    keeps: 'sends everything each time',
    loopBy: '`stopWhen`',
    background: null,
    approves: null,
    talk: ai,
  },
  {
    name: '@langchain/openai',
    version: versionOf('@langchain/openai'),
    set: '`new ChatOpenAI({ useResponsesApi: true, configuration: { baseURL } })`',
    keeps: 'sends everything each time',
    loopBy: '`createAgent()` of langchain',
    background: null,
    approves: null,
    talk: langchain,
  },
]
