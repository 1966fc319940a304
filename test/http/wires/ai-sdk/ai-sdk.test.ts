/** Contract section 12: the AI SDK's endpoints, over real sockets. */
import { randomUUID } from 'node:crypto'
import { validateUIMessages } from 'ai'
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { asks, openToolScene, says, startToolServer, type ToolScene } from '../../tool-scene.ts'
import { refusedBySdk, rest, uiScene } from '../../ui-scene.ts'

let scene: ToolScene
let ui: ReturnType<typeof uiScene>
beforeAll(async () => {
  scene = await openToolScene()
  ui = uiScene(scene)
})
afterAll(() => scene.close())

const done = { type: '[DONE]' }
const text = (id: string, ...deltas: string[]) => [
  { type: 'text-start', id },
  ...deltas.map((delta) => ({ type: 'text-delta', id, delta })),
  { type: 'text-end', id },
]
const finish = (finishReason = 'stop') => ({ type: 'finish', finishReason })

verifies(
  ['contract-12.ai-sdk', 'contract-12.ai-sdk-messages'],
  'a chat that is new is a session, its reply the parts of one message, in the order of its model calls',
  async () => {
    await using tools = await startToolServer(({ url }) => {
      if (url.pathname === '/broken') throw new Error('closed')
      return `found ${url.searchParams.get('q')}`
    })
    await scene.choose({
      httpToolIds: [
        await scene.createTool({ name: 'look', url: tools.url }),
        await scene.createTool({ name: 'refused', url: 'http://169.254.169.254/' }),
      ],
    })
    const look = (q: string, id: string) => ({ name: 'look', arguments: JSON.stringify({ q }), id })
    scene.up.next(asks('A', look('1', 'c1'), { name: 'refused', arguments: '{"', id: 'c2' }))
    scene.up.next(asks('', look('3', 'c1')))
    scene.up.next(says('C'))
    const id = randomUUID()
    const stream = await ui.chat(id, 'Look!')
    expect([
      stream.status,
      stream.headers.get('content-type'),
      stream.headers.get('x-vercel-ai-ui-message-stream'),
    ]).toEqual([200, 'text/event-stream; charset=utf-8', 'v1'])
    const parts = await rest(stream)
    const [asked, reply] = await scene.messages(id)
    const error = expect.any(String)
    const found = (q: string) => expect.stringContaining(`found ${q}`)
    expect(parts).toEqual([
      { type: 'start', messageId: reply.id },
      { type: 'start-step' },
      ...text('0', 'A'),
      { type: 'tool-input-available', toolCallId: 'c1', toolName: 'look', input: { q: '1' }, dynamic: true },
      { type: 'tool-input-available', toolCallId: 'c2', toolName: 'refused', input: '{"', dynamic: true },
      { type: 'tool-output-error', toolCallId: 'c2', errorText: error, dynamic: true }, // not made, so it is known first
      { type: 'tool-output-available', toolCallId: 'c1', output: found('1'), dynamic: true },
      { type: 'finish-step' },
      { type: 'start-step' },
      { type: 'tool-input-available', toolCallId: 'c1_2', toolName: 'look', input: { q: '3' }, dynamic: true },
      { type: 'tool-output-available', toolCallId: 'c1_2', output: found('3'), dynamic: true },
      { type: 'finish-step' },
      { type: 'start-step' },
      ...text('1', 'C'),
      { type: 'finish-step' },
      finish(),
      done,
    ])
    expect(await refusedBySdk(parts)).toEqual([])
    expect([asked.content, reply.content]).toEqual(['Look!', 'AC'])
    expect(stream.raw()).not.toContain('\nid:')

    const step = { type: 'step-start' }
    const call = (toolCallId: string, toolName: string, input: unknown, outcome: object) => ({
      type: 'dynamic-tool',
      toolCallId,
      toolName,
      input,
      ...outcome,
    })
    const answered = (q: string) => ({ state: 'output-available', output: found(q) })
    const messages = await ui.uiMessages(id)
    expect(messages).toEqual([
      {
        id: asked.id,
        role: 'user',
        metadata: { status: 'complete' },
        parts: [{ type: 'text', text: 'Look!' }],
      },
      {
        id: reply.id,
        role: 'assistant',
        metadata: { status: 'complete' },
        parts: [
          step,
          { type: 'text', text: 'A', state: 'done' },
          call('c1', 'look', { q: '1' }, answered('1')),
          call('c2', 'refused', '{"', { state: 'output-error', errorText: error }),
          step,
          call('c1_2', 'look', { q: '3' }, answered('3')),
          step,
          { type: 'text', text: 'C', state: 'done' },
        ],
      },
    ])
    await validateUIMessages({ messages }) // throws
    await scene.choose({})
  },
)

verifies(
  ['contract-12.ai-sdk-resume', 'contract-12.one-log'],
  'the running reply is followed from its beginning, with the same bytes; without one it is 204',
  async () => {
    const id = randomUUID()
    expect((await ui.follow(id)).status).toBe(204)
    const next = scene.byHand()
    const first = await ui.chat(id, 'go')
    const up = await next
    await up.text('Par')
    const early = await ui.follow(id)
    expect(early.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
    await up.text('ti')
    while (!first.raw().includes('"ti"')) await first.next()
    const late = await ui.follow(id)
    const shown = await ui.uiMessages(id)
    expect(shown[1]).toMatchObject({
      metadata: { status: 'streaming' },
      parts: [{ type: 'step-start' }, { type: 'text', text: 'Parti', state: 'streaming' }],
    })
    const chunks = await scene.resume(id)
    await up.text('al')
    await up.finish()
    const parts = await rest(first)
    await Promise.all([rest(early), rest(late), chunks.rest()])
    expect([early.raw(), late.raw()]).toEqual([first.raw(), first.raw()])
    expect(parts.map((part) => part.delta ?? '').join('')).toBe('Partial')
    // The chunks of the same log, untouched by the parts that were made of it.
    expect(chunks.frames.map((frame) => frame.id)).toEqual(chunks.frames.map((_, index) => `${index + 1}`))
    expect((await ui.follow(id)).status).toBe(204)
  },
)

verifies(
  ['contract-12.ai-sdk', 'contract-12.ai-sdk-resume'],
  'a reply that is cancelled ends with finish, and keeps what it had',
  async () => {
    const id = randomUUID()
    expect((await ui.stop(id)).status).toBe(204)
    const next = scene.byHand()
    const stream = await ui.chat(id, 'go')
    const up = await next
    await up.text('some')
    while (!stream.raw().includes('some')) await stream.next()
    expect((await ui.stop(id)).status).toBe(204)
    expect((await rest(stream)).slice(-4)).toEqual([
      { type: 'text-end', id: '0' },
      { type: 'finish-step' },
      finish(),
      done,
    ])
    expect((await ui.uiMessages(id))[1]).toMatchObject({ metadata: { status: 'complete' } })
    expect((await scene.messages(id))[1]).toMatchObject({ content: 'some', finish_reason: 'cancelled' })
    expect((await ui.stop(id)).status).toBe(204)
  },
)

verifies('contract-12.ai-sdk', 'a reply that fails ends with error and [DONE], without finish', async () => {
  const id = randomUUID()
  scene.up.next(async (up) => {
    await up.text('half')
    up.end()
  })
  const parts = await rest(await ui.chat(id, 'go'))
  expect(parts.slice(-4)).toEqual([
    { type: 'text-end', id: '0' },
    { type: 'finish-step' },
    { type: 'error', errorText: expect.any(String) },
    done,
  ])
  expect(await refusedBySdk(parts)).toEqual([])
  expect((await ui.uiMessages(id))[1]).toMatchObject({
    metadata: { status: 'error' },
    parts: [{ type: 'step-start' }, { type: 'text', text: 'half', state: 'done' }],
  })
})

verifies(
  ['contract-12.ai-sdk', 'contract-12.ai-sdk-messages'],
  'a call whose result was not stored ends as an error that says so',
  async () => {
    let called: () => void = () => {}
    const arrived = new Promise<void>((resolve) => {
      called = resolve
    })
    await using tools = await startToolServer(() => {
      called()
      return new Promise<string>(() => {})
    })
    await scene.choose({ httpToolIds: [await scene.createTool({ name: 'slow', url: tools.url })] })
    scene.up.next(asks('', { name: 'slow', arguments: '', id: 'c1' }))
    const id = randomUUID()
    const stream = await ui.chat(id, 'go')
    await arrived
    await ui.stop(id)
    const unknown = expect.stringContaining('outcome is unknown')
    expect((await rest(stream)).slice(2)).toEqual([
      { type: 'tool-input-available', toolCallId: 'c1', toolName: 'slow', input: {}, dynamic: true },
      { type: 'tool-output-error', toolCallId: 'c1', errorText: unknown, dynamic: true },
      { type: 'finish-step' },
      finish(),
      done,
    ])
    const [, reply] = await ui.uiMessages(id)
    expect(reply.parts[1]).toMatchObject({ state: 'output-error', errorText: unknown })
    await scene.choose({})
  },
)

verifies(
  ['contract-12.ai-sdk', 'contract-12.ai-sdk-messages', 'contract-12.reasoning'],
  'what the model thinks is asked for, and a part of its own before the text it belongs to',
  async () => {
    const id = randomUUID()
    scene.up.next(async (up) => {
      await up.delta({ reasoning_content: 'Hm. ' })
      await up.delta({ reasoning_content: 'Yes.' })
      await up.text('Yes.')
      await up.finish()
    })
    const parts = await rest(await ui.chat(id, 'go'))
    const joined = (type: string) => parts.flatMap((part) => (part.type === type ? [part.delta] : [])).join('')
    expect([joined('reasoning-delta'), joined('text-delta')]).toEqual(['Hm. Yes.', 'Yes.'])
    expect(parts.map(({ type, id }) => [type, id]).filter(([type]) => !`${type}`.endsWith('-delta'))).toEqual([
      ['start', undefined],
      ['start-step', undefined],
      ['reasoning-start', '0'],
      ['reasoning-end', '0'],
      ['text-start', '1'],
      ['text-end', '1'],
      ['finish-step', undefined],
      ['finish', undefined],
      ['[DONE]', undefined],
    ])
    expect(await refusedBySdk(parts)).toEqual([])
    expect((await ui.uiMessages(id))[1].parts).toEqual([
      { type: 'step-start' },
      { type: 'reasoning', id: '0', text: 'Hm. Yes.', state: 'done' },
      { type: 'text', text: 'Yes.', state: 'done' },
    ])
  },
)

verifies('contract-12.ai-sdk-messages', 'messages that a session was given are shown as others are', async () => {
  const messages = [
    { role: 'user', content: 'Before?' },
    { role: 'assistant', content: 'Before.' },
  ]
  const { json } = await scene.call('POST', scene.sessions, { messages })
  expect((await ui.uiMessages(json.id)).map(({ role, parts }) => [role, parts])).toEqual([
    ['user', [{ type: 'text', text: 'Before?' }]],
    ['assistant', [{ type: 'step-start' }, { type: 'text', text: 'Before.', state: 'done' }]],
  ])
  expect((await ui.follow(json.id)).status).toBe(204)
})

verifies('contract-12.ai-sdk', 'a model call that says nothing is a step all the same', async () => {
  const id = randomUUID()
  scene.up.next(asks('', { name: 'no_such_tool', arguments: '{}', id: 'c1' }))
  scene.up.next(async (up) => {
    await up.finish()
  })
  const types = (await rest(await ui.chat(id, 'go'))).map(({ type }) => type)
  expect(types.slice(-6)).toEqual(['tool-output-error', 'finish-step', 'start-step', 'finish-step', 'finish', '[DONE]'])
})
