/** The demo provider: contract section 9. */
import { expect, test, vi } from 'vitest'
import type { ModelEvent, ModelMessage, ModelRequest } from '../../src/actors/ports/index.ts'
import { playDemo } from '../../src/providers/demo.ts'
import { heard } from '../support/streams/model-stream.ts'
import { all, ask, failureIn, requestTo, scene, spoken, textOf } from './scene.ts'

const user = (content: string): ModelMessage => ({ role: 'user', content })
const tools = [{ name: 'add', description: '', inputSchema: { type: 'object' } }]
const demo = (messages: ModelMessage[], changes: Partial<ModelRequest> = {}, signal = new AbortController().signal) =>
  heard({ stream: playDemo }, requestTo(null, { messages, ...changes }), signal)
const said = async (text: string, changes: Partial<ModelRequest> = {}) => textOf(await all(demo([user(text)], changes)))

test('says how many messages, how the system prompt begins and what came last; the same each time', async () => {
  const messages: ModelMessage[] = [user('one'), { role: 'assistant', content: 'two' }, user('three')]
  const system = 'You are a very kind and helpful assistant, always.'
  const [first, second] = await Promise.all([1, 2].map(() => all(demo(messages, { system }))))
  expect(textOf(first ?? [])).toBe(
    'I am the demo model. I received 3 messages. ' +
      'The system prompt begins: "You are a very kind and helpful assistant,". The last message is: "three".',
  )
  expect(second).toEqual(first)
})

test('without a system prompt, with a long message', async () => {
  const text = await said('😀'.repeat(2000))
  expect(text).toContain('I received 1 message. There is no system prompt.')
  expect(text).toContain(`"${'😀'.repeat(200)}…"`)
})

test.each([
  'one two',
  ' one\n\n two ',
  '日本語 ok',
  'x',
])('/echo gives the text back exactly, a word a delta: %j', async (text) => {
  const events = await all(demo([user(`/echo ${text}`)]))
  expect(textOf(events)).toBe(text)
  expect(events.at(-1)).toEqual({ type: 'end', reason: 'stop', usage: null })
  for (const event of events) if (event.type === 'text') expect(event.text.trim().split(/\s+/)).toHaveLength(1)
})

test('four megabytes of spaces are echoed without a hang', async () => {
  expect(await said(`/echo ${' '.repeat(4 * 1024 * 1024)}`)).toHaveLength(4 * 1024 * 1024)
})

test('/long N: N words', async () => {
  const events = spoken(await all(demo([user('/long 5')])))
  expect(events.slice(0, -1).map((event) => event.type === 'text' && event.text)).toEqual(['1 ', '2 ', '3 ', '4 ', '5'])
  expect((await all(demo([user('/long 20000')]))).length).toBe(20_001)
})

test.each([
  ['/echo a b c', 25],
  ['/slow 3', 500],
])('%s: a word each %i ms', async (text, paceMs) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
  try {
    const events = demo([user(text)])
    await vi.advanceTimersByTimeAsync(0)
    for (let word = 0; word < 3; word++) {
      let heard: ModelEvent | null = null
      const next = events.next().then((result) => {
        heard = result.value ?? null
      })
      if (word > 0) {
        await vi.advanceTimersByTimeAsync(paceMs - 2)
        expect(heard).toBeNull()
        await vi.advanceTimersByTimeAsync(2)
      } else await vi.advanceTimersByTimeAsync(0)
      expect(heard).toMatchObject({ type: 'text' }) // by the clock that is played here, not by waiting
      await next
    }
  } finally {
    vi.useRealTimers()
  }
})

test.each([
  '/slow',
  '/slow x',
  '/long 0',
  '/long -1',
  '/long 1000000',
  '/fail 1.5',
])('%s is answered with what N may be', async (text) => {
  expect(await said(text)).toBe('N must be a whole number from 1 to 100000.')
})

test('/fail fails at once, /fail N after N words; neither is tried again', async () => {
  const { model } = await scene()
  const atOnce = await ask(model, requestTo(null, { messages: [user('/fail')] }))
  expect(atOnce).toHaveLength(1)
  expect(failureIn(atOnce)).toMatchObject({ code: 'provider_error' })
  const later = await ask(model, requestTo(null, { messages: [user('/fail 3')] }))
  expect(textOf(later)).toBe('1 2 3')
  expect(failureIn(later).message).toBe('The demo provider failed, as it was asked to.')
})

test.each([
  '/hang',
  '/slow 1000',
  '/echo a b c d e f g h',
  '/fail 9',
])('%s ends at once on abort, without a last word', async (text) => {
  const { model } = await scene()
  const abort = new AbortController()
  const events = heard(model, requestTo(null, { messages: [user(text)] }), abort.signal)
  const reading = all(events)
  setImmediate(() => abort.abort())
  expect((await reading).filter(({ type }) => type !== 'text')).toEqual([])
})

test('/tool calls the tool, then speaks its result', async () => {
  const first = await all(demo([user('/tool add {"a": 1}')], { tools }))
  expect(first).toEqual([
    { type: 'tool_call', call: { id: 'call_demo_1', name: 'add', arguments: '{"a": 1}' } },
    { type: 'end', reason: 'tool_calls', usage: null },
  ])
  const toolCalls = first.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []))
  const messages: ModelMessage[] = [
    user('/tool add {"a": 1}'),
    { role: 'assistant', content: '', toolCalls },
    { role: 'tool', toolCallId: 'call_demo_1', content: 'the sum is 3' },
  ]
  // Without tools too: so it is asked when the reply's calls are used up (contract section 6).
  expect(textOf(await all(demo(messages)))).toBe('the sum is 3')
})

test('several lines of /tool are calls of one turn, and their results paragraphs of one answer', async () => {
  const asked = user('/tool add {"a": 1}\n/tool add\n/tool sum {\n"b": 2}')
  const first = await all(demo([asked], { tools }))
  const toolCalls = first.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []))
  expect(toolCalls).toEqual([
    { id: 'call_demo_1', name: 'add', arguments: '{"a": 1}' },
    { id: 'call_demo_1_1', name: 'add', arguments: '{}' },
    { id: 'call_demo_1_2', name: 'sum', arguments: '{\n"b": 2}' },
  ])
  const results = toolCalls.map(({ id }, n): ModelMessage => ({ role: 'tool', toolCallId: id, content: `${n}.` }))
  expect(textOf(await all(demo([asked, { role: 'assistant', content: '', toolCalls }, ...results], { tools })))).toBe(
    '0.\n\n1.\n\n2.',
  )
})

test('/tool: no JSON means {}, broken JSON goes as it is, an unknown tool is called all the same', async () => {
  const callFor = async (text: string) => (await all(demo([user(text)], { tools })))[0]
  expect(await callFor('/tool add')).toMatchObject({ call: { name: 'add', arguments: '{}' } })
  expect(await callFor('/tool nope {"a"')).toMatchObject({ call: { name: 'nope', arguments: '{"a"' } })
})

test('/tool without tools, or without a name, and unknown commands are answered in words', async () => {
  expect(await said('/tool add {}')).toBe('No tools are offered to me.')
  expect(await said('/tool', { tools })).toBe('Say /tool NAME JSON.')
  expect(await said('/dance')).toContain('I do not know /dance. I know /echo TEXT')
})
