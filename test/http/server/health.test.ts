/** Probes: specification 4.1, contract sections 1 and 2. */
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { health } from '../../../openapi/operations/operators/health.ts'
import { healthHandlers } from '../../../src/http/server/health.ts'
import { mount } from '../../../src/http/server/mount.ts'
import { createDatabaseCheck } from '../../../src/persistence/postgres/embedded/disk.ts'
import { patient, startTestApp } from '../../support/app.ts'
import { freshDatabase } from '../../support/database.ts'
import { verifies } from '../../verifies.ts'

async function ask(path: string, ping: () => Promise<void>, draining = false, isOff = false) {
  const app = Fastify()
  mount(
    app,
    health,
    healthHandlers({ ping, draining: () => draining, cache: () => 'disabled', clock: { isOff: () => isOff } }),
  )
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const answer = await fetch(`${url}${path}`)
  const json = await answer.json()
  await app.close()
  return { status: answer.status, json }
}

const down = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.1:5432'))

test('/livez is 200 whatever the database does', async () => {
  expect(await ask('/livez', down, true)).toEqual({ status: 200, json: { status: 'ok' } })
})

test('/readyz is 200 while the database answers', async () => {
  expect(await ask('/readyz', async () => {})).toEqual({
    status: 200,
    json: { status: 'ready', checks: { database: 'ok', cache: 'disabled' } },
  })
})

test('/readyz is 200 and says so where the clock is off', async () => {
  expect(await ask('/readyz', async () => {}, false, true)).toEqual({
    status: 200,
    json: { status: 'ready', checks: { database: 'ok', cache: 'disabled', clock: 'off' } },
  })
})

test('/readyz is 503 with a message while the database is down', async () => {
  expect(await ask('/readyz', down)).toEqual({
    status: 503,
    json: {
      status: 'not_ready',
      checks: { database: 'down', cache: 'disabled' },
      message: expect.not.stringContaining('10.0.0.1'),
    },
  })
})

test('/readyz is 503 and says why while the disk of the database is full', async () => {
  const full = () => Promise.reject(Object.assign(new Error('could not write to file'), { code: '53100' }))
  expect(await ask('/readyz', full)).toEqual({
    status: 503,
    json: {
      status: 'not_ready',
      checks: { database: 'down', cache: 'disabled' },
      message: 'The disk of the database is full.',
    },
  })
})

verifies('contract-25.read-only-database', '/readyz is 503 and says what to do', async () => {
  const refuse = () => Promise.reject(Object.assign(new Error('read-only'), { code: '25006' }))
  expect(await ask('/readyz', refuse)).toMatchObject({
    status: 503,
    json: { checks: { database: 'down' }, message: expect.stringContaining('DATABASE_URL') },
  })
})

test('the check of /readyz allocates disk space, at most once per interval', async () => {
  const database = await freshDatabase({ version: 18 })
  try {
    const files = async () => {
      await database.sql`select pg_stat_force_next_flush()`
      const [row] =
        await database.sql`select temp_files::integer as n from pg_stat_database where datname = current_database()`
      return row?.n
    }
    const check = createDatabaseCheck(database.sql, 60_000)
    await check()
    await check()
    await expect.poll(files).toBe(1)
  } finally {
    await database.drop()
  }
})

test('/readyz is 200 while lists that wait for a lock hold every connection that requests have', async () => {
  await using app = await startTestApp({ settings: patient })
  const locked = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const lock = app.sql.begin(async (tx) => {
    await tx`lock table prompts`
    locked.resolve()
    await over.promise
  })
  await locked.promise
  const lists = Array.from({ length: 7 }, () => fetch(`${app.url}/api/v1/prompts`))
  const waiting = async () =>
    (await app.sql`select 1 from pg_locks where relation = 'prompts'::regclass and not granted`).length
  await expect.poll(waiting).toBe(6)
  expect((await fetch(`${app.url}/readyz`)).status).toBe(200)
  over.resolve()
  await lock
  await Promise.all(lists)
})

test('/readyz is 503 during a drain', async () => {
  expect(await ask('/readyz', async () => {}, true)).toEqual({
    status: 503,
    json: { status: 'not_ready', checks: { database: 'ok', cache: 'disabled' }, message: expect.any(String) },
  })
})

test('/readyz does not wait for an unresponsive database', async () => {
  const answer = await ask('/readyz', () => new Promise(() => {}))
  expect(answer).toMatchObject({ status: 503, json: { checks: { database: 'down' } } })
})
