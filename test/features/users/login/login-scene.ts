/** Shared by the login tests: instances on a new database for each test, and requests to them. */
import { afterEach, beforeEach } from 'vitest'
import { type Answer, type Options, type Server, startServer } from '../../../http/management/server.ts'
import { type FreshDatabase, freshDatabase } from '../../../support/database.ts'

export const credentials = [
  { username: 'ann', password: 'correct:horse' },
  { username: 'bob', password: 'battery staple' },
]

/** Call it once in each test file. */
export function openLoginScene() {
  let db: FreshDatabase
  const servers: Server[] = []
  beforeEach(async () => {
    db = await freshDatabase()
  })
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()))
    await db.drop()
  })

  /** On the database of this test. */
  async function startWith(options: Omit<Options, 'sql'>): Promise<Server> {
    const server = await startServer({ sql: db.sql, ...options })
    servers.push(server)
    return server
  }
  return {
    database: () => db,
    startWith,
    start: (options: Partial<Omit<Options, 'sql'>> = {}) =>
      startWith({ credentials, trustProxy: '127.0.0.1', ...options }),
  }
}

export const login = (server: Server, username: string, password: string, headers: Record<string, string> = {}) =>
  server.call('POST', '/api/auth/login', { username, password }, headers)
export const setCookies = ({ headers }: Answer): string[] => [headers['set-cookie'] ?? []].flat()
