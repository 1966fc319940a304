/** A turn that went on behind an interrupted text and then calls a tool: what the model is sent with the result (section 21). */
import { expect, onTestFinished } from 'vitest'
import type { ModelEvent, ModelMessage, ModelRequest } from '../../../src/actors/ports/index.ts'
import { verifies } from '../../verifies.ts'
import { startAnthropic, turn } from '../native/anthropic-server.ts'
import * as gemini from '../native/gemini-server.ts'
import { calling, done, requestFor, respond, text, thinking, tool } from '../responses/scene.ts'
import { ask, connectionTo, requestTo, scene } from '../scene.ts'

const before = 'The quick brown fox jumps over'
const more = ' the lazy dog.'
const question: ModelMessage = { role: 'user', content: 'Tell!' }
const interrupted: ModelRequest['messages'] = [question, { role: 'assistant', content: before, isBeginning: true }]
const told = expect.stringContaining('interrupted')
const look = { ...tool, name: 'look' }

/** The turn that went on, as it was stored meanwhile, with the result of its call. */
function withResult(events: readonly ModelEvent[]): ModelMessage[] {
  const calls = events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []))
  const end = events.at(-1)
  const echo = end?.type === 'end' ? end.echo : undefined
  if (calls.length !== 1 || echo === undefined) throw new Error('The turn has called nothing.')
  const stored: object = JSON.parse(JSON.stringify(echo))
  return [
    question,
    { role: 'assistant', content: before + more, toolCalls: calls, echo: stored },
    { role: 'tool', toolCallId: calls[0]?.id ?? '', content: 'found' },
  ]
}

verifies(
  'contract-21.beginning',
  'Claude is sent the text that it was given the beginning of, ahead of the rest',
  async () => {
    const up = await startAnthropic()
    onTestFinished(() => up.close())
    const { model } = await scene()
    up.always((call) => call.raw(turn({ text: [more], calls: [{ id: 'toolu_1', name: 'look', input: {} }] })))
    const request = requestTo(null, {
      provider: connectionTo(up.base, 'anthropic'),
      model: 'claude-sonnet-4-5',
      tools: [look],
    })
    const events = await ask(model, { ...request, messages: interrupted })
    await ask(model, { ...request, messages: withResult(events) })
    expect(up.calls[1]?.body.messages.slice(0, 2)).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Tell!' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: before },
          { type: 'text', text: more },
          { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
        ],
      },
    ])
  },
)

verifies(
  'contract-21.beginning',
  'signed thinking of Claude still begins its message, after the text and what it was told',
  async () => {
    const up = await startAnthropic()
    onTestFinished(() => up.close())
    const { model } = await scene()
    const calls = [{ id: 'toolu_1', name: 'look', input: {} }]
    up.always((call) => call.raw(turn({ thinking: 'Hm.', text: [more], calls })))
    const request = requestTo(null, {
      provider: connectionTo(up.base, 'anthropic'),
      model: 'claude-sonnet-4-5',
      tools: [look],
      reasoning: true,
    })
    const events = await ask(model, { ...request, messages: interrupted })
    await ask(model, { ...request, messages: withResult(events) })
    const { messages, thinking: asked } = up.calls[1]?.body ?? {}
    expect(asked).toBeDefined()
    expect(messages.slice(1, 4)).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: before }] },
      { role: 'user', content: [{ type: 'text', text: told }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' },
          { type: 'text', text: more },
          { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
        ],
      },
    ])
  },
)

verifies('contract-21.beginning', 'signed calls of Gemini come after the text and what it was told', async () => {
  const up = await gemini.startGemini()
  onTestFinished(() => up.close())
  const { model } = await scene()
  const signed = { name: 'look', args: {}, thoughtSignature: 'c2ln' }
  up.always(gemini.tells({ text: [more], calls: [signed] }))
  const request = requestTo(null, { provider: connectionTo(up.base, 'gemini'), model: 'gemini-3-flash', tools: [look] })
  const events = await ask(model, { ...request, messages: interrupted })
  await ask(model, { ...request, messages: withResult(events) })
  expect(up.calls[1]?.body.contents.slice(1, 4)).toEqual([
    { role: 'model', parts: [{ text: before }] },
    { role: 'user', parts: [{ text: told }] },
    {
      role: 'model',
      parts: [{ text: more }, { functionCall: { name: 'look', args: {} }, thoughtSignature: 'c2ln' }],
    },
  ])
})

verifies(
  'contract-21.beginning',
  'items of the Responses API come after the text and what the model was told',
  async () => {
    const { up, model } = await scene()
    const said = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: more }] }
    up.always((call) => respond(call, [done(0, thinking), text(more), done(1, said), done(2, calling)]))
    const request = requestFor(up, { tools: [tool] })
    const events = await ask(model, { ...request, messages: interrupted })
    await ask(model, { ...request, messages: withResult(events) })
    expect(up.calls[1]?.body.input).toEqual([
      { type: 'message', role: 'user', content: 'Tell!' },
      { type: 'message', role: 'assistant', content: before },
      { type: 'message', role: 'user', content: told },
      thinking,
      expect.objectContaining({ type: 'message', id: 'msg_1' }),
      calling,
      { type: 'function_call_output', call_id: 'call_1', output: 'found' },
    ])
  },
)

verifies('contract-21.beginning', 'chat completions have it in the content of their message', async () => {
  const { up, model } = await scene()
  up.always(async (call) => {
    await call.delta({ reasoning_content: 'Hm.' })
    await call.text(more)
    await call.toolCall({ id: 'call_1', name: 'look', arguments: '{}' })
    await call.finish('tool_calls')
  })
  const request = requestTo(up, { provider: connectionTo(up.url, 'deepseek'), tools: [look], reasoning: true })
  const events = await ask(model, { ...request, messages: interrupted })
  await ask(model, { ...request, messages: withResult(events) })
  expect(up.calls[1]?.body.messages[1]).toMatchObject({
    role: 'assistant',
    content: before + more,
    reasoning_content: 'Hm.',
  })
})
