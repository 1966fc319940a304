/** `OpenAIConversationsSession` of the OpenAI Agents SDK, as its users have it. */
import { Agent, OpenAIConversationsSession, OpenAIResponsesModel, run, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'

// Its traces would go to OpenAI.
setTracingDisabled(true)

export function openDriver() {
  return {
    open({ baseURL, apiKey }, lookup) {
      const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 })
      const session = new OpenAIConversationsSession({ client })
      const parameters = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] }
      const one = tool({
        name: 'lookup',
        description: 'Looks a word up.',
        parameters: { ...parameters, additionalProperties: false },
        strict: true,
        execute: ({ word }) => lookup(word),
      })
      const model = new OpenAIResponsesModel(client, 'any')
      const agent = new Agent({ name: 'caller', instructions: 'Be brief.', model, tools: [one] })
      return {
        turn: async (text) => (await run(agent, text, { session })).finalOutput,
        id: () => session.getSessionId(),
        items: () => session.getItems(),
        add: (items) => session.addItems(items),
        pop: () => session.popItem(),
        clear: () => session.clearSession(),
      }
    },
  }
}
