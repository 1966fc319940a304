import { operations } from '../../operation.ts'
import { ChatCompletion, ChatCompletionRequest, completionEvents } from '../../schemas/conversation/chat.ts'
import { overLimit } from '../../schemas/limits.ts'

export const completions = operations({
  createChatCompletion: {
    method: 'post',
    path: '/api/v1/agents/{agent_id}/deploy/chat/completions',
    scope: 'deploy',
    summary: 'Ask the agent, sending the whole conversation',
    description:
      "Nothing is stored. The agent's system prompt is prepended. With `stream`, frames hold `ChatCompletionChunk` and end with `[DONE]`, or with `StreamError`; they have no ids. The generation stops when the client disconnects.",
    takesParts: true,
    body: ChatCompletionRequest,
    streams: 'also',
    events: completionEvents,
    responses: { 200: ChatCompletion },
    errors: {
      404: 'There is no such agent.',
      429: overLimit,
      500: 'The generation failed; `x-should-retry: false`.',
      503: 'Draining, or too many running replies; see `Retry-After`.',
    },
  },
})
