/** A network that breaks: each event comes once, in order, whatever is cut and whenever. */
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, expect, test, vi } from 'vitest'
import { ConnectionError } from '../../packages/client/src/index.ts'
import { endSharedApps } from '../support/app.ts'
import { fakeWaits } from '../support/fake-waits.ts'
import { seededRandom } from '../support/random.ts'
import { verifies } from '../verifies.ts'
import { deafProxy, eventsOf, openClientScene, textOf } from './scene.ts'

beforeAll(endSharedApps)

const scene = await openClientScene({ settings: {} })
const { agent, proxy, up } = scene

/** Answers with so many words, one after the other. */
function talks(words: number, everyMs: number): void {
  up.always(async (call) => {
    for (let n = 0; n < words && !call.abandoned; n++) {
      await call.text(`${call.number}.${n} é🙂 `)
      await pause(everyMs)
    }
    await call.finish()
  })
}

verifies(
  ['contract-4.resume', 'contract-4.idempotency'],
  'thirty replies over connections that are cut at random: the text is the stored one, each event comes once',
  async () => {
    const random = seededRandom('client')
    talks(60, 4)
    const stopping = new AbortController()
    let cuts = 0
    let seen = 0
    const cutting = (async () => {
      while (!stopping.signal.aborted) {
        await pause(random() * 120)
        if (proxy.pieces - seen < 10) continue // on a busy machine nothing would ever come through
        seen = proxy.pieces
        proxy.drop()
        cuts += 1
      }
    })()
    const sessions = Array.from({ length: 10 }, () => agent.session())
    for (const session of sessions) while (session.id === null) await session.create().catch(() => undefined)
    try {
      for (let turn = 1; turn <= 3; turn++) {
        await Promise.all(
          sessions.map(async (session) => {
            const reply = session.send(`question ${turn}`)
            const { events, error } = await eventsOf(reply)
            expect(error).toBeNull()
            expect(events.map(({ type }) => type)).toEqual([
              'started',
              ...events.slice(1, -1).map(() => 'text'),
              'finished',
            ])
            const stored = await scene.messages(session.id ?? '')
            expect(stored).toHaveLength(2 * turn)
            expect(stored.at(-1)).toMatchObject({ id: reply.messageId, status: 'complete', content: textOf(events) })
            expect(textOf(events)).toMatch(/59 é🙂 $/)
          }),
        )
      }
    } finally {
      stopping.abort()
      await cutting
    }
    expect(cuts).toBeGreaterThan(5)
    expect(up.calls.length, 'no message was taken twice').toBe(30)
  },
)

verifies(
  'contract-4.idempotency',
  'an answer that is lost: the message is sent again and finds its reply',
  async () => {
    scene.says(['once ', 'only'])
    await using deaf = await deafProxy(scene.app.url)
    const { session: sessionOf } = scene.clientFor({ baseUrl: deaf.url }).agent(scene.agentId)
    const session = sessionOf(await scene.newSession())
    const before = up.calls.length
    const reply = session.send('hello')
    await up.call(before + 1)
    deaf.fail()
    expect(await reply.text()).toBe('once only')
    expect(up.calls.length).toBe(before + 1)
    expect(await session.messages()).toMatchObject([{ content: 'hello' }, { content: 'once only' }])
  },
)

test('the same key from another process joins the reply', async () => {
  const next = scene.byHand()
  const id = await scene.newSession()
  const first = agent.session(id).send('hello', { idempotencyKey: 'mine' })
  const call = await next
  await call.text('shared ')
  const second = scene.clientFor().agent(scene.agentId).session(id).send('hello', { idempotencyKey: 'mine' })
  await call.text('words')
  await call.finish()
  expect([await first.text(), await second.text()]).toEqual(['shared words', 'shared words'])
  expect(first.messageId).toBe(second.messageId)
})

test('what was said while nobody was connected, and the session has a newer reply: the rest comes from storage', async () => {
  const next = scene.byHand()
  const session = agent.session(await scene.newSession())
  const states: string[] = []
  const reply = session.send('first', {
    onConnection: (state) => void states.push(state),
    reconnect: { wait: () => gate.promise },
  })
  const gate = Promise.withResolvers<void>()
  const call = await next
  await call.text('begun, ')
  const events = reply[Symbol.asyncIterator]()
  expect((await events.next()).value).toMatchObject({ type: 'started' })
  expect((await events.next()).value).toEqual({ type: 'text', text: 'begun, ' })
  proxy.drop()
  const third = events.next()
  await expect.poll(() => states).toEqual(['open', 'lost'])
  await call.text('and ended')
  await call.finish()
  await expect.poll(async () => (await scene.messages(session.id ?? '')).at(-1).status).toBe('complete')
  scene.says(['newer'])
  await scene.send(session.id ?? '', 'second')
  gate.resolve()
  expect((await third).value).toEqual({ type: 'text', text: 'and ended' })
  expect((await events.next()).value).toEqual({ type: 'finished', reason: 'stop', usage: null })
  expect((await events.next()).done).toBe(true)
  expect(await reply.text()).toBe('begun, and ended')

  const late = session.resume(reply.messageId, reply.lastEventId)
  await expect(late.text()).rejects.toMatchObject({ name: 'ReplyError', code: 'superseded' })
  expect(await session.resume(reply.messageId).text()).toBe('begun, and ended')
  expect(await session.resume().text()).toBe('newer')
})

test('a loop that was left goes on where it was, and from another process behind an id', async () => {
  scene.says(['one ', 'two ', 'three'])
  const session = agent.session(await scene.newSession())
  const reply = session.send('count')
  let read = ''
  for await (const event of reply) {
    if (event.type === 'text') read += event.text
    if (read !== '') break
  }
  const rest = session.resume(reply.messageId, reply.lastEventId)
  expect(read + (await rest.text())).toBe('one two three')
  expect(read + textOf((await eventsOf(reply)).events)).toBe('one two three')
  expect(await reply.message()).toMatchObject({ id: reply.messageId, content: 'one two three', finish_reason: 'stop' })
  expect((await eventsOf(reply)).events).toEqual([])
})

test('a server that stays away is given up, and read on from when it is back', async () => {
  const next = scene.byHand()
  const session = scene
    .clientFor({ reconnect: { firstWaitMs: 10, giveUpAfterMs: 150 } })
    .agent(scene.agentId)
    .session(await scene.newSession())
  const reply = session.send('hello')
  const call = await next
  await call.text('before ')
  const events = reply[Symbol.asyncIterator]()
  await events.next()
  await events.next()
  const gate = Promise.withResolvers<void>()
  // Connections stand, and are cut before a byte comes.
  proxy.gate = gate.promise
  const dropping = setInterval(proxy.drop, 5)
  try {
    proxy.drop()
    await expect(events.next()).rejects.toThrow(ConnectionError)
  } finally {
    clearInterval(dropping)
    gate.resolve()
    proxy.gate = Promise.resolve()
  }
  await call.text('after')
  await call.finish()
  expect(await reply.text()).toBe('before after')
})

test('nobody listens: a clear error, and nothing to wait for', async () => {
  const client = scene.clientFor({ baseUrl: 'http://127.0.0.1:9', reconnect: { giveUpAfterMs: 0 } })
  await expect(client.GET('/api/v1/agents')).rejects.toMatchObject({ name: 'ConnectionError', code: 'connection_lost' })
  await expect(client.agent(scene.agentId).session(crypto.randomUUID()).send('x').text()).rejects.toThrow(
    'The server cannot be reached.',
  )
})

test('a server that is full is asked again when it said so, and its own words come when it stays full', async () => {
  const answers = [503, 503, 200]
  const asked: number[] = []
  const client = scene.clientFor({
    reconnect: { firstWaitMs: 1 },
    async fetch(url, init) {
      if (init.method !== 'POST') return fetch(url, init)
      const status = answers.shift() ?? 503
      asked.push(status)
      if (status === 200) return fetch(url, init)
      return Response.json({ error: 'Too many replies run.' }, { status, headers: { 'retry-after': '0' } })
    },
  })
  scene.says(['at last'])
  const session = client.agent(scene.agentId).session(await scene.newSession())
  expect(await session.send('hello').text()).toBe('at last')
  expect(asked).toEqual([503, 503, 200])
  const refused = session.send('again', { reconnect: { firstWaitMs: 1, giveUpAfterMs: 20 } })
  await expect(refused.text()).rejects.toMatchObject({
    name: 'ApiError',
    status: 503,
    message: 'Too many replies run.',
  })
})

test('silence: no answer within its time, or 45 s without a comment, and the server is asked again', async () => {
  await using deaf = await deafProxy(scene.app.url)
  const next = scene.byHand()
  const states: string[] = []
  const { session: sessionOf } = scene.clientFor({ baseUrl: deaf.url }).agent(scene.agentId)
  const session = sessionOf(await scene.newSession())
  const realTimers = fakeWaits((ms) => ms >= 20_000) // the client's own
  try {
    const reply = session.send('hello', {
      onConnection: (state) => void states.push(state),
      reconnect: { answerWithinMs: 20_000, wait: async () => undefined },
    })
    const call = await next
    deaf.holdAnswers = false
    await vi.advanceTimersByTimeAsync(20_000)
    await call.text('heard ')
    const events = reply[Symbol.asyncIterator]()
    expect([(await events.next()).value, (await events.next()).value]).toMatchObject([{}, { text: 'heard ' }])
    expect(states).toEqual(['lost', 'open'])
    const third = events.next()
    await vi.advanceTimersByTimeAsync(30_000)
    expect(states).toEqual(['lost', 'open'])
    await vi.advanceTimersByTimeAsync(15_000)
    await call.text('again')
    expect((await third).value).toEqual({ type: 'text', text: 'again' })
    expect(states).toEqual(['lost', 'open', 'lost', 'open'])
    await call.finish()
    expect((await events.next()).value).toMatchObject({ type: 'finished' })
  } finally {
    realTimers()
  }
})

verifies(
  'contract-25.client-creation',
  'the answer to a creation is lost: one session is made, and the first message sent',
  async () => {
    const count = async () => (await scene.call('GET', scene.sessions)).json.total
    const before = await count()
    talks(1, 1)
    await using deaf = await deafProxy(scene.app.url)
    const session = scene.clientFor({ baseUrl: deaf.url }).agent(scene.agentId).session()
    const reply = session.send('The very first one')
    // It is made there, and its client knows nothing of it.
    await expect.poll(count).toBe(before + 1)
    deaf.fail()
    expect(await reply.text()).toContain('.0 é🙂')
    expect(await scene.messages(session.id ?? '')).toHaveLength(2)
    expect(await count()).toBe(before + 1)
  },
)

verifies('contract-25.client-creation', 'an id that another session has is refused, at once', async () => {
  const id = await scene.newSession()
  await expect(agent.session(null, { id }).create()).rejects.toMatchObject({ status: 409 })
  expect(agent.session().id).toBeNull()
})
