/** Shared by the provider tests: one instance for each file, and requests for its providers. */
import { afterAll, beforeAll } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../../../support/database.ts'
import { type Options, type Server, secrets, startServer } from '../server.ts'

export const path = '/api/v1/settings/providers'
export const key = 'sk-live-0123456789-wxyz'

/** Call it once in each test file. */
export function openProviderScene(options: Pick<Options, 'testProvider'> = {}) {
  let db: FreshDatabase
  let server: Server
  beforeAll(async () => {
    db = await freshDatabase()
    server = await startServer({ sql: db.sql, ...options })
  })
  afterAll(async () => {
    await server.close()
    await db.drop()
  })

  let count = 0
  const call: Server['call'] = (...request) => server.call(...request)
  const create = (fields: object = {}) =>
    call('POST', path, { name: `Provider ${++count}`, providerType: 'openai', apiKey: key, ...fields })
  return {
    database: () => db,
    call,
    create,
    created: async (fields: object = {}) => (await create(fields)).json,
    update: (id: string, body: object) => call('PUT', `${path}/${id}`, body),
    async storedKey(id: string): Promise<string | null> {
      const [row] = await db.sql`select api_key from providers where id = ${id}`
      return row?.api_key === null ? null : secrets.open(String(row?.api_key), `provider:${id}`)
    },
  }
}
