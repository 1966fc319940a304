/** Contract section 12: reasoning on the deploy wire and in the playground, live, resumed, stored. */
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import type { UpstreamCall } from '../scene.ts'
import { asks, openToolScene, startToolServer, type ToolScene } from '../tool-scene.ts'
import { headOf, raw, wire } from './session-wire.ts'

let scene: ToolScene
beforeAll(async () => {
  scene = await openToolScene({ config: { maxToolCalls: 4 } })
})
beforeEach(() => scene.choose({}))
afterAll(() => scene.close())

const rule = 'contract-12.reasoning' as const
const thinking = { include_reasoning: true }
const thinks = (reasoning_content: string) => (up: UpstreamCall) => up.delta({ reasoning_content })
const says = (text: string) => (up: UpstreamCall) => up.text(text)

/** A reply of exactly these deltas, a frame each. */
async function paced(id: string, deltas: readonly ((up: UpstreamCall) => Promise<void>)[], extra: object = thinking) {
  const next = scene.byHand()
  const stream = await scene.stream(id, 'x', extra)
  await stream.next()
  const up = await next
  for (const delta of deltas) {
    await delta(up)
    await stream.next()
  }
  return { stream, up, end: () => up.finish('stop', { prompt_tokens: 2, completion_tokens: 1 }, true) }
}

/** As `wire`, of chunks whose deltas are these. */
const framesOf = (head: { id: string; created: number }, first: number, deltas: readonly object[]): string[] => {
  const [role = '', finish = '', done = ''] = wire(head, first, [])
  const chunks = deltas.map((delta) => role.replace('{"role":"assistant"}', JSON.stringify(delta)))
  return [role, ...chunks, finish, done].map((frame, index) => frame.replace(/^id: \d+/, `id: ${first + index}`))
}

verifies(
  rule,
  'its frames are numbered, and every id resumes exactly, while it runs and when it has ended',
  async () => {
    const id = await scene.newSession()
    const { stream, end } = await paced(id, [thinks('Hé'), thinks('m"\n'), says('So'), thinks('😀'), says(' it is')])
    const deltas = [
      { reasoning_content: 'Hé' },
      { reasoning_content: 'm"\n' },
      { content: 'So' },
      { reasoning_content: '😀' },
      { content: ' it is' },
    ]
    const frames = framesOf(headOf(stream), 1, deltas)
    const running = await Promise.all(frames.slice(0, 6).map((_, after) => scene.resume(id, after)))
    await end()
    await stream.rest()
    expect(stream.raw()).toBe(frames.join(''))
    for (const [after, resumed] of running.entries()) {
      await resumed.rest()
      expect(resumed.raw()).toBe(frames.slice(after).join(''))
    }
    for (let after = 0; after <= frames.length; after++) {
      expect(await raw(scene, id, after)).toBe(frames.slice(Math.min(after, 6)).join(''))
    }
    const [, message] = await scene.messages(id)
    expect([message.content, message.reasoning]).toEqual(['So it is', 'Hém"\n😀'])
    const next = await paced(id, [says('b')], {})
    await next.end()
    await next.stream.rest()
    expect(next.stream.raw()).toBe(wire(headOf(next.stream), 9, ['b']).join(''))
  },
)

verifies(rule, 'the request that starts the reply decides; who joins or reads along sees the same frames', async () => {
  for (const [first, second] of [
    [thinking, {}],
    [{}, thinking],
    [{ include_reasoning: null }, thinking],
  ]) {
    const id = await scene.newSession()
    const key = { 'idempotency-key': 'r' }
    const isAsked = first === thinking
    scene.up.always(async (up) => {
      await up.delta({ reasoning_content: 'Hm' })
      await up.text('So')
      await up.finish()
    })
    const started = await scene.stream(id, 'x', first, key)
    await started.rest()
    expect(started.raw().includes('"reasoning_content":"Hm"')).toBe(isAsked)
    const retry = { ...key, 'x-stainless-retry-count': '1' }
    const joined = await scene.stream(id, 'x', first, retry)
    await joined.rest()
    expect(joined.raw()).toBe(started.raw())
    expect(await raw(scene, id)).toBe(started.raw())
    const whole = await scene.send(id, 'x', first, key)
    expect(whole.status).toBe(400) // another body, as ever
    const other = await scene.send(id, 'y', second)
    expect('reasoning_content' in other.json.choices[0].message).toBe(!isAsked)
    const messages = await scene.messages(id)
    expect(messages.map(({ reasoning }) => reasoning)).toEqual(
      [undefined, 'Hm', undefined, 'Hm'].map((text, index) => (index === (isAsked ? 1 : 3) ? text : undefined)),
    )
  }
})

verifies(rule, 'without streaming it is reasoning_content of the message; absent where none came', async () => {
  const message = async (answer: Promise<{ json: { choices: { message: object }[] } }>) =>
    (await answer).json.choices[0]?.message
  const hello = [{ role: 'user', content: 'Hi' }]
  scene.up.always(async (up) => {
    await up.delta({ reasoning: 'H' })
    await up.delta({ reasoning: 'm' })
    await up.text('So')
    await up.finish()
  })
  const said = { role: 'assistant', content: 'So', reasoning_content: 'Hm' }
  expect(await message(scene.stateless(hello, thinking))).toEqual(said)
  const id = await scene.newSession()
  expect(await message(scene.send(id, 'Hi', thinking))).toEqual(said)
  scene.says(['So'])
  expect(await message(scene.stateless(hello, thinking))).toEqual({ role: 'assistant', content: 'So' })
  expect(await message(scene.send(id, 'And?', thinking))).toEqual({ role: 'assistant', content: 'So' })
  expect((await scene.messages(id)).map((one) => 'reasoning' in one)).toEqual([false, true, false, false])
  expect((await scene.stateless(hello, { include_reasoning: 'yes' })).status).toBe(400)
})

verifies(rule, 'a stateless stream has it in frames of its own, without ids', async () => {
  const next = scene.byHand()
  const stream = await scene.statelessStream('Hi', thinking)
  await stream.next()
  const up = await next
  await up.delta({ reasoning_content: 'Hm' })
  await stream.next()
  await up.text('So')
  await up.finish()
  await stream.rest()
  const frames = framesOf(headOf(stream), 1, [{ reasoning_content: 'Hm' }, { content: 'So' }])
  expect(stream.raw()).toBe(frames.map((frame) => frame.replace(/^id: \d+\n/, '')).join(''))
})

verifies(
  [rule, 'contract-4.clean-text'],
  'a pair of surrogates that is cut in two deltas is joined, a lone one replaced',
  async () => {
    const id = await scene.newSession()
    scene.up.always(async (up) => {
      await up.raw('data: {"choices":[{"index":0,"delta":{"reasoning_content":"a\\ud83d"}}]}\n\n')
      await up.raw('data: {"choices":[{"index":0,"delta":{"reasoning_content":"\\ude00\\u0000\\ud83d"}}]}\n\n')
      await up.text('So')
      await up.finish()
    })
    const { json } = await scene.send(id, 'Hi', thinking)
    expect(json.choices[0].message.reasoning_content).toBe('a😀\ufffd\ufffd')
    expect((await scene.messages(id))[1].reasoning).toBe('a😀\ufffd\ufffd')
  },
)

verifies([rule, 'contract-12.reasoning-back'], 'the playground always asks; no later call is shown it', async () => {
  await using tools = await startToolServer(() => 'found')
  await scene.choose({ httpToolIds: [await scene.createTool({ name: 'look', url: tools.url })] })
  const before = scene.up.calls.length
  scene.up.next(async (up) => {
    await up.delta({ reasoning_content: 'First' })
    await asks('A', { name: 'look', arguments: '{"q":"1"}', id: 'c1' })(up)
  })
  scene.up.next(async (up) => {
    await up.delta({ reasoning_content: 'Then' })
    await up.text('B')
    await up.finish()
  })
  const chat = await scene.chat({ message: 'Look!' })
  const { frames } = await chat.rest()
  const told = frames.flatMap(({ event, data }): unknown[] => {
    if (event !== undefined) return event === 'state' ? [] : [event]
    const delta = data === '[DONE]' ? {} : JSON.parse(data).choices[0].delta
    return Object.entries(delta).filter(([name]) => name !== 'role')
  })
  expect(told).toEqual([
    ['reasoning_content', 'First'],
    ['content', 'A'],
    'tool_call',
    'tool_result',
    ['reasoning_content', 'Then'],
    ['content', 'B'],
  ])
  const session = chat.headers.get('x-session-id') ?? ''
  const [user, reply] = await scene.shown(session)
  expect(reply).toMatchObject({ content: 'AB', reasoning: 'FirstThen', reasoningMs: expect.any(Number) })
  expect(reply.toolCalls).toMatchObject([{ id: 'c1', offset: 1, ok: true }])
  expect(['reasoning' in user, 'reasoningMs' in user]).toEqual([false, false])
  // Within the reply it goes back with the call; the next turn is not shown it.
  expect((await scene.up.call(before + 2)).body.messages[1]).toMatchObject({ reasoning_content: 'First' })
  scene.says(['C'])
  await (await scene.chat({ message: 'And?', sessionId: session })).rest()
  expect(JSON.stringify((await scene.up.call(before + 3)).body)).not.toMatch(/First|Then|reasoning/)
})
