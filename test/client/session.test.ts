/** What a program does with a session besides reading: cancel, interrupt, abort, delete; and what it is told. */
import { expect, test } from 'vitest'
import { ApiError, ReplyError, type ReplyEvent } from '../../packages/client/src/index.ts'
import { createAgent } from '../support/app.ts'
import { verifies } from '../verifies.ts'
import { deafProxy, eventsOf, openClientScene, textOf } from './scene.ts'

const scene = await openClientScene()
const { agent, client, proxy } = scene

/** A reply that has begun to speak, and the call that speaks it. */
async function begunReply(options: Parameters<ReturnType<typeof agent.session>['send']>[1] = {}) {
  const next = scene.byHand()
  const session = agent.session(await scene.newSession())
  const reply = session.send('hello', options)
  const call = await next
  await call.text('begun')
  const events = reply[Symbol.asyncIterator]()
  await events.next()
  await events.next()
  return { session, reply, events, call }
}

test('a first message makes the session, with its title', async () => {
  scene.says(['hi'])
  const session = agent.session(null, { title: 'Made by hand' })
  expect(session.id).toBeNull()
  expect(await session.messages()).toEqual([])
  expect(await session.resume().text()).toBe('')
  expect(await session.send('hello').text()).toBe('hi')
  const read = await client.GET('/api/v1/agents/{agent_id}/deploy/sessions/{session_id}', {
    params: { path: { agent_id: scene.agentId, session_id: session.id ?? '' } },
  })
  expect(read.title).toBe('Made by hand')
})

test('a caller that gives up takes no session from those who wait for the same one', async () => {
  const deaf = await deafProxy(scene.app.url)
  const session = scene.clientFor({ baseUrl: deaf.url }).agent(scene.agentId).session()
  const leaving = new AbortController()
  const first = session.create(leaving.signal)
  const second = session.create()
  leaving.abort(new Error('left'))
  await expect(first).rejects.toThrow('left')
  deaf.holdAnswers = false
  expect(await second).toBe(session.id)
  await deaf[Symbol.asyncDispose]()
})

test('an agent is named by its id or by the path of its deploy API, and by nothing else', async () => {
  scene.says(['hi'])
  expect(await client.agent(`/api/v1/agents/${scene.agentId}/deploy`).session().send('hello').text()).toBe('hi')
  expect(() => client.agent('https://elsewhere.example/api/v1/agents/x/deploy')).toThrow(TypeError)
})

test('a message goes out at once, whether or not its reply is read', async () => {
  const next = scene.byHand()
  agent.session().send('nobody reads this')
  const call = await next
  expect(call.body.messages.at(-1).content).toBe('nobody reads this')
  await call.finish()
})

verifies('contract-4.cancel', 'cancel: what was said stays, the stream ends, the stored message tells', async () => {
  const { reply, session, events } = await begunReply()
  await reply.cancel()
  await events.return?.()
  expect(await reply.text()).toBe('begun')
  expect(await reply.message()).toMatchObject({ content: 'begun', status: 'complete', finish_reason: 'cancelled' })
  await session.cancel()
})

verifies('contract-4.busy', 'a second message while one runs: 409 in the server’s words, nothing stored', async () => {
  const { session, reply, events: begun } = await begunReply()
  const refused = session.send('too early')
  const { events, error } = await eventsOf(refused)
  expect(events).toEqual([])
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ status: 409, message: 'A reply is running in this session.', passes: false })
  await refused.cancel()
  expect(await session.messages(), 'the other reply is not cancelled').toMatchObject([{}, { status: 'streaming' }])
  scene.says(['instead'])
  expect(await session.send('now', { onBusy: 'interrupt' }).text()).toBe('instead')
  await begun.return?.()
  expect(await reply.message()).toMatchObject({ finish_reason: 'cancelled' })
})

test('an abort ends the reading with its reason; the reply goes on', async () => {
  const leaving = new AbortController()
  const { session, reply, events, call } = await begunReply({ signal: leaving.signal })
  const next = events.next()
  leaving.abort(new Error('the user has left'))
  await expect(next).rejects.toThrow('the user has left')
  await expect(reply.text()).rejects.toThrow('the user has left')
  await call.text(' and ended')
  await call.finish()
  expect(await session.resume(reply.messageId).text()).toBe('begun and ended')
})

verifies('contract-4.delete', 'a session that is deleted: read live, and after a break', async () => {
  const { session, events } = await begunReply()
  await session.delete()
  await expect(events.next()).rejects.toMatchObject({ code: 'session_deleted', text: 'begun', type: 'server_error' })

  const gate = Promise.withResolvers<void>()
  const broken = await begunReply({ reconnect: { wait: () => gate.promise } })
  proxy.drop()
  const next = broken.events.next()
  await scene.call('DELETE', `${scene.sessions}/${broken.session.id}`)
  gate.resolve()
  await expect(next).rejects.toMatchObject({ name: 'ReplyError', code: 'session_deleted', text: 'begun' })
  await expect(broken.reply.message()).rejects.toMatchObject({ code: 'session_deleted' })
  await expect(broken.session.resume().text()).rejects.toMatchObject({ name: 'ApiError', status: 404 })
})

test('a provider that fails: its error, with what was said before, and the stored message', async () => {
  const { reply, events, call } = await begunReply()
  call.reset()
  const failure: unknown = await events.next().catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(ReplyError)
  expect(failure).toMatchObject({ code: 'provider_error', param: null, messageId: reply.messageId, text: 'begun' })
  await expect(reply.text()).rejects.toBe(failure)
  expect(await reply.message()).toMatchObject({ status: 'error', finish_reason: 'error', content: 'begun' })
})

test('one reader at a time', async () => {
  const { reply, call, events } = await begunReply()
  const next = events.next()
  await expect(reply.text()).rejects.toThrow('already being read')
  await call.finish()
  expect((await next).value).toMatchObject({ type: 'finished', reason: 'stop' })
  expect(await Promise.all([reply.text(), reply.message()])).toMatchObject(['begun', { content: 'begun' }])
})

test('tokens come with the last event when they are asked for', async () => {
  scene.says(['hi'], { usage: { prompt_tokens: 7, completion_tokens: 2 } })
  const { events } = await eventsOf(agent.session().send('hello', { usage: true }))
  expect(events.at(-1)).toEqual({
    type: 'finished',
    reason: 'stop',
    usage: { promptTokens: 7, completionTokens: 2, totalTokens: 9 },
  })
})

verifies(
  ['contract-5.tool-events', 'contract-5.resume-cancel', 'contract-5.overrides'],
  'the playground: tool calls come once over a connection cut at each event, other settings hold for one reply',
  async () => {
    const { agentId } = await createAgent(scene.app)
    const session = client.playground(agentId).session()
    const reply = session.send('/tool current_time {"timeZone":"Europe/Rome"}', {
      builtInToolIds: ['current_time'],
      overrides: { model: 'other-model' },
    })
    const events = []
    for await (const event of reply) {
      events.push(event)
      proxy.drop()
    }
    const kinds = events.map(({ type }) => type).filter((type) => type !== 'text')
    expect(kinds).toEqual(['started', 'tool_call', 'tool_result', 'finished'])
    expect(events[0]).toMatchObject({ type: 'started', model: 'other-model' })
    expect(events.find(({ type }) => type === 'tool_call')).toMatchObject({ name: 'current_time' })
    expect(events.find(({ type }) => type === 'tool_result')).toMatchObject({ ok: true })
    const message = await reply.message()
    expect(message.content).toBe(textOf(events))
    expect(message.toolCalls).toMatchObject([{ name: 'current_time', ok: true }])

    const slow = session.send('/slow 600')
    const words = slow[Symbol.asyncIterator]()
    await words.next()
    await words.next()
    await slow.cancel()
    const rest = []
    for (let step = await words.next(); !step.done; step = await words.next()) rest.push(step.value)
    expect(rest.at(-1)).toMatchObject({ type: 'finished', reason: 'cancelled' })
    await session.delete()
  },
)

verifies('contract-5.tool-events', 'a break behind a tool call: the call and its result come once', async () => {
  const asked = scene.byHand()
  const events: ReplyEvent[] = []
  const connection: string[] = []
  const session = client.playground(scene.agentId).session()
  const reply = session.send('look', {
    builtInToolIds: ['current_time'],
    onConnection: (state) => void connection.push(state),
  })
  const reading = (async () => {
    for await (const event of reply) events.push(event)
  })()
  const call = await asked
  const askedAgain = scene.byHand()
  await call.toolCall({ id: 'c1', name: 'current_time', arguments: '{}' })
  await call.finish('tool_calls')
  const second = await askedAgain
  await expect.poll(() => events.at(-1)?.type).toBe('tool_result')
  for (const states of [
    ['open', 'lost', 'open'],
    ['open', 'lost', 'open', 'lost', 'open'],
  ]) {
    proxy.drop()
    await expect.poll(() => connection).toEqual(states)
  }
  await second.text('It is late.')
  await second.finish()
  await reading
  expect(events.map(({ type }) => type)).toEqual(['started', 'tool_call', 'tool_result', 'text', 'finished'])
})

test('in the playground, too, a message whose answer is lost is sent again and stored once', async () => {
  const { agentId } = await createAgent(scene.app)
  for (const isNew of [false, true]) {
    await using deaf = await deafProxy(scene.app.url)
    const given = isNew ? undefined : await client.playground(agentId).session().create()
    const session = scene.clientFor({ baseUrl: deaf.url }).playground(agentId).session(given)
    const words = session.send('/echo once').text()
    const stored = () =>
      scene.app.sql`select m.id from messages m join sessions s on s.id = m.session_id where s.agent_id = ${agentId}`
    const before = isNew ? 2 : 0
    await expect.poll(async () => (await stored()).length).toBe(before + 2)
    deaf.fail()
    expect(await words).toContain('once')
    expect(await stored()).toHaveLength(before + 2)
    expect(await session.messages()).toHaveLength(2)
  }
})
