/** Specification 2.10 to 2.12, 4.11 and 6.1, contract section 3: stateless completions as their callers see them. */
import { afterAll, expect } from 'vitest'
import { refusedRequest } from '../../../support/network/refused-request.ts'
import { verifies } from '../../../verifies.ts'
import { nobody, openScene, storedMessages } from '../../scene.ts'

const scene = await openScene({ system: 'Be brief.' })
afterAll(scene.close)

const hello = [{ role: 'user', content: 'Hello' }]
const chatId = /^chatcmpl-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

verifies(['spec-2.11.completion', 'contract-3.ids'], 'a whole completion has exactly these fields', async () => {
  scene.says(['Hi ', 'there'], { usage: { prompt_tokens: 7, completion_tokens: 2 } })
  const before = Math.floor(Date.now() / 1000)
  const { status, headers, json } = await scene.stateless(hello)
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(json).toEqual({
    id: expect.stringMatching(chatId),
    object: 'chat.completion',
    created: expect.any(Number),
    model: 'test-model',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi there' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
  })
  expect(Number.isInteger(json.created)).toBe(true)
  expect(json.created).toBeGreaterThanOrEqual(before)
  expect(json.created).toBeLessThanOrEqual(Date.now() / 1000)
})

verifies(
  ['spec-6.1.order', 'spec-2.12.chunk', 'contract-3.headers', 'contract-3.ids'],
  'a stream is role, content, finish and [DONE], byte by byte, without ids',
  async () => {
    const next = scene.byHand()
    const stream = await scene.statelessStream('Hello')
    const role = await stream.next()
    const up = await next
    await up.text('He"y\n')
    await stream.next()
    await up.text('😀')
    await stream.next()
    await up.finish()
    expect((await stream.rest()).broken).toBe(false)

    expect(stream.status).toBe(200)
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(stream.headers.get('cache-control')).toBe('no-cache, no-transform')
    expect(stream.headers.get('x-accel-buffering')).toBe('no')
    const { id, created } = JSON.parse(role?.data ?? '')
    expect(id).toMatch(chatId)
    const chunk = (delta: string, reason: string) =>
      `data: {"id":"${id}","created":${created},"model":"test-model","object":"chat.completion.chunk","choices":[{"index":0,"delta":${delta},"finish_reason":${reason}}]}\n\n`
    expect(stream.raw()).toBe(
      chunk('{"role":"assistant"}', 'null') +
        chunk('{"content":"He\\"y\\n"}', 'null') +
        chunk('{"content":"😀"}', 'null') +
        chunk('{}', '"stop"') +
        'data: [DONE]\n\n',
    )
  },
)

verifies('contract-3.usage-chunk', 'the usage chunk comes before [DONE], and only when it was asked for', async () => {
  scene.says(['a'], { usage: { prompt_tokens: 3, completion_tokens: 1 } })
  const plain = await (await scene.statelessStream('x')).rest()
  expect(plain.frames.map(({ data }) => data).join()).not.toContain('usage')
  const asked = await (await scene.statelessStream('x', { stream_options: { include_usage: true } })).rest()
  expect(asked.frames.at(-1)?.data).toBe('[DONE]')
  const chunk = JSON.parse(asked.frames.at(-2)?.data ?? '')
  expect(chunk).toMatchObject({ object: 'chat.completion.chunk', model: 'test-model' })
  expect([chunk.choices, chunk.usage]).toEqual([[], { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 }])
  expect(JSON.parse(asked.frames.at(-3)?.data ?? '').choices[0].finish_reason).toBe('stop')
  for (const stream_options of [null, {}, { include_usage: false }, { include_usage: null }]) {
    const { status, frames } = await scene.statelessStream('x', { stream_options }).then(async (stream) => ({
      status: stream.status,
      frames: (await stream.rest()).frames,
    }))
    expect([stream_options, status, frames.length]).toEqual([stream_options, 200, 4])
  }
})

verifies('contract-3.usage-chunk', 'a provider that reports no usage is estimated for', async () => {
  scene.says(['one two three four'], { usage: null })
  const { usage } = (await scene.stateless(hello)).json
  expect(usage.prompt_tokens).toBeGreaterThan(0)
  expect(usage.completion_tokens).toBeGreaterThan(0)
  expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens)
})

verifies('spec-4.11.stateless', 'the model gets the system prompt, then the whole history as it was sent', async () => {
  scene.says(['ok'])
  const messages = [
    { role: 'user', content: 'One' },
    { role: 'assistant', content: 'Two' },
    { role: 'user', content: 'Three' },
  ]
  await scene.stateless(messages)
  expect(scene.up.calls.at(-1)?.body.messages).toEqual([{ role: 'system', content: 'Be brief.' }, ...messages])
})

verifies('contract-3.request', 'text parts are joined, other fields are ignored', async () => {
  scene.says(['ok'])
  const parts = [
    { type: 'text', text: 'a' },
    { type: 'text', text: ' b' },
    { type: 'text', text: '' },
  ]
  const extra = {
    model: 'gpt-x',
    temperature: 9,
    user: 'u',
    stream: false,
    metadata: { a: null },
    on_busy: 7,
  }
  const { status, json } = await scene.stateless([{ role: 'user', name: 'n', content: parts }], extra)
  expect([status, json?.model]).toEqual([200, 'test-model'])
  const { body } = scene.up.calls.at(-1) ?? {}
  expect(body.messages.at(-1)).toEqual({ role: 'user', content: 'a b' })
  expect([body.model, body.temperature, body.tools, body.user]).toEqual(['test-model', undefined, undefined, undefined])
})

verifies(
  ['spec-4.11.stateless', 'contract-3.request', 'spec-7.1.errors', 'spec-2.10.request'],
  'what it cannot take is 400 {error}',
  async () => {
    const bad: [unknown, RegExp][] = [
      [[], /messages/],
      [undefined, /messages/],
      [null, /messages/],
      ['hello', /messages/],
      [
        [{ role: 'system', content: 'x' }, ...hello],
        /messages\.0\.role.*The agent has the system prompt; leave it out, or set callerInstructions\./,
      ],
      [[...hello, { role: 'system', content: 'x' }], /messages\.1\.role/],
      [[{ role: 'developer', content: 'x' }, ...hello], /messages\.0\.role.*callerInstructions/],
      [[{ role: 'tool', content: 'x' }], /tool_call_id/],
      [[{ role: 'User', content: 'x' }], /role/],
      [[{ role: 'constructor', content: 'x' }], /role/],
      [[{ content: 'x' }], /role/],
      [[{ role: 'user' }], /content/],
      [[{ role: 'user', content: null }], /content/],
      [[{ role: 'user', content: 5 }], /content/],
      [[{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }], /messages\.0\.content/],
      [[{ role: 'user', content: [{ type: 'text' }] }], /content/],
      [[{ role: 'user', content: ['x'] }], /content/],
      [[null], /messages/],
    ]
    const calls = scene.up.calls.length
    for (const [messages, why] of bad) {
      const answer = await scene.stateless(messages)
      expect([messages, answer.status, answer.json]).toEqual([messages, 400, refusedRequest(why)])
    }
    for (const stream of ['true', 1, {}]) expect((await scene.stateless(hello, { stream })).status).toBe(400)
    expect(scene.up.calls.length).toBe(calls)
  },
)

verifies(['spec-4.11.stateless', 'spec-7.1.errors'], 'an unknown agent is 404 {error}, streamed or not', async () => {
  for (const id of [nobody, 'x', '%00', `${scene.agentId}0`]) {
    for (const stream of [false, true]) {
      const answer = await scene.call('POST', `/api/v1/agents/${id}/deploy/chat/completions`, {
        messages: hello,
        stream,
      })
      expect([id, answer.status, answer.json]).toEqual([id, 404, { error: expect.any(String) }])
    }
  }
})

verifies('spec-4.11.stateless', 'nothing of it is stored', async () => {
  scene.says(['ok'])
  const before = await storedMessages(scene.app)
  await scene.stateless(hello)
  await (await scene.statelessStream('x')).rest()
  expect(await storedMessages(scene.app)).toBe(before)
  expect((await scene.call('GET', scene.sessions)).json.total).toBe(0)
})

verifies(
  'contract-3.stateless-disconnect',
  'a client that waits for the whole and leaves stops the provider call, before any text too',
  async () => {
    const next = scene.byHand()
    const controller = new AbortController()
    const waiting = fetch(`${scene.app.url}${scene.agent}/deploy/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: hello }),
      signal: controller.signal,
    }).catch(() => 'left')
    const up = await next
    controller.abort()
    expect(await waiting).toBe('left')
    await up.closed
    expect(up.abandoned).toBe(true)
  },
)

verifies('contract-3.finish-reason', 'length and content_filter are told as the provider says them', async () => {
  for (const reason of ['length', 'content_filter', 'stop']) {
    scene.says(['ab'], { reason })
    const { choices } = (await scene.stateless(hello)).json
    expect(choices).toEqual([{ index: 0, message: { role: 'assistant', content: 'ab' }, finish_reason: reason }])
    const { frames } = await (await scene.statelessStream('x')).rest()
    expect(JSON.parse(frames.at(-2)?.data ?? '').choices).toEqual([{ index: 0, delta: {}, finish_reason: reason }])
  }
})
