/** Contract section 16: what happened in a reply, as spans and as notes between the transitions. */
import { afterAll, expect } from 'vitest'
import { nobody } from '../../../http/scene.ts'
import { asks, openToolScene, says, startToolServer } from '../../../http/tool-scene.ts'
import { openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openToolScene({ settings: { PROVIDER_RETRIES: '2' }, system: 'Be brief.' })
afterAll(scene.close)

interface Span {
  id: string
  parentId: string | null
  kind: string
  name: string
  startMs: number
  endMs: number | null
  ok: boolean | null
  detail: Record<string, unknown>
}
interface Trace {
  messageId: string
  startedAt: string
  spans: Span[]
}

const replies = (id: string) => `/api/v1/debug/replies/${id}`
const trace = async (id: string): Promise<Trace> => (await scene.call('GET', `${replies(id)}/trace`)).json
const notes = async (session: string) =>
  (await scene.call('GET', `/api/v1/debug/sessions/${session}/transitions?kind=note`)).json
const newest = async (session: string): Promise<string> => (await scene.messages(session)).at(-1).id
const of = (spans: readonly Span[], kind: string) => spans.filter((span) => span.kind === kind)

verifies('contract-16.trace', 'attempts with status and wait, turns, tools and the settlement are spans', async () => {
  await using server = await startToolServer(() => 'found')
  await scene.choose({ httpToolIds: [await scene.createTool({ name: 'look', url: server.url })] })
  scene.up.next((one) => one.error(429, undefined, { 'retry-after': '0' }))
  scene.up.next(asks('', { name: 'look', arguments: '{}' }))
  scene.up.next(says('Done.'))
  const session = await scene.newSession()
  await scene.send(session, 'Look!')
  const id = await newest(session)
  const { messageId, startedAt, spans } = await trace(id)
  expect([messageId, Date.parse(startedAt)]).toEqual([id, expect.any(Number)])
  expect(spans.map(({ kind, parentId }) => [kind, parentId])).toEqual([
    ['reply', null],
    ['model', 'reply'],
    ['attempt', 'm1'],
    ['attempt', 'm1'],
    ['tool', 'reply'],
    ['model', 'reply'],
    ['attempt', 'm2'],
    ['settle', 'reply'],
  ])
  expect(of(spans, 'attempt').map(({ ok, detail }) => [ok, detail])).toEqual([
    [false, { status: 429, code: 'provider_rate_limited', firstTokenMs: null, waitMs: expect.any(Number) }],
    [true, { status: 200, code: null, firstTokenMs: null, waitMs: null }],
    [true, { status: 200, code: null, firstTokenMs: expect.any(Number), waitMs: null }],
  ])
  expect(of(spans, 'tool').map(({ name, ok }) => [name, ok])).toEqual([['look', true]])
  expect(spans[0]?.detail).toMatchObject({ finishReason: 'stop', requestId: expect.stringMatching(/./) })
  const whole = spans[0]?.endMs ?? 0
  for (const { startMs, endMs } of spans) {
    expect(Number.isInteger(startMs) && startMs >= 0 && startMs <= (endMs ?? -1)).toBe(true)
    expect(endMs).toBeLessThanOrEqual(whole)
  }
  expect(new Set(spans.map((span) => span.id)).size).toBe(spans.length)
  expect((await scene.call('GET', `${replies(nobody)}/trace`)).status).toBe(404)
  const [asked] = await scene.messages(session)
  expect((await scene.call('GET', `${replies(asked.id)}/trace`)).status).toBe(404)
  await scene.choose({})
})

verifies('contract-16.notes', 'attempts, turns and tool calls are notes, which no traffic counts', async () => {
  scene.up.next(says('Fine.'))
  const session = await scene.newSession()
  const traffic = async () => (await scene.call('GET', '/api/v1/debug/chart/traffic')).json
  await traffic()
  const visitsOf = ({ states }: { states: { id: string; visits: number }[] }) =>
    states.find(({ id }) => id === 'streaming.generating')?.visits ?? 0
  const before = visitsOf(await traffic())
  await scene.send(session, 'Hi.')
  const path = `/api/v1/debug/sessions/${session}/transitions`
  const all = (await scene.call('GET', path)).json
  const found = await notes(session)
  // One that is noted in two batches is there twice.
  expect([...new Set(found.transitions.map(({ event }: { event: string }) => event))]).toEqual(['attempt', 'model'])
  for (const { from, to, kind } of found.transitions) {
    expect([from, to, kind]).toEqual(['streaming.generating', 'streaming.generating', 'note'])
  }
  const others = (await scene.call('GET', `${path}?kind=transition`)).json
  expect([all.total, found.total, others.total]).toEqual([3 + found.transitions.length, found.transitions.length, 3])
  expect((await scene.call('GET', `${path}?kind=other`)).status).toBe(400)
  expect(visitsOf(await traffic())).toBe(before + 1)
  const stream = await openSse(`${scene.app.url}${path}/stream?kind=note`)
  const frames: Awaited<ReturnType<typeof stream.next>>[] = []
  for (const _ of found.transitions) frames.push(await stream.next())
  expect(frames.map((frame) => JSON.parse(frame?.data ?? ''))).toEqual(found.transitions)
  stream.leave()
})

verifies(
  'contract-16.trace-stream',
  'the trace is told at each change while the reply runs, and ends after settle',
  async () => {
    const next = scene.byHand()
    const session = await scene.newSession()
    const reply = await scene.stream(session, 'Slowly.')
    const call = await next
    const id = await newest(session)
    const stream = await openSse(`${scene.app.url}${replies(id)}/trace/stream`)
    const told = async (holds: (spans: Span[]) => boolean): Promise<Span[]> => {
      for (;;) {
        const frame = await stream.next()
        if (frame === null) throw new Error('the stream has ended')
        const { spans }: Trace = JSON.parse(frame.data)
        if (holds(spans)) return spans
      }
    }
    const running = await told((spans) => of(spans, 'attempt').length === 1)
    expect(running.map(({ kind, endMs, ok }) => [kind, endMs, ok])).toEqual([
      ['reply', null, null],
      ['model', null, null],
      ['attempt', null, null],
    ])
    await call.text('A')
    await told((spans) => of(spans, 'attempt')[0]?.detail.firstTokenMs !== null)
    await call.finish()
    await reply.rest()
    const { frames, broken } = await stream.rest()
    expect(broken).toBe(false)
    const last: Trace = JSON.parse(frames.at(-1)?.data ?? '')
    expect(last).toEqual(await trace(id))
    expect(last.spans.every(({ endMs }) => endMs !== null)).toBe(true)
    // One that is over is told once.
    const again = await (await openSse(`${scene.app.url}${replies(id)}/trace/stream`)).rest()
    expect(again.frames.map(({ data }) => JSON.parse(data))).toEqual([last])
  },
)

verifies('contract-16.trace', 'what runs when a reply is cancelled ends with it', async () => {
  const next = scene.byHand()
  const session = await scene.newSession()
  const stream = await scene.stream(session, 'Stop!')
  const call = await next
  await call.text('A')
  await scene.cancel(session)
  await stream.rest()
  const { spans } = await trace(await newest(session))
  expect(of(spans, 'attempt').map(({ endMs, ok, detail }) => [endMs, ok, detail.code])).toEqual([
    [expect.any(Number), false, null],
  ])
  expect(spans[0]).toMatchObject({ ok: true, detail: { finishReason: 'cancelled' } })
})

verifies(
  ['contract-16.trace', 'contract-16.requests'],
  'a decided call carries its decision, and the reply that goes on tells what its model was sent',
  async () => {
    await using server = await startToolServer(() => 'found after somebody was asked')
    await scene.choose({
      httpToolIds: [await scene.createTool({ name: 'ask_first', url: server.url })],
      approvals: ['*'],
    })
    const before = scene.up.calls.length
    scene.up.next(asks('Let me ask somebody. ', { id: 'c1', name: 'ask_first', arguments: '{}' }))
    const session = await scene.newSession()
    await scene.send(session, 'May you look at this?')
    const [waits] = (await scene.messages(session)).slice(-1)
    scene.up.next(says('Done.'))
    const decided = { decisions: [{ call_id: 'c1', decision: 'approve' }] }
    expect((await scene.call('POST', `${scene.sessions}/${session}/actions`, decided)).status).toBe(200)
    const id = await newest(session)
    expect(id).not.toBe(waits.id)
    expect(of((await trace(id)).spans, 'tool').map(({ name, ok, detail }) => [name, ok, detail.decision])).toEqual([
      ['ask_first', true, 'approve'],
    ])
    const bodies = await Promise.all(
      [waits.id, id].map(async (reply) => (await scene.call('GET', `${replies(reply)}/requests`)).json.requests),
    )
    const received = scene.up.calls.slice(before).map(({ body }) => body)
    expect(bodies.flat().map(({ body }: { body: unknown }) => body)).toEqual(received)
    expect(bodies.flat().map(({ left }: { left: unknown }) => left)).toEqual([
      { messages: 0, tokens: 0, reason: null },
      { messages: 0, tokens: 0, reason: null },
    ])
    await scene.choose({})
  },
)

verifies('contract-16.figures', 'a reply tells its model, tokens, times, attempts, overrides and prompt', async () => {
  scene.up.next((one) => one.error(500))
  scene.up.next(async (one) => {
    await one.text('Yes.')
    await one.finish('stop', { prompt_tokens: 3, completion_tokens: 2 }, true)
  })
  const configOverrides = { temperature: 0.5, model: 'other' }
  const stream = await scene.chat({ message: 'Really?', configOverrides })
  await stream.rest()
  const session = stream.headers.get('x-session-id') ?? ''
  const [asked, reply] = await scene.shown(session)
  expect(asked).not.toHaveProperty('usage')
  const [prompt] = await scene.app.sql`select id from prompts`
  expect(reply).toMatchObject({
    model: 'other',
    providerId: scene.providerId,
    usage: { promptTokens: 3, completionTokens: 2, estimated: false },
    firstTokenMs: expect.any(Number),
    durationMs: expect.any(Number),
    attempts: 2,
    overrides: configOverrides,
    prompt: { id: prompt?.id, name: 'p', sha256: '213c22ed7234eb11116e1e88f314c73cb3a019b5c87fe224b6ce5665bd9ec50e' },
  })
  expect(reply.firstTokenMs).toBeLessThanOrEqual(reply.durationMs)
  // The deploy wire knows nothing of it.
  expect((await scene.messages(session)).at(-1)).not.toHaveProperty('usage')
})

verifies(
  'contract-16.figures',
  'no token: firstTokenMs is null; a prompt of the request is no stored one',
  async () => {
    scene.up.next((one) => one.error(400))
    const stream = await scene.chat({ message: 'Fail.', configOverrides: { systemPrompt: 'You fail.' } })
    await stream.rest()
    const [, reply] = await scene.shown(stream.headers.get('x-session-id') ?? '')
    expect(reply).toMatchObject({
      firstTokenMs: null,
      attempts: 1,
      prompt: null,
      overrides: { systemPrompt: 'You fail.' },
    })
    expect(scene.up.calls.at(-1)?.body.messages[0]).toEqual({ role: 'system', content: 'You fail.' })
  },
)
