/** The OpenAI Agents SDK, over the chat-completions format. */
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'
import { told, versionOf } from './told.js'

// Its traces would go to OpenAI.
setTracingDisabled(true)

function agentOf({ baseURL, apiKey, retries, headers }, tools = []) {
  const client = new OpenAI({ baseURL, apiKey, maxRetries: retries, defaultHeaders: headers })
  return new Agent({ name: 'caller', model: new OpenAIChatCompletionsModel(client, 'any'), tools })
}

const inputOf = ({ messages: [{ content }] }) => content

export function openDriver() {
  return {
    name: '@openai/agents',
    version: versionOf('@openai/agents'),
    whole: (ask) =>
      told(async (result) => {
        result.text = (await run(agentOf(ask), inputOf(ask))).finalOutput
      }),
    stream: (ask, { text = () => {} } = {}) =>
      told(async (result) => {
        const running = await run(agentOf(ask), inputOf(ask), { stream: true })
        for await (const piece of running.toTextStream()) {
          result.text += piece
          text(piece)
        }
        await running.completed
      }),
    loopBy: '`run()`',
    loop: (ask, lookup) =>
      told(async (result) => {
        const parameters = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] }
        const one = tool({
          name: 'lookup',
          description: 'Looks a word up.',
          parameters: { ...parameters, additionalProperties: false },
          strict: true,
          execute: ({ word }) => lookup(word),
        })
        result.text = (await run(agentOf(ask, [one]), inputOf(ask))).finalOutput
      }),
  }
}
