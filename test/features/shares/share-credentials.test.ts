/** A share's token beside other credentials, its bounds, and its end while answers are sent (contract section 31). */
import { afterAll, expect } from 'vitest'
import { openScene } from '../../http/scene.ts'
import { openSse } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'

const KEY = 'deploy-key'
const scene = await openScene({ settings: { PUBLIC_API_KEY: KEY } })
afterAll(scene.close)

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const key = bearer(KEY)
const newSession = async (body: object = {}): Promise<string> =>
  (await scene.call('POST', scene.sessions, body, key)).json.id
const share = async (id: string, body: object = {}) =>
  (await scene.call('POST', `${scene.sessions}/${id}/shares`, body, key)).json
const streamOf = (id: string) => `${scene.sessions}/${id}/chat/completions/stream`
const follow = (id: string, token: string) => openSse(`${scene.app.url}${streamOf(id)}`, undefined, bearer(token))

/** A session with a reply that runs until `end`. */
async function running() {
  const id = await newSession()
  const hand = scene.byHand()
  const sent = scene.send(id, 'Go', {}, key)
  const call = await hand
  await call.text('Hel')
  return {
    id,
    async end() {
      await call.finish('stop')
      return await sent
    },
  }
}

verifies('contract-31.share-opens', 'in the address it counts for a request without another credential', async () => {
  const [id, other] = [await newSession(), await newSession()]
  const { token } = await share(id)
  const read = async (of: string, headers?: Record<string, string>) =>
    await scene.call('GET', `${scene.sessions}/${of}/messages?access_token=${token}`, undefined, headers)
  expect([(await read(id)).status, (await read(other)).status]).toEqual([200, 404])
  expect((await read(other, key)).status).toBe(200)
})

verifies('contract-31.share-opens', 'nothing that it opens may be stored on the way', async () => {
  const id = await newSession()
  const { token } = await share(id)
  const { status, headers } = await scene.call('GET', `${scene.sessions}/${id}/messages`, undefined, bearer(token))
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
})

verifies('contract-31.share-streams', 'a stream ends when its share expires', async () => {
  const { id, end } = await running()
  const { token, id: shareId } = await share(id, { live: true, expires_at: Math.floor(Date.now() / 1000) + 3600 })
  const following = await follow(id, token)
  while (!following.raw().includes('Hel')) await following.next()
  await scene.app.sql`update shares set expires_at = clock_timestamp() where id = ${shareId}`
  expect((await following.rest()).broken).toBe(true)
  expect(following.raw()).not.toContain('[DONE]')
  await end()
})

verifies('contract-31.share-streams', 'the 101st open stream of a share is 429', async () => {
  const { id, end } = await running()
  const { token } = await share(id, { live: true })
  const open = await Promise.all(Array.from({ length: 100 }, () => follow(id, token)))
  const { status, headers } = await scene.call('GET', streamOf(id), undefined, bearer(token))
  expect([status, headers.get('retry-after')]).toEqual([429, '5'])
  await end()
  for (const one of open) expect((await one.rest()).broken).toBe(false)
})

verifies('contract-31.share-secrets', 'the revocation of a user ends live shares as well', async () => {
  const [mine, others] = [await newSession({ user: 'bob' }), await newSession({ user: 'eve' })]
  const [live, kept] = [await share(mine, { live: true }), await share(others, { live: true })]
  await scene.call('POST', `${scene.agent}/deploy/users/bob/revoke`, undefined, key)
  const read = async (id: string, { token }: { token: string }) =>
    (await scene.call('GET', `${scene.sessions}/${id}/messages`, undefined, bearer(token))).status
  expect([await read(mine, live), await read(others, kept)]).toEqual([401, 200])
})
