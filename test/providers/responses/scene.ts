/** What the tests of the Responses API share: an upstream that speaks it, and requests for it. */
import type { ModelEvent, ModelMessage, ModelRequest } from '../../../src/actors/ports/index.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { connectionTo, requestTo } from '../scene.ts'

export const usage = { input_tokens: 7, output_tokens: 5 }
export const used = { promptTokens: 7, completionTokens: 5 }

/** Sends each event of a response, then its end. */
export async function respond(call: UpstreamCall, events: readonly Record<string, unknown>[], end: object = {}) {
  await call.data({ type: 'response.created', response: { status: 'in_progress' } })
  for (const event of events) await call.data(event)
  await call.data({ type: 'response.completed', response: { status: 'completed', output: [], usage, ...end } })
  call.end()
}

export const text = (delta: string) => ({ type: 'response.output_text.delta', output_index: 0, delta })
export const done = (output_index: number, item: object) => ({ type: 'response.output_item.done', output_index, item })
export const thinking = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' }
export const calling = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{"a":1}' }
export const tool = { name: 'f', description: 'd', inputSchema: { type: 'object', properties: {} } }

export const requestFor = (up: { url: string }, changes: Partial<ModelRequest> = {}): ModelRequest =>
  requestTo(up, {
    provider: { ...connectionTo(up.url, 'openai'), wireApi: 'responses' },
    model: 'gpt-5.6-luna',
    ...changes,
  })

/** Returns the messages, the turn that ended, and a result of each of its calls. */
export const answered = (messages: ModelMessage[], events: readonly ModelEvent[]): ModelMessage[] => {
  const end = events.at(-1)
  const toolCalls = events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []))
  if (end?.type !== 'end') throw new Error('the turn has not ended')
  const results = toolCalls.map(({ id }): ModelMessage => ({ role: 'tool', toolCallId: id, content: `of ${id}` }))
  return [
    ...messages,
    { role: 'assistant', content: '', toolCalls, ...(end.echo !== undefined && { echo: end.echo }) },
    ...results,
  ]
}
