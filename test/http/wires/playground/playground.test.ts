/** Specification 4.13 and 6.2, contract section 5: the playground's sessions, its stream and its overrides. */
import { afterAll, expect } from 'vitest'
import { createAgent } from '../../../support/app.ts'
import { contentOf, openSse, type SseStream } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { isoUtc, nobody, openScene, uuid } from '../../scene.ts'

const scene = await openScene({ config: { temperature: 0.5, topP: 0.9 } })
afterAll(scene.close)
scene.says(['Fine.'])

const play = `${scene.agent}/playground`
const chat = (body: object): Promise<SseStream> => openSse(`${scene.app.url}${play}/chat`, body)
const create = async (title?: string): Promise<string> =>
  (await scene.call('POST', `${play}/sessions`, title === undefined ? {} : { title })).json.id
const read = async (id: string) => (await scene.call('GET', `${play}/sessions/${id}/messages`)).json.messages
const resume = (id: string, last?: number) => {
  const headers = last === undefined ? {} : { 'last-event-id': `${last}` }
  return openSse(`${scene.app.url}${play}/sessions/${id}/stream`, undefined, headers)
}
const numbered = (stream: SseStream) => stream.frames.filter(({ event }) => event === undefined)

verifies(
  ['contract-5.shapes', 'spec-4.13.playground'],
  'sessions are created with 201, listed newest first and deleted with 204',
  async () => {
    const made = await scene.call('POST', `${play}/sessions`, { title: 'Try' })
    expect(made.status).toBe(201)
    expect(made.json).toEqual({
      id: expect.stringMatching(uuid),
      agentId: scene.agentId,
      externalId: null,
      agentVersion: null,
      archived: false,
      title: 'Try',
      user: null,
      metadata: {},
      headId: null,
      forkedFrom: null,
      parent: null,
      pending: [],
      createdAt: expect.stringMatching(isoUtc),
      updatedAt: expect.stringMatching(isoUtc),
    })
    expect((await scene.call('POST', `${play}/sessions`)).json.title).toBeNull()
    const list = (await scene.call('GET', `${play}/sessions?limit=2`)).json
    expect(Object.keys(list).sort()).toEqual(['limit', 'offset', 'sessions', 'total'])
    expect(list.sessions[1]).toEqual(made.json)
    const searched = (await scene.call('GET', `${play}/sessions?q=tRY`)).json
    expect([searched.total, searched.sessions[0].id]).toEqual([1, made.json.id])
    expect(await scene.call('PATCH', `${play}/sessions/${made.json.id}`, { title: 'Tried' })).toMatchObject({
      status: 200,
      json: { ...made.json, title: 'Tried', updatedAt: expect.stringMatching(isoUtc) },
    })
    expect((await scene.call('PATCH', `${play}/sessions/${made.json.id}`, { title: null })).json.title).toBeNull()
    expect((await scene.call('PATCH', `${play}/sessions/${made.json.id}`, { title: 7 })).status).toBe(400)
    expect((await scene.call('PATCH', `${play}/sessions/${nobody}`, { title: 'x' })).status).toBe(404)
    expect((await scene.call('DELETE', `${play}/sessions/${made.json.id}`)).status).toBe(204)
    const again = await scene.call('DELETE', `${play}/sessions/${made.json.id}`)
    expect([again.status, again.json]).toEqual([404, { message: expect.any(String) }])
  },
)

verifies(['contract-5.shapes', 'spec-4.12.list'], 'they are the deploy API’s sessions, both ways', async () => {
  const id = await create()
  await scene.send(id, 'Through deploy')
  const other = await scene.newSession()
  await (await chat({ message: 'Through the playground', sessionId: other })).rest()
  expect((await read(id)).map(({ content }: { content: string }) => content)).toEqual(['Through deploy', 'Fine.'])
  expect((await scene.messages(other)).map(({ content }) => content)).toEqual(['Through the playground', 'Fine.'])
})

verifies(
  'contract-5.shapes',
  'messages have exactly these fields; a failed one carries code and the full words',
  async () => {
    const id = await create()
    await (await chat({ message: 'x', sessionId: id })).rest()
    scene.up.always((one) => one.error(401, { error: { message: 'the account is closed' } }))
    await (await chat({ message: 'y', sessionId: id })).rest()
    scene.says(['Fine.'])
    const common = {
      id: expect.stringMatching(uuid),
      sessionId: id,
      createdAt: expect.stringMatching(isoUtc),
      parentId: expect.toBeOneOf([null, expect.stringMatching(uuid)]),
      toolCalls: [],
    }
    const whole = { status: 'complete', finishReason: null, error: null }
    const messages = await read(id)
    const parents = [null, ...messages.map(({ id }: { id: string }) => id)].slice(0, 4)
    expect(messages.map(({ parentId }: { parentId: string }) => parentId)).toEqual(parents)
    const took = {
      providerId: scene.providerId,
      usage: { promptTokens: 1, completionTokens: 1, estimated: false },
      firstTokenMs: expect.any(Number),
      durationMs: expect.any(Number),
      attempts: 1,
      agentVersion: 1,
      overrides: null,
      prompt: null,
      refusal: null,
    }
    expect(messages).toEqual([
      { ...common, ...whole, role: 'user', content: 'x' },
      { ...common, ...whole, ...took, role: 'assistant', content: 'Fine.', finishReason: 'stop', model: 'test-model' },
      { ...common, ...whole, role: 'user', content: 'y' },
      {
        ...common,
        ...took,
        usage: { promptTokens: expect.any(Number), completionTokens: 0, estimated: true },
        firstTokenMs: null,
        role: 'assistant',
        model: 'test-model',
        content: '',
        status: 'error',
        finishReason: 'error',
        error: { code: 'provider_auth', message: expect.stringContaining('the account is closed') },
      },
    ])
  },
)

verifies(
  ['contract-5.stream', 'spec-6.2.playground-stream'],
  'completion frames have ids, named events have none and take no number',
  async () => {
    const next = scene.byHand()
    const stream = await chat({ message: 'x' })
    const id = stream.headers.get('x-session-id') ?? ''
    expect(id).toMatch(uuid)
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const up = await next
    await up.text('a')
    await up.finish()
    await stream.rest()
    scene.says(['Fine.'])

    expect(numbered(stream).map((frame) => frame.id)).toEqual(['1', '2', '3', '4'])
    expect(contentOf(stream.frames)).toBe('a')
    expect(stream.frames.at(-1)?.data).toBe('[DONE]')
    const states = stream.frames.filter(({ event }) => event === 'state')
    expect(states.map(({ data }) => JSON.parse(data))).toEqual(
      ['streaming.generating', 'streaming.settling', 'complete'].map((state) => ({
        state,
        at: expect.stringMatching(/Z$/),
      })),
    )
    // Byte by byte: a named event carries neither id nor more than these fields.
    const events = stream
      .raw()
      .split(/(?<=\n\n)/)
      .filter((part) => part.startsWith('event:'))
    for (const event of events) expect(event).toMatch(/^event: state\ndata: \{"state":"[a-z.]+","at":"[^"]+"\}\n\n$/)
    expect(events.length).toBe(states.length)

    // The deploy stream of the same reply has the numbered frames alone.
    const deploy = await scene.resume(id)
    await deploy.rest()
    expect(deploy.raw()).toBe(
      stream
        .raw()
        .split(/(?<=\n\n)/)
        .filter((part) => part.startsWith('id:'))
        .join(''),
    )
  },
)

verifies('contract-5.resume-cancel', 'every id resumes behind it, named events that lie there included', async () => {
  const next = scene.byHand()
  const stream = await chat({ message: 'x' })
  const id = stream.headers.get('x-session-id') ?? ''
  const up = await next
  for (const text of ['a', 'b']) {
    await up.text(text)
    while (!contentOf(stream.frames).endsWith(text)) await stream.next()
  }
  const live = await resume(id, 2)
  await up.finish()
  await Promise.all([stream.rest(), live.rest()])
  scene.says(['Fine.'])
  const parts = stream.raw().split(/(?<=\n\n)/)
  const behind = (last: number) => {
    const index = parts.findIndex((part) => part.startsWith(`id: ${last}\n`))
    return parts.slice(index + 1).join('')
  }
  expect(live.raw()).toBe(behind(2))
  for (const last of [undefined, 0, 1, 2, 3]) {
    const resumed = await resume(id, last)
    await resumed.rest()
    expect([last, resumed.raw()]).toEqual([last, behind(last ?? 0)])
  }
  const beyond = await resume(id, 99)
  await beyond.rest()
  expect(numbered(beyond).map((frame) => frame.id)).toEqual(['4', '5'])
})

verifies('contract-5.resume-cancel', 'cancel keeps what there is; the deploy key is never needed', async () => {
  const next = scene.byHand()
  const stream = await chat({ message: 'x' })
  const id = stream.headers.get('x-session-id') ?? ''
  const up = await next
  await up.text('Par')
  while (contentOf(stream.frames) === '') await stream.next()
  expect((await scene.call('POST', `${play}/sessions/${id}/cancel`)).status).toBe(204)
  await stream.rest()
  scene.says(['Fine.'])
  expect((await read(id)).at(-1)).toMatchObject({ content: 'Par', status: 'complete', finishReason: 'cancelled' })
  const states = stream.frames.filter(({ event }) => event === 'state').map(({ data }) => JSON.parse(data).state)
  expect(states.at(-1)).toBe('cancelled')
  expect((await scene.call('POST', `${play}/sessions/${id}/cancel`)).status).toBe(204)
})

verifies(
  ['contract-5.overrides', 'spec-2.13.playground-chat'],
  'overrides and model reach the provider for this request only',
  async () => {
    const id = await create()
    await (
      await chat({ message: 'x', sessionId: id, configOverrides: { model: 'other', temperature: 1.5, topP: null } })
    ).rest()
    expect(scene.up.calls.at(-1)?.body).toMatchObject({ model: 'other', temperature: 1.5, top_p: 0.9 })
    const overridden = (await resume(id)).next()
    expect(JSON.parse((await overridden)?.data ?? '{}').model).toBe('other')
    await (await chat({ message: 'y', sessionId: id, configOverrides: null })).rest()
    expect(scene.up.calls.at(-1)?.body).toMatchObject({ model: 'test-model', temperature: 0.5, top_p: 0.9 })
    const agent = (await scene.call('GET', scene.agent)).json
    expect([agent.model, agent.generationConfig]).toEqual(['test-model', { temperature: 0.5, topP: 0.9 }])
  },
)

verifies('contract-5.overrides', 'another provider answers when it is named', async () => {
  const { providerId } = await createAgent(scene.app)
  const calls = scene.up.calls.length
  const { frames } = await (await chat({ message: '/echo by demo', configOverrides: { providerId } })).rest()
  expect(contentOf(frames)).toBe('by demo')
  expect(scene.up.calls.length).toBe(calls)
})

verifies(
  ['contract-5.overrides', 'spec-4.13.playground'],
  'what it cannot take is 400 {message}, and makes no session',
  async () => {
    const total = async () => (await scene.call('GET', `${play}/sessions`)).json.total
    const before = await total()
    for (const body of [
      {},
      { message: '' },
      { message: 5 },
      { message: 'x', sessionId: 5 },
      { message: 'x', configOverrides: { providerId: nobody } },
      { message: 'x', configOverrides: { providerId: 'x' } },
      { message: 'x', configOverrides: { temperature: 3 } },
      { message: 'x', configOverrides: { topK: 0 } },
      { message: 'x', configOverrides: { maxToolCalls: 101 } },
      { message: 'x', configOverrides: { model: '' } },
      { message: 'x', configOverrides: [] },
      { message: 'x', httpToolIds: 'y' },
      { message: 'x', mcpServers: [{ toolNames: ['*'] }] },
    ]) {
      const { status, json } = await scene.call('POST', `${play}/chat`, body)
      expect([body, status, json]).toEqual([body, 400, { message: expect.any(String) }])
    }
    expect(await total()).toBe(before)
  },
)

verifies(
  'spec-4.13.playground',
  'unknown agents and sessions are 404 {message}; a running reply is 409; no reply yet is 204',
  async () => {
    const [{ agentId }, mine] = [await createAgent(scene.app), await create()]
    expect((await scene.call('GET', `${play}/sessions/${mine}/stream`)).status).toBe(204)
    for (const [method, path, body] of [
      ['GET', `/api/v1/agents/${nobody}/playground/sessions`, undefined],
      ['POST', `/api/v1/agents/${nobody}/playground/sessions`, {}],
      ['POST', `/api/v1/agents/${nobody}/playground/chat`, { message: 'x' }],
      ['POST', `${play}/chat`, { message: 'x', sessionId: nobody }],
      ['POST', `/api/v1/agents/${agentId}/playground/chat`, { message: 'x', sessionId: mine }],
      ['GET', `/api/v1/agents/${agentId}/playground/sessions/${mine}/messages`, undefined],
      ['GET', `/api/v1/agents/${agentId}/playground/sessions/${mine}/stream`, undefined],
      ['POST', `/api/v1/agents/${agentId}/playground/sessions/${mine}/cancel`, undefined],
      ['DELETE', `/api/v1/agents/${agentId}/playground/sessions/${mine}`, undefined],
      ['GET', `${play}/sessions/x/messages`, undefined],
    ] as const) {
      const { status, json } = await scene.call(method, path, body)
      expect([method, path, status, json]).toEqual([method, path, 404, { message: expect.any(String) }])
    }
    const next = scene.byHand()
    const stream = await chat({ message: 'x', sessionId: mine })
    const up = await next
    expect(await scene.call('POST', `${play}/chat`, { message: 'y', sessionId: mine })).toMatchObject({
      status: 409,
      json: { message: expect.any(String) },
    })
    await up.finish()
    await stream.rest()
  },
)
