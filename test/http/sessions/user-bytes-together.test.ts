/** Contract section 35: what requests that come together make the server keep for one user. */
import { randomUUID } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { afterAll, expect } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { verifies } from '../../verifies.ts'
import { call, openScene } from '../scene.ts'

const settings = { MAX_USER_BYTES: '3500', MAX_SESSION_BYTES: '100000' }
const scene = await openScene({ settings })
afterAll(scene.close)
scene.up.always(async (one) => {
  await one.text('Hi.')
  await one.finish()
})
const database = { url: scene.app.databaseUrl, sql: scene.app.sql, drop: async () => {} }
const there = await startTestApp({ settings, database })
afterAll(() => there.stop())

/** A thousand bytes: three of them are below the limit. */
const kilobyte = 'x'.repeat(1000)
const said = (content: string) => ({ messages: [{ role: 'user', content }] })

type Send = (method: string, path: string, body: unknown) => ReturnType<typeof call>
type Ids = { sessionId: string; replyId: string }
interface Way {
  /** Whether each request needs a session of its own, with a reply. */
  needs?: 'session' | 'reply'
  send(request: Send, user: string, ids: Ids): ReturnType<typeof call>
}

/** Every request that makes the server keep more for a user. */
const ways: Record<string, Way> = {
  message: {
    needs: 'session',
    send: (request, _, { sessionId }) => request('POST', `/sessions/${sessionId}/chat/completions`, said(kilobyte)),
  },
  'message that makes a session': {
    send: (request, user) =>
      request('POST', '/ai-sdk', {
        id: randomUUID(),
        messages: [{ role: 'user', parts: [{ type: 'text', text: kilobyte }] }],
        user,
      }),
  },
  response: { send: (request, user) => request('POST', '/responses', { input: kilobyte, safety_identifier: user }) },
  history: { send: (request, user) => request('POST', '/sessions', { user, ...said(kilobyte) }) },
  fork: {
    needs: 'session',
    send: (request, _, { sessionId }) =>
      request('POST', '/sessions', {
        fork_of: { session_id: sessionId },
        metadata: { a: kilobyte.slice(0, 500), b: kilobyte.slice(0, 500) },
      }),
  },
  metadata: {
    needs: 'session',
    send: (request, _, { sessionId }) =>
      request('PATCH', `/sessions/${sessionId}`, {
        metadata: { a: kilobyte.slice(0, 500), b: kilobyte.slice(0, 500) },
      }),
  },
  items: {
    needs: 'session',
    send: (request, _, { sessionId }) =>
      request('POST', `/conversations/${sessionId}/items`, {
        items: [{ type: 'message', role: 'user', content: kilobyte }],
      }),
  },
  comment: {
    needs: 'reply',
    send: (request, _, { sessionId, replyId }) =>
      request('PUT', `/sessions/${sessionId}/messages/${replyId}/feedback`, { score: 1, comment: kilobyte }),
  },
  file: {
    send(request, user) {
      const form = new FormData()
      form.set('purpose', 'user_data')
      form.set('user', user)
      form.set('file', new Blob([`${randomUUID()}${kilobyte.slice(36)}`], { type: 'text/plain' }), 'a.txt')
      return request('POST', '/files', form)
    },
  },
}

async function request(url: string, method: string, path: string, body: unknown) {
  const address = `${url}${scene.agent}/deploy${path}`
  if (!(body instanceof FormData)) return await call(address, method, body)
  const answer = await fetch(address, { method, body })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, json: JSON.parse(text) }
}

async function idsFor(user: string, needs: Way['needs']): Promise<Ids> {
  if (needs === undefined) return { sessionId: '', replyId: '' }
  const sessionId = (await scene.call('POST', scene.sessions, { user })).json.id
  if (needs === 'reply') await scene.call('POST', `${scene.sessions}/${sessionId}/chat/completions`, said('Hi'))
  const { messages } = (await scene.call('GET', `${scene.sessions}/${sessionId}/messages`)).json
  return { sessionId, replyId: messages.at(-1)?.id ?? '' }
}

/** Sends twelve requests of a user at once, in these ways in turn. Three of them have room. */
async function sendTogether(user: string, used: readonly Way[]): Promise<void> {
  const sent = Array.from({ length: 12 }, (_, n) => ({ n, way: used[n % used.length] as Way }))
  const ids = await Promise.all(sent.map(({ way }) => idsFor(user, way.needs)))
  const answers = await Promise.all(
    sent.map(({ n, way }) =>
      way.send((...asked) => request(n % 2 ? scene.app.url : there.url, ...asked), user, ids[n] as Ids),
    ),
  )
  const statuses = answers.map(({ status }) => status).sort()
  const refused = answers.filter(({ status }) => status === 413)
  expect([statuses.filter((status) => status < 300).length, refused.length, statuses]).toEqual([3, 9, statuses])
  for (const { text } of refused) expect(text).toContain('MAX_USER_BYTES')
}

const rule = 'contract-35.user-bytes-together'

for (const [name, way] of Object.entries(ways)) {
  verifies(rule, `${name}: no more pass than there is room for, on two instances`, () =>
    sendTogether(`of ${name}`, [way]),
  )
}

verifies(rule, 'in all ways at once: no more pass, and none waits for another one for ever', async () => {
  for (let n = 0; n < 3; n++) await sendTogether(`of all ${n}`, Object.values(ways))
})

verifies(rule, 'whatever judges the bytes of a user does so one after the other', () => {
  const judging = globSync('src/**/*.{sql,ts}').filter(
    (file) => !file.includes('/migrations/') && /\buser_bytes\(/.test(readFileSync(file, 'utf8')),
  )
  // The second one has user_full judge first, and so has its lock.
  const known = ['fork_session.sql', 'message_full.sql', 'user_bytes.sql', 'user_full.sql']
  expect(judging.map((file) => basename(file)).sort()).toEqual(known)
})
