/** Client secrets that expire while the client works (contract section 11), against the product. */
import { afterAll, expect } from 'vitest'
import { ApiError, createClient, ReplyError } from '../../packages/client/src/index.ts'
import { openFrontDoor } from '../features/users/access/front-door-scene.ts'
import { startProxy } from '../support/network/proxy.ts'
import { verifies } from '../verifies.ts'
import { eventsOf, hurried, textOf } from './scene.ts'

const scene = await openFrontDoor({ instances: 1 })
const proxy = await startProxy(scene.here.url)
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await scene.close()
})

const short = () => scene.secret('ann', { expires_after: { anchor: 'created_at', seconds: 10 } })
const isExpired = async (token: string, path: string) => (await scene.as(token, 'GET', path)).json?.error?.code

verifies(
  'contract-11.client',
  'a secret that expires in the middle of a reply is renewed, also when the page hands out the old one once more',
  async () => {
    const old = await short()
    const given = [old, old, await scene.secret('ann')]
    const asked: string[] = []
    const token = async () => {
      const next = given[Math.min(asked.length, given.length - 1)] ?? ''
      asked.push(next)
      return next
    }
    const client = createClient({ baseUrl: proxy.url, token, reconnect: hurried })
    const session = client.agent(scene.agentId).session()
    const playing = scene.byHand()
    const reply = session.send('hi')
    const reading = eventsOf(reply)
    const provider = await playing
    await provider.text('before')
    await expect.poll(() => isExpired(old, `${scene.deploy()}/sessions`)).toBe('token_expired')
    proxy.drop()
    await provider.text(' and after')
    await provider.finish()
    const { events, error } = await reading
    expect([textOf(events), error]).toEqual(['before and after', null])
    expect(asked).toEqual(given)
    scene.says('Once more.')
    expect(await session.send('again').text()).toBe('Once more.')
    expect(asked).toHaveLength(3)
    expect((await session.record()).user).toBe('ann')
  },
)

verifies('contract-11.client', 'a revoked secret is an error, and the next request asks for another', async () => {
  let asked = 0
  const token = async () => {
    asked += 1
    return await scene.secret('ben')
  }
  const client = createClient({ baseUrl: scene.here.url, token, reconnect: hurried })
  const agent = client.agent(scene.agentId)
  expect((await agent.sessions()).total).toBe(0)
  await scene.asKey('POST', `${scene.deploy()}/users/ben/revoke`)
  const refusal = await agent.sessions().catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(ApiError)
  expect(refusal).toMatchObject({ status: 401, code: 'token_revoked' })
  expect((await agent.sessions()).total).toBe(0)
  expect(asked).toBe(2)
})

verifies('contract-11.client', 'a foreign session is a 404, read or followed', async () => {
  const client = createClient({ baseUrl: scene.here.url, token: () => scene.secret('cleo'), reconnect: hurried })
  const session = client.agent(scene.agentId).session(await scene.session('ann'))
  await expect(session.messages()).rejects.toMatchObject({ status: 404 })
  const { error } = await eventsOf(session.send('x'))
  expect(error).toMatchObject({ status: 404 })
  expect(error).not.toBeInstanceOf(ReplyError)
})
