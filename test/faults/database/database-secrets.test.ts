/** Contract section 11: while the database is away, what is known of secrets, revocations and origins counts. */
import { expect } from 'vitest'
import { bearer, say } from '../../features/users/access/front-door-scene.ts'
import { call } from '../../http/scene.ts'
import { verifies } from '../../verifies.ts'
import { openOutage } from './database-scene.ts'

const page = 'https://shop.example'

verifies(
  'contract-11.database-away',
  'who is refused stays refused, and who is not is told of the outage',
  async () => {
    await using scene = await openOutage({ OWNER_LEASE_MS: '60000' })
    const deploy = new URL('.', scene.sessions).href.replace(/\/$/, '')
    const agent = new URL('..', scene.sessions).href.replace(/\/$/, '')
    const secretOf = async (user: string): Promise<string> =>
      (await call(`${deploy}/client_secrets`, 'POST', { user })).json.value
    const [anna, ben, carla] = [await secretOf('anna'), await secretOf('ben'), await secretOf('carla')]
    const session = (await call(scene.sessions, 'POST', {}, bearer(anna))).json.id
    await call(agent, 'PUT', { allowedOrigins: [page] })
    await call(`${deploy}/users/ben/revoke`, 'POST')
    scene.upstream.always(async (one) => {
      await one.text('hello')
      await one.finish()
    })
    const url = `${scene.sessions}/${session}`
    expect((await call(`${url}/chat/completions`, 'POST', say('x'), bearer(anna))).status).toBe(200)

    scene.proxy.refuse()
    await expect.poll(async () => (await call(url, 'GET', undefined, bearer(anna))).status).toBe(503)
    const refused = async (token: string) => {
      const { status, json } = await call(url, 'GET', undefined, bearer(token))
      return [status, json.error.code]
    }
    expect(await refused(ben)).toEqual([401, 'token_revoked'])
    expect(await refused(`${anna}x`)).toEqual([401, 'invalid_api_key'])
    expect((await call(`${deploy}/chat/completions`, 'POST', say('x'), bearer(anna))).status).toBe(403)
    const asked = { origin: page, 'access-control-request-method': 'POST' }
    expect((await call(url, 'OPTIONS', undefined, asked)).status).toBe(204)
    const answer = await call(url, 'GET', undefined, { ...bearer(anna), origin: page })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([503, page])
    // Elsewhere, where the database is not away.
    await scene.app.sql`select revoke_user(agent_id, 'carla') from sessions`
    expect((await call(url, 'GET', undefined, bearer(carla))).status).toBe(503)

    scene.proxy.restore()
    await expect.poll(() => refused(carla)).toEqual([401, 'token_revoked'])
    expect((await call(url, 'GET', undefined, bearer(anna))).status).toBe(200)
  },
)
