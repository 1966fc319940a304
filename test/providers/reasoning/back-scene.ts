/** A turn with reasoning that has called a tool, and the request with its result. (Contract section 12.) */
import type { ModelMessage, ModelRequest } from '../../../src/actors/ports/index.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { look } from '../native/native-scene.ts'
import { ask, connectionTo, requestTo, scene } from '../scene.ts'

export const call = { index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }

export async function echoed(
  deltas: readonly object[],
  type: string,
  second: Partial<ModelRequest> = {},
  reasoning = true,
) {
  const { up, model } = await scene({ providerRetries: 0 })
  up.next(async (upCall) => {
    for (const delta of [...deltas, { tool_calls: [call] }]) await upCall.delta({ ...delta })
    await upCall.finish('tool_calls')
  })
  up.always((upCall) => upCall.finish())
  const provider = connectionTo(up.url, type)
  const end = (await ask(model, requestTo(null, { provider, tools: [look], reasoning }))).at(-1)
  const echo = end?.type === 'end' ? end.echo : undefined
  const messages: ModelMessage[] = [
    { role: 'user', content: 'hi' },
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'a', name: 'look', arguments: '{}' }],
      ...(echo && { echo }),
    },
    { role: 'tool', toolCallId: 'a', content: 'seen' },
  ]
  const events = await ask(model, requestTo(null, { provider, messages, ...second }))
  return { up, model, events, provider, messages, back: (await up.call(2)).body.messages[1] }
}
export const plain = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'a', type: 'function', function: call.function }],
}
/** A reply of before: it has called, and answered. */
export const earlier: ModelMessage[] = [
  { role: 'user', content: 'before' },
  { role: 'assistant', content: '', toolCalls: [{ id: 'e', name: 'look', arguments: '{}' }] },
  { role: 'tool', toolCallId: 'e', content: 'seen' },
  { role: 'assistant', content: 'Done.' },
]
export const reasoningIn = ({ body }: UpstreamCall) => {
  const messages: { role: string; reasoning_content?: string }[] = body.messages
  return messages.filter(({ role }) => role === 'assistant').map(({ reasoning_content: text = null }) => text)
}
/** Kimi's: each call needs its reasoning, and an empty text is none. */
export const wants = (one: UpstreamCall) => {
  const messages: { tool_calls?: unknown; reasoning_content?: string }[] = one.body.messages
  const at = messages.findIndex(({ tool_calls, reasoning_content }) => tool_calls && !reasoning_content)
  const message = `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`
  return at < 0 ? one.finish() : one.error(400, { error: { message, type: 'invalid_request_error' } })
}
