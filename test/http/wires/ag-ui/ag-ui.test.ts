/** Contract section 12: AG-UI's endpoint, over real sockets. */
import { randomUUID } from 'node:crypto'
import { AgentCapabilitiesSchema, EventSchemas } from '@ag-ui/core/schemas'
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { storedMessages } from '../../scene.ts'
import { asks, openToolScene, says, startToolServer, type ToolScene } from '../../tool-scene.ts'
import { rest, uiScene, type WirePart } from '../../ui-scene.ts'

let scene: ToolScene
let ui: ReturnType<typeof uiScene>
beforeAll(async () => {
  scene = await openToolScene()
  ui = uiScene(scene)
})
afterAll(() => scene.close())

const refused = (events: readonly WirePart[]) => events.filter((event) => !EventSchemas.safeParse(event).success)

verifies(
  'contract-12.ag-ui',
  'a run is one message of the reply’s id with its calls, and a message for each result',
  async () => {
    await using tools = await startToolServer(({ url }) => `found ${url.searchParams.get('q')}`)
    await scene.choose({ httpToolIds: [await scene.createTool({ name: 'look', url: tools.url })] })
    scene.up.next(asks('A', { name: 'look', arguments: '{"q":"1"}', id: 'c1' }))
    scene.up.next(asks('B', { name: 'look', arguments: '{"q":"2"}', id: 'c1' }))
    scene.up.next(says('C'))
    const threadId = randomUUID()
    const stream = await ui.run(threadId, 'run 1', 'Look!')
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    const events = await rest(stream)
    const [asked, reply] = await scene.messages(threadId)
    const messageId = reply.id
    const text = (delta: string) => [
      { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId, delta },
      { type: 'TEXT_MESSAGE_END', messageId },
    ]
    const call = (toolCallId: string, delta: string, n: number) => [
      { type: 'TOOL_CALL_START', toolCallId, toolCallName: 'look', parentMessageId: messageId },
      { type: 'TOOL_CALL_ARGS', toolCallId, delta },
      { type: 'TOOL_CALL_END', toolCallId },
      {
        type: 'TOOL_CALL_RESULT',
        messageId: `${messageId}:result:${n}`,
        toolCallId,
        content: expect.stringContaining(`found ${n}`),
        role: 'tool',
      },
    ]
    expect(events).toEqual([
      { type: 'RUN_STARTED', threadId, runId: 'run 1', protocolVersion: '1.0' },
      ...text('A'),
      ...call('c1', '{"q":"1"}', 1),
      ...text('B'),
      ...call('c1_2', '{"q":"2"}', 2),
      ...text('C'),
      { type: 'RUN_FINISHED', threadId, runId: 'run 1', outcome: { type: 'success' } },
    ])
    expect(refused(events)).toEqual([])
    expect([asked.content, reply.content]).toEqual(['Look!', 'ABC'])
    await scene.choose({})
  },
)

verifies(['contract-12.ag-ui', 'contract-12.reasoning'], 'what the model thinks is a message of its own', async () => {
  const threadId = randomUUID()
  scene.up.next(async (up) => {
    await up.delta({ reasoning_content: 'Hm.' })
    await up.text('Yes.')
    await up.finish()
  })
  const events = await rest(await ui.run(threadId, 'r', 'go'))
  const [, reply] = await scene.messages(threadId)
  const messageId = `${reply.id}:reasoning:0`
  expect(events.slice(1, 6)).toEqual([
    { type: 'REASONING_START', messageId },
    { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
    { type: 'REASONING_MESSAGE_CONTENT', messageId, delta: 'Hm.' },
    { type: 'REASONING_MESSAGE_END', messageId },
    { type: 'REASONING_END', messageId },
  ])
  expect(refused(events)).toEqual([])
})

verifies(
  ['contract-12.ag-ui-input', 'contract-12.one-log'],
  'the same run joins, running or finished, with the same bytes; under another message it is 400',
  async () => {
    const threadId = randomUUID()
    const next = scene.byHand()
    const first = await ui.run(threadId, 'r', 'go')
    const up = await next
    await up.text('Par')
    const again = await ui.run(threadId, 'r', 'go', {
      messages: [
        { id: '1', role: 'system', content: 'ignored' },
        { id: '2', role: 'user', content: [{ type: 'text', text: 'go' }] },
        { id: '3', role: 'assistant', content: 'what a page has so far' },
      ],
      state: { any: 1 },
    })
    await up.text('tial')
    await up.finish()
    await Promise.all([rest(first), rest(again)])
    const late = await ui.run(threadId, 'r', 'go')
    await rest(late)
    expect([again.raw(), late.raw()]).toEqual([first.raw(), first.raw()])
    const other = await scene.call('POST', ui.agUi, ui.runBody(threadId, 'r', 'other'))
    expect([other.status, other.json.error.message]).toEqual([400, expect.stringMatching(/^runId: /)])
    expect(await scene.messages(threadId)).toHaveLength(2)
  },
)

verifies(
  ['contract-12.ag-ui', 'contract-25.cancelled-run'],
  'a cancelled run is plainly finished; a failed one ends with our code',
  async () => {
    const threadId = randomUUID()
    const next = scene.byHand()
    const stream = await ui.run(threadId, 'r1', 'go')
    const up = await next
    await up.text('some')
    while (!stream.raw().includes('some')) await stream.next()
    await scene.cancel(threadId)
    const events = await rest(stream)
    expect(events.at(-1)).toStrictEqual({ type: 'RUN_FINISHED', threadId, runId: 'r1' })
    expect(events.at(-2)).toMatchObject({ type: 'TEXT_MESSAGE_END' })

    scene.up.next(async (failing) => {
      await failing.text('half')
      failing.end()
    })
    const failed = await rest(await ui.run(threadId, 'r2', 'go on'))
    expect(failed.at(-1)).toEqual({ type: 'RUN_ERROR', message: expect.any(String), code: 'provider_error' })
    expect(refused([...events, ...failed])).toEqual([])
  },
)

verifies(
  ['contract-12.ag-ui-input', 'contract-12.one-log'],
  'one reply runs a session, whichever surface asked for it',
  async () => {
    const id = randomUUID()
    const next = scene.byHand()
    const run = await ui.run(id, 'r', 'go')
    const up = await next
    expect(
      (await scene.call('POST', ui.agUi, ui.runBody(id, 'r2', 'go', { forwardedProps: { on_busy: 'reject' } }))).status,
    ).toBe(409)
    expect((await scene.call('POST', ui.aiSdk, ui.chatBody(id, 'go', { on_busy: 'reject' }))).status).toBe(409)
    expect((await scene.send(id, 'go')).status).toBe(409)
    const [chat, chunks] = await Promise.all([ui.follow(id), scene.resume(id)])
    await up.text('all of it')
    await up.finish()
    await Promise.all([rest(run), rest(chat), chunks.rest()])
    for (const stream of [run, chat, chunks]) expect(stream.raw()).toContain('all of it')
    expect(await scene.messages(id)).toHaveLength(2)
  },
)

verifies('contract-12.ag-ui-input', 'what it cannot take is 400 that names it, and stores nothing', async () => {
  const threadId = randomUUID()
  const before = await storedMessages(scene.app)
  const user = (content: unknown) => ({ messages: [{ id: '1', role: 'user', content }] })
  for (const [body, named] of [
    [{ threadId: '..' }, 'threadId'],
    [{ runId: '' }, 'runId'],
    [{ runId: 'x'.repeat(256) }, 'runId'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ id: '1', role: 'assistant', content: 'x' }] }, 'messages'],
    [user([]), 'messages.0.content'],
    [user(5), 'messages.0.content'],
    [user([{ type: 'image', source: { type: 'url', value: 'https://x' } }]), 'messages.0.content.0'],
  ] as const) {
    const { status, json } = await scene.call('POST', ui.agUi, ui.runBody(threadId, 'r', 'go', body))
    expect([body, status, json.error.message]).toEqual([body, 400, expect.stringMatching(new RegExp(`^${named}: `))])
  }
  expect(await storedMessages(scene.app)).toBe(before)
  expect((await scene.call('GET', `${scene.sessions}/${threadId}`)).status).toBe(404)
})

verifies('contract-12.ag-ui', 'its capabilities are AG-UI’s own and tell that a run resumes', async () => {
  const { status, json } = await scene.call('GET', `${scene.agent}/deploy/ag-ui/capabilities`)
  expect(status).toBe(200)
  expect(AgentCapabilitiesSchema.parse(json)).toMatchObject({ transport: { streaming: true, resumable: true } })
})
