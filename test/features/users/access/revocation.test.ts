/** Contract section 11: a user's secrets are revoked, on every instance, while replies run on. */
import { afterAll, expect } from 'vitest'
import { call, nobody } from '../../../http/scene.ts'
import type { TestApp } from '../../../support/app.ts'
import { openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { bearer, DEPLOY_KEY, openFrontDoor, say } from './front-door-scene.ts'

const scene = await openFrontDoor()
afterAll(scene.close)

const everywhere = [scene.here, scene.there]
const revoke = (user: string, app: TestApp = scene.here, agent?: string) =>
  scene.asKey('POST', `${scene.deploy(agent)}/users/${encodeURIComponent(user)}/revoke`, undefined, app)
const list = (secret: string, app: TestApp = scene.here) =>
  scene.as(secret, 'GET', `${scene.deploy()}/sessions`, undefined, app)
const revoked = {
  error: { message: expect.any(String), type: 'invalid_request_error', code: 'token_revoked' },
}

/** A user of its own: tests share the agent. */
let users = 0
const newUser = () => `user ${++users}/ä`

verifies(
  'contract-11.revoke',
  'every secret made until then is refused on every instance, later ones are good',
  async () => {
    const user = newUser()
    const old = [await scene.secret(user), await scene.secret(user, { expires_after: { seconds: 7200 } })]
    const [other, elsewhere] = [await scene.secret(newUser()), await scene.newAgent()]
    const sameName = await scene.secret(user, {}, elsewhere)
    expect((await revoke(user, scene.there)).status).toBe(204)
    const later = await scene.secret(user)
    for (const app of everywhere) {
      await expect.poll(async () => (await list(old[0] ?? '', app)).status).toBe(401)
      for (const secret of old) {
        const answer = await list(secret, app)
        expect([answer.status, answer.json]).toEqual([401, revoked])
      }
      expect((await list(later, app)).status).toBe(200)
      expect((await list(other, app)).status).toBe(200)
      const path = `${scene.deploy(elsewhere)}/sessions`
      expect((await scene.as(sameName, 'GET', path, undefined, app)).status).toBe(200)
    }
    expect((await revoke(user)).status).toBe(204)
    expect((await list(later)).status).toBe(401) // where it was revoked: at once
  },
)

verifies('contract-11.revoke', 'neither clock counts: a number of the database decides', async () => {
  const user = newUser()
  const [before] = [await scene.secret(user)]
  await revoke(user)
  // As an instance would have made it whose clock is an hour behind.
  await scene.sql`update revocations set revoked_at = clock_timestamp() + interval '1 hour' where end_user = ${user}`
  expect((await list(await scene.secret(user))).status).toBe(200)
  expect((await list(before)).status).toBe(401)
})

verifies('contract-11.revoke', 'an instance that starts later refuses it too', async () => {
  const user = newUser()
  const secret = await scene.secret(user)
  await revoke(user)
  await using late = await scene.another()
  expect((await list(secret, late)).json).toEqual(revoked)
})

verifies(
  'contract-11.revoke',
  'a revocation that commits late, behind one with a higher number, is not missed',
  async () => {
    const [slow, quick] = [newUser(), newUser()]
    const [one, two] = [await scene.secret(slow), await scene.secret(quick)]
    await scene.sql.begin(async (tx) => {
      await tx`select revoke_user(${scene.agentId}, ${slow})`
      await revoke(quick)
      await expect.poll(async () => (await list(two, scene.there)).status).toBe(401)
      expect((await list(one, scene.there)).status).toBe(200)
    })
    await expect.poll(async () => (await list(one, scene.there)).status).toBe(401)
  },
)

verifies(
  'contract-11.revoke',
  'open streams end without a last frame, on every instance; the reply runs on',
  async () => {
    const user = newUser()
    const secret = await scene.secret(user)
    const session = await scene.session(user)
    const playing = scene.byHand()
    const started = await scene.stream(secret, session)
    const provider = await playing
    await provider.text('seen')
    await started.next()
    await started.next()
    const follow = (app: TestApp, headers: Record<string, string>, query = '') =>
      openSse(`${app.url}${scene.deploy()}/sessions/${session}/chat/completions/stream${query}`, undefined, headers)
    const resumed = [await follow(scene.here, bearer(secret)), await follow(scene.there, {}, `?access_token=${secret}`)]
    for (const one of resumed) await one.next()
    const backend = await follow(scene.there, bearer(DEPLOY_KEY))
    expect((await revoke(user)).status).toBe(204)
    for (const one of [started, ...resumed]) {
      const { frames, broken } = await one.rest()
      expect(broken).toBe(true)
      expect(frames.every(({ data }) => data !== '[DONE]' && !data.includes('error'))).toBe(true)
    }
    await provider.text(' unseen')
    await provider.finish()
    const { frames, broken } = await backend.rest()
    expect([broken, frames.at(-1)?.data]).toEqual([false, '[DONE]'])
    const { json } = await scene.asKey('GET', `${scene.deploy()}/sessions/${session}/messages`)
    expect(json.messages.at(-1)).toMatchObject({ content: 'seen unseen', status: 'complete', finish_reason: 'stop' })
  },
)

verifies('contract-11.revoke', 'a completion without streaming ends with 401, its reply runs on', async () => {
  const user = newUser()
  const secret = await scene.secret(user)
  for (const app of everywhere) {
    const session = await scene.session(user)
    const token = app === scene.here ? secret : await scene.secret(user)
    const playing = scene.byHand()
    const waiting = scene.as(token, 'POST', `${scene.deploy()}/sessions/${session}/chat/completions`, say('x'), app)
    const provider = await playing
    await provider.text('all of it')
    await revoke(user)
    const answer = await waiting
    expect([answer.status, answer.json]).toEqual([401, revoked])
    await provider.finish()
    await expect
      .poll(async () =>
        (await scene.asKey('GET', `${scene.deploy()}/sessions/${session}/messages`)).json.messages.at(-1),
      )
      .toMatchObject({ content: 'all of it', status: 'complete' })
  }
})

verifies(
  'contract-11.revoke',
  'an unknown agent is 404, a user who has none is 204, a name that cannot be is 400',
  async () => {
    for (const agent of [nobody, 'no-uuid']) expect((await revoke('x', scene.here, agent)).status).toBe(404)
    expect((await revoke('never seen')).status).toBe(204)
    for (const user of ['a\0b', 'x'.repeat(201)]) expect((await revoke(user)).status).toBe(400)
  },
)

verifies(
  'contract-11.refusals',
  'a revoked secret gets 401 before 403, 404 and 400, whatever it asks for',
  async () => {
    const user = newUser()
    const secret = await scene.secret(user)
    await revoke(user)
    for (const [method, path, body] of [
      ['POST', `${scene.deploy()}/client_secrets`, { user }],
      ['POST', `${scene.deploy()}/chat/completions`, '{broken'],
      ['GET', `${scene.deploy()}/sessions/${nobody}`, undefined],
      ['GET', `${scene.deploy()}/nothing`, undefined],
    ] as const) {
      expect((await call(`${scene.here.url}${path}`, method, body, bearer(secret))).json).toEqual(revoked)
    }
  },
)
