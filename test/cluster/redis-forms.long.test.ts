/** The forms of CACHE_URL (contract section 1), each with a whole product that reports the state of its cache. */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { startProduct } from '../support/programs/product.ts'
import { startCluster, startRedis, startSentinel } from '../support/programs/redis.ts'
import { verifies } from '../verifies.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database?.drop())

const password = 'se:cret/@%'
const forms = {
  'a password': async () => ({ server: await startRedis({ password }), env: {} }),
  async 'TLS, under a certificate of its own'() {
    const server = await startRedis({ password, tls: true })
    return { server, env: { NODE_EXTRA_CA_CERTS: server.caFile ?? '' } }
  },
  Sentinels: async () => ({ server: await startSentinel({ password: 'secret' }), env: {} }),
  'a cluster': async () => ({ server: await startCluster({ password: 'secret' }), env: {} }),
}

describe('with', () => {
  for (const [what, start] of Object.entries(forms)) {
    verifies('contract-1.cache', `${what}: readiness is ok`, async () => {
      const { server, env } = await start()
      await using _ = server
      const more = { CACHE_PROVIDER: 'valkey', CACHE_URL: server.url.replace('redis', 'valkey'), SECRET_KEY: 'k' }
      await using product = await startProduct({ direct: true, env: { DATABASE_URL: database.url, ...more, ...env } })
      const cache = async () => Object(await (await fetch(`${product.url}/readyz`)).json()).checks?.cache
      await expect.poll(cache).toBe('ok')
      expect((await product.stop()).code).toBe(0)
    })
  }
})
