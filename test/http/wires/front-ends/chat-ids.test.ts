/** Contract section 25, "Ids of front ends": chats and threads that are no UUIDs. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { bearer, DEPLOY_KEY, openFrontDoor, say } from '../../../features/users/access/front-door-scene.ts'
import { openSse, type SseStream } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { rest, userMessage } from '../../ui-scene.ts'

const door = await openFrontDoor()
afterAll(door.close)

const chatBody = (id: string, text: string, more: object = {}) => ({ id, messages: [userMessage(text)], ...more })
const runBody = (threadId: string, runId: string, text: string, more: object = {}) => ({
  threadId,
  runId,
  messages: [{ id: 'm', role: 'user', content: text }],
  ...more,
})
const chat = (token: string, body: object, app = door.here): Promise<SseStream> =>
  openSse(`${app.url}${door.deploy()}/ai-sdk`, body, bearer(token))
const run = (token: string, body: object): Promise<SseStream> =>
  openSse(`${door.here.url}${door.deploy()}/ag-ui`, body, bearer(token))

/** The agent's sessions of this external id, as the deploy key lists them. */
// biome-ignore lint/suspicious/noExplicitAny: what the server answers is what the tests look at
async function sessionsOf(externalId: string): Promise<any[]> {
  const path = `${door.deploy()}/sessions?external_id=${encodeURIComponent(externalId)}`
  const { json } = await door.asKey('GET', path)
  expect(json.total).toBe(json.sessions.length)
  return json.sessions
}

// What the AI SDK, assistant-ui and CopilotKit make up, and what could be mistaken for another path.
const ids = ['Vb3xUKPZoTAJmG6v', '__LOCALID_a1', 'thread of Jörg/2?x=1&y#z', '%2F', 'a/../b', '...', '🙂'.repeat(200)]

verifies(
  ['contract-25.ids-of-front-ends', 'contract-25.external-id'],
  'any string names a chat: the next message finds it, and so do its paths',
  async () => {
    for (const id of ids) {
      const secret = await door.secret('reader')
      door.says('one')
      await rest(await chat(secret, chatBody(id, 'first')))
      door.says('two')
      await rest(
        await chat(secret, chatBody(id, 'second', { messages: [userMessage('first'), userMessage('second')] })),
      )
      const [session, ...others] = await sessionsOf(id)
      expect([session, others]).toEqual([expect.objectContaining({ external_id: id, user: 'reader' }), []])
      const path = `${door.deploy()}/ai-sdk/${encodeURIComponent(id)}`
      const { json } = await door.as(secret, 'GET', `${path}/messages`)
      expect([id, json.messages.map((one: { parts: { text?: string }[] }) => one.parts.at(-1)?.text)]).toEqual([
        id,
        ['first', 'one', 'second', 'two'],
      ])
      expect((await door.as(secret, 'GET', `${path}/stream`)).status).toBe(204)
      expect((await door.as(secret, 'DELETE', `${path}/stream`)).status).toBe(204)
    }
  },
)

verifies('contract-25.ids-of-front-ends', 'the running reply is followed and stopped under such an id', async () => {
  const secret = await door.secret('stopper')
  const next = door.byHand()
  const stream = await chat(secret, chatBody('to stop', 'go'))
  const up = await next
  await up.text('some')
  while (!stream.raw().includes('some')) await stream.next()
  const path = `${door.deploy()}/ai-sdk/${encodeURIComponent('to stop')}/stream`
  const follower = await openSse(`${door.there.url}${path}`, undefined, bearer(secret))
  expect((await door.as(secret, 'DELETE', path, undefined, door.there)).status).toBe(204)
  await rest(stream)
  await rest(follower)
  expect(follower.raw()).toBe(stream.raw())
})

verifies(
  'contract-25.ids-of-front-ends',
  'one string is a session for each user, nobody’s counts as one, and events carry what was sent',
  async () => {
    const id = 'main'
    const [ada, bob] = [await door.secret('ada'), await door.secret('bob')]
    door.says('yes')
    await rest(await chat(ada, chatBody(id, 'of Ada')))
    await rest(await run(bob, runBody(id, 'r1', 'of Bob')))
    await rest(await chat(DEPLOY_KEY, chatBody(id, 'of nobody')))
    // The key speaks for Ada: her session goes on.
    await rest(await chat(DEPLOY_KEY, chatBody(id, 'for Ada', { user: 'ada' })))
    const forNobody = await run(DEPLOY_KEY, runBody(id, 'r2', 'for nobody', { forwardedProps: { theme: 'dark' } }))
    const events = await rest(forNobody)
    expect([events[0], events.at(-1)]).toEqual([
      expect.objectContaining({ type: 'RUN_STARTED', threadId: id }),
      expect.objectContaining({ type: 'RUN_FINISHED', threadId: id }),
    ])
    const forCy = runBody(id, 'r3', 'for Cy', { forwardedProps: { user: 'cy' } })
    await rest(await run(DEPLOY_KEY, forCy))
    const sessions = await sessionsOf(id)
    expect(new Set(sessions.map(({ user }) => user))).toEqual(new Set(['ada', 'bob', null, 'cy']))
    const read = async (user: string) => {
      const { json } = await door.asKey('GET', `${door.deploy()}/ai-sdk/${id}/messages${user}`)
      return json.messages.length
    }
    expect([await read(''), await read('?user=ada'), await read('?user=bob'), await read('?user=eve')]).toEqual([
      4, 4, 2, 0,
    ])
    // A secret speaks for its own user alone.
    const refused = await door.as(ada, 'POST', `${door.deploy()}/ai-sdk`, chatBody(id, 'x', { user: 'bob' }))
    expect([refused.status, refused.json]).toEqual([403, { error: expect.stringContaining('user') }])
  },
)

verifies('contract-25.ids-of-front-ends', 'a named user’s session is no other’s, by its UUID either', async () => {
  const id = randomUUID()
  door.says('yes')
  await rest(await chat(DEPLOY_KEY, chatBody(id, 'one', { user: 'ada' })))
  const { json } = await door.asKey('GET', `${door.deploy()}/sessions/${id}`)
  expect(json).toMatchObject({ id, user: 'ada', external_id: null })
  const answer = await door.asKey('POST', `${door.deploy()}/ai-sdk`, chatBody(id, 'two', { user: 'bob' }))
  expect(answer.status).toBe(404)
  await rest(await chat(DEPLOY_KEY, chatBody(id, 'two')))
})

verifies('contract-25.ids-of-front-ends', 'two first messages of one chat make one session', async () => {
  const secret = await door.secret('twice')
  door.says('yes')
  const streams = await Promise.all([
    chat(secret, chatBody('raced', 'one')),
    chat(secret, chatBody('raced', 'two'), door.there),
    chat(secret, chatBody('raced', 'three')),
    chat(secret, chatBody('raced', 'four'), door.there),
  ])
  await Promise.all(streams.map((stream) => stream.rest()))
  expect(await sessionsOf('raced')).toHaveLength(1)
})

verifies('contract-25.ids-of-front-ends', 'what can be no id is 400, in bodies and paths', async () => {
  const secret = await door.secret('reader')
  for (const id of ['', '.', '..', 'a\nb', 'a\u007fb', 'x'.repeat(201), '🙂'.repeat(201)]) {
    const body = await door.as(secret, 'POST', `${door.deploy()}/ai-sdk`, chatBody(id, 'x'))
    const thread = await door.as(secret, 'POST', `${door.deploy()}/ag-ui`, runBody(id, 'r', 'x'))
    expect([id, body.status, body.json.error.message, thread.status, thread.json.error.message]).toEqual([
      id,
      400,
      expect.stringMatching(/^id: /),
      400,
      expect.stringMatching(/^threadId: /),
    ])
  }
  const long = await door.as(secret, 'GET', `${door.deploy()}/ai-sdk/${'x'.repeat(201)}/messages`)
  expect([long.status, long.json.error.message]).toEqual([400, expect.stringMatching(/^session_id: /)])
})

verifies(
  'contract-25.ids-of-front-ends',
  'a secret for one session opens it under its id, and makes no other',
  async () => {
    const all = await door.secret('narrow')
    door.says('yes')
    await rest(await chat(all, chatBody('open', 'one')))
    await rest(await chat(all, chatBody('shut', 'one')))
    const [session] = await sessionsOf('open')
    const one = await door.secret('narrow', { session_id: session.id })
    await rest(await chat(one, chatBody('open', 'two')))
    for (const id of ['shut', 'new']) {
      expect((await door.as(one, 'POST', `${door.deploy()}/ai-sdk`, chatBody(id, 'x'))).status).toBe(404)
      expect((await door.as(one, 'GET', `${door.deploy()}/ai-sdk/${id}/messages`)).json.messages).toEqual([])
    }
  },
)

verifies(
  'contract-25.external-id',
  'sessions are created with one; taken is 409, a UUID 400; forks have none',
  async () => {
    const sessions = `${door.deploy()}/sessions`
    const made = await door.asKey('POST', sessions, { external_id: 'ticket 7', user: 'ada' })
    expect([made.status, made.json]).toEqual([201, expect.objectContaining({ external_id: 'ticket 7' })])
    const again = await door.asKey('POST', sessions, { external_id: 'ticket 7', user: 'ada' })
    expect([again.status, again.json.error]).toEqual([409, expect.stringMatching(/^external_id: /)])
    expect((await door.asKey('POST', sessions, { external_id: 'ticket 7' })).status).toBe(201)
    expect((await door.asKey('POST', sessions, { external_id: 'ticket 7', user: null })).status).toBe(409)
    const other = await door.newAgent()
    expect((await door.asKey('POST', `${door.deploy(other)}/sessions`, { external_id: 'ticket 7' })).status).toBe(201)
    for (const external_id of [randomUUID(), '', '..', 'x'.repeat(201), 7]) {
      const { status, json } = await door.asKey('POST', sessions, { external_id })
      expect([external_id, status, json.error.message]).toEqual([
        external_id,
        400,
        expect.stringMatching(/^external_id: /),
      ])
    }
    const fork = { session_id: made.json.id }
    const forked = await door.asKey('POST', sessions, { fork_of: fork })
    expect([forked.status, forked.json.external_id]).toEqual([201, null])
    expect((await door.asKey('POST', sessions, { fork_of: fork, external_id: 'mine' })).status).toBe(400)
    // What a backend has made is the chat of the page.
    door.says('yes')
    await rest(await chat(await door.secret('ada'), chatBody('ticket 7', 'go')))
    const { json } = await door.asKey('GET', `${sessions}/${made.json.id}/messages`)
    expect(json.messages).toHaveLength(2)
    const plain = await door.asKey('POST', `${sessions}/${made.json.id}/chat/completions`, say('again'))
    expect(plain.status).toBe(200)
  },
)
