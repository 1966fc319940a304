/** Contract section 11, on the paths of section 12: a revoked user's streams and sessions there, and a busy database. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { userMessage } from '../../../http/ui-scene.ts'
import type { TestApp } from '../../../support/app.ts'
import { openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { bearer, openFrontDoor } from './front-door-scene.ts'

// A statement that waits for a lock gives up after a third of a lease: later than these tests do.
const scene = await openFrontDoor({ settings: { OWNER_LEASE_MS: '150000' } })
afterAll(scene.close)

const aiSdk = `${scene.deploy()}/ai-sdk`
const agUi = `${scene.deploy()}/ag-ui`
const chat = (id: string) => ({ id, messages: [userMessage('hi')], trigger: 'submit-message' })
const run = (threadId: string) => ({
  threadId,
  runId: randomUUID(),
  state: {},
  tools: [],
  context: [],
  forwardedProps: {},
  messages: [{ id: 'from-the-page', role: 'user', content: 'hi' }],
})
const open = (app: TestApp, path: string, token: string, body?: object) =>
  openSse(`${app.url}${path}`, body, bearer(token))
const revoke = (user: string) => scene.asKey('POST', `${scene.deploy()}/users/${user}/revoke`)

verifies(
  'contract-11.revoke',
  'streams of the AI SDK and AG-UI end without a last part, on every instance',
  async () => {
    const secret = await scene.secret('streams')
    const [first, second] = [randomUUID(), randomUUID()]
    const streams = []
    for (const [path, body] of [
      [aiSdk, chat(first)],
      [agUi, run(second)],
    ] as const) {
      const playing = scene.byHand()
      const stream = await open(scene.here, path, secret, body)
      await (await playing).text('seen')
      streams.push(stream)
    }
    streams.push(await open(scene.there, `${aiSdk}/${first}/stream`, secret))
    for (const stream of streams) while (!stream.raw().includes('seen')) await stream.next()
    expect((await revoke('streams')).status).toBe(204)
    for (const stream of streams) {
      const { frames, broken } = await stream.rest()
      expect(broken).toBe(true)
      expect(frames.map(({ data }) => data).join()).not.toMatch(/DONE|finish"|FINISHED|error/i)
    }
    const running = await scene.sql`select 1 from messages where status = 'streaming'`
    expect(running, 'the replies run on').toHaveLength(2)
  },
)

verifies(
  'contract-11.delete-user',
  'a revoked secret makes no session by a message, on an instance that has not heard of it',
  async () => {
    scene.says('an answer')
    for (let round = 0; round < 3; round++) {
      const user = `by-message-${round}`
      const secret = await scene.secret(user)
      const before = [chat(randomUUID()), chat(randomUUID())]
      for (const body of before) await scene.as(secret, 'POST', aiSdk, body, scene.there)
      const deleting = scene.asKey('DELETE', `${scene.deploy()}/users/${user}`)
      const meanwhile = Promise.allSettled(
        // A stream that began before the revocation is cut by it.
        Array.from({ length: 6 }, (_, n) =>
          n % 2 === 0
            ? scene.as(secret, 'POST', aiSdk, chat(randomUUID()), scene.there)
            : scene.as(secret, 'POST', agUi, run(randomUUID()), scene.there),
        ),
      )
      expect((await deleting).status).toBe(204)
      const late = await Promise.all([
        scene.as(secret, 'POST', aiSdk, chat(randomUUID()), scene.there),
        scene.as(secret, 'POST', agUi, run(randomUUID()), scene.there),
        // Its session was deleted: it is not made anew either.
        scene.as(secret, 'POST', aiSdk, before[0], scene.there),
      ])
      expect(late.map(({ status }) => status)).toEqual([401, 401, 401])
      await meanwhile
      expect(await scene.sql`select 1 from sessions where end_user = ${user}`).toHaveLength(0)
    }
  },
)

verifies('contract-11.revoke', 'a table that is locked keeps no instance from hearing of it', async () => {
  const secret = await scene.secret('locked')
  // Forbidden to secrets, and read from no table that is locked here.
  const models = (app: TestApp) => scene.as(secret, 'GET', `${scene.deploy()}/models`, undefined, app)
  await scene.sql.begin(async (tx) => {
    // What waits for it: intents, orphans, lost replies, all on the pool that reads revocations.
    await tx`lock table messages, intents in access exclusive mode`
    await expect
      .poll(async () => (await tx`select 1 from pg_stat_activity where wait_event_type = 'Lock'`).length)
      .toBeGreaterThan(1)
    expect((await revoke('locked')).status).toBe(204)
    for (const app of [scene.here, scene.there]) await expect.poll(async () => (await models(app)).status).toBe(401)
  })
})
