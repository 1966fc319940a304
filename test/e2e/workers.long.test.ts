/** WORKERS: several processes on one port, each a separate instance (contract section 1). */
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { afterEach, beforeEach, expect } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { startUpstream, type Upstream } from '../support/network/upstream.ts'
import type { Product } from '../support/programs/product.ts'
import {
  addAgent,
  launchProduct,
  messagesOf,
  newSession,
  postJson,
  signalUntilGone,
  startProduct,
} from '../support/programs/product.ts'
import { contentOf, openSse, type SseStream } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'

let up: Upstream
let database: FreshDatabase

beforeEach(async ({ task }) => {
  up = await startUpstream()
  // The first test's workers make the tables, at the same time.
  database = await freshDatabase({ empty: task === task.file.tasks[0] })
})
afterEach(async () => {
  await up.close()
  await database.drop()
})

const environment = (): Record<string, string> => ({
  DATABASE_URL: database.url,
  SECRET_KEY: 'the-same-for-all',
  WORKERS: '2',
  OWNER_LEASE_MS: '6000',
  DRAIN_TIMEOUT_S: '180',
})

const start = (env: Record<string, string> = {}): Promise<Product> =>
  startProduct({ direct: true, env: { ...environment(), ...env } })

const say = (content: string) => ({ messages: [{ role: 'user', content }], stream: true })
const clean = { code: 0, signal: null }

/** Each reply sends `so far`, waits for the promise, and ends. */
const replies = (until: Promise<unknown>) =>
  up.always(async (call) => {
    await call.text('so far')
    await Promise.race([until, call.closed])
    if (call.abandoned) return
    await call.text(', and the end')
    await call.finish()
  })

interface Running {
  session: string
  stream: SseStream
}

/** At least six replies on separate connections, some on each worker; their first text has arrived. */
async function running(url: string, agent: string): Promise<Running[]> {
  const all: Running[] = []
  // The first worker awake accepts; how soon the other is awake is undefined.
  for (let round = 0; round < 50 && new Set((await owners()).values()).size < 2; round++) {
    all.push(...(await begin(url, agent)))
  }
  return all
}

function begin(url: string, agent: string): Promise<Running[]> {
  return Promise.all(
    Array.from({ length: 6 }, async () => {
      const session = await newSession(url, agent)
      const stream = await openSse(`${url}${session}/chat/completions`, say('hello'))
      await stream.next()
      await stream.next()
      expect(contentOf(stream.frames)).toBe('so far')
      return { session, stream }
    }),
  )
}

const workersOf = async ({ pid }: Product): Promise<number[]> => {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ').filter(Boolean).map(Number)
}

/** Gone, or a zombie. */
const isGone = async (pid: number): Promise<boolean> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat === '' || /^Z/.test(stat.slice(stat.lastIndexOf(')') + 2))
}

const living = () => database.sql`select id from instances where lost_at is null and lease_until > clock_timestamp()`

const owners = async (): Promise<Map<string, string>> => {
  const rows = await database.sql<{ session_id: string; instance_id: string }[]>`
    select session_id, instance_id from messages where status = 'streaming'`
  return new Map(rows.map((row) => [row.session_id, row.instance_id]))
}

const idIn = (session: string): string => session.split('/').at(-1) ?? ''

verifies(
  'contract-1.workers',
  'each is an instance; any of them follows and cancels the reply of another',
  async () => {
    const { promise: goOn, resolve: finish } = Promise.withResolvers<void>()
    replies(goOn)
    await using product = await start()
    const { url } = product
    expect(product.stderr.filter((line) => line.startsWith('Greenroom listens'))).toHaveLength(1)
    expect(await living()).toHaveLength(2)
    const agent = await addAgent(product, up.url)
    const all = await running(url, agent)
    expect(new Set((await owners()).values()).size).toBe(2)

    const [cancelled, ...others] = all
    for (const { session } of all.slice(0, 4)) {
      const followers = await Promise.all([1, 2].map(() => openSse(`${url}${session}/chat/completions/stream`)))
      for (const follower of followers) {
        await follower.next()
        expect((await follower.next())?.id).toBe('2')
        follower.leave()
      }
    }
    for (const _ of [1, 2]) {
      expect((await postJson(`${url}${cancelled?.session}/chat/completions/cancel`, {})).status).toBe(204)
    }
    expect(await messagesOf(url, cancelled?.session ?? '')).toMatchObject([
      { role: 'user' },
      { content: 'so far', status: 'complete', finish_reason: 'cancelled' },
    ])
    finish()
    for (const { stream } of others) {
      const { frames, broken } = await stream.rest()
      expect([contentOf(frames), frames.at(-1)?.data, broken]).toEqual(['so far, and the end', '[DONE]', false])
    }
    expect(await product.stop()).toEqual(clean)
    // Each has released its lease: its expiry is not awaited.
    expect(await living()).toHaveLength(0)
  },
)

/** The result on a new connection, from any worker: a status, or how it failed. */
const ask = (url: string): Promise<string> =>
  new Promise((resolve) => {
    const asked = request(url, { agent: false, timeout: 10_000 }, (answer) => {
      answer.resume().once('end', () => resolve(String(answer.statusCode)))
    })
    asked.once('timeout', () => asked.destroy(new Error('hangs')))
    asked.once('error', (error) => resolve('code' in error ? String(error.code) : error.message))
    asked.end()
  })

/** Sends requests continuously. Calling the result stops them and resolves to the count of each result. */
function knock(url: string): () => Promise<Record<string, number>> {
  const answers: Record<string, number> = {}
  let over = false
  const knocking = Array.from({ length: 4 }, async () => {
    while (!over) {
      const answer = await ask(`${url}/livez`)
      answers[answer] = (answers[answer] ?? 0) + 1
    }
  })
  return async () => {
    over = true
    await Promise.all(knocking)
    return answers
  }
}

verifies('contract-1.workers', 'a worker that dies loses only its own replies and is replaced', async () => {
  const { promise: goOn, resolve: finish } = Promise.withResolvers<void>()
  replies(goOn)
  await using product = await start()
  const { url } = product
  const agent = await addAgent(product, up.url)
  const all = await running(url, agent)
  const owned = await owners()
  const stopKnocking = knock(url)
  const [victim = 0] = await workersOf(product)
  process.kill(victim, 'SIGKILL')

  const owning = async () => new Set((await owners()).values())
  await expect.poll(async () => (await owning()).size).toBe(1)
  const left = await owners()
  const survivors = await owning()
  for (const { session } of all.filter(({ session }) => !left.has(idIn(session)))) {
    expect(survivors.has(owned.get(idIn(session)) ?? '')).toBe(false)
    expect((await messagesOf(url, session)).at(-1)).toMatchObject({ status: 'error', content: 'so far' })
    const { frames } = await (await openSse(`${url}${session}/chat/completions/stream`)).rest()
    expect(JSON.parse(frames.at(-1)?.data ?? '')).toMatchObject({ error: { code: 'instance_lost' } })
  }
  await expect.poll(living).toHaveLength(2)
  const workers = await workersOf(product)
  expect([workers.length, workers.includes(victim)]).toEqual([2, false])

  finish()
  for (const { session, stream } of all) {
    const { frames, broken } = await stream.rest()
    expect(broken).toBe(!left.has(idIn(session)))
    if (!broken) expect(contentOf(frames)).toBe('so far, and the end')
  }
  for (const { session } of all.slice(0, 6)) {
    const again = await openSse(`${url}${session}/chat/completions`, say('again'))
    expect(contentOf((await again.rest()).frames)).toBe('so far, and the end')
  }
  // Connections that the victim had accepted are reset; none is refused, none hangs.
  const { ECONNRESET: _, ...answers } = await stopKnocking()
  expect(answers).toEqual({ 200: expect.any(Number) })
  expect(await product.stop()).toEqual(clean)
})

verifies('contract-1.workers', 'SIGTERM to one worker replaces it after its replies have finished', async () => {
  const { promise: goOn, resolve: finish } = Promise.withResolvers<void>()
  replies(goOn)
  await using product = await start()
  const all = await running(product.url, await addAgent(product, up.url))
  const [old = 0] = await workersOf(product)
  process.kill(old, 'SIGTERM')
  await expect.poll(() => ask(`${product.url}/readyz`), { interval: 10 }).toBe('503')
  finish()
  for (const { stream } of all) expect((await stream.rest()).frames.at(-1)?.data).toBe('[DONE]')
  await expect.poll(() => isGone(old)).toBe(true)
  await expect.poll(living).toHaveLength(2)
  expect(await product.stop()).toEqual(clean)
})

for (const to of ['node', 'group'] as const) {
  verifies(
    'contract-1.workers',
    `SIGTERM to the ${to} counts as one signal: replies finish in all of them`,
    async () => {
      const { promise: goOn, resolve: finish } = Promise.withResolvers<void>()
      replies(goOn)
      await using product = await start()
      const { url } = product
      const all = await running(url, await addAgent(product, up.url))
      expect(new Set((await owners()).values()).size).toBe(2)
      const ended = product.stop('SIGTERM', to)
      await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(503)
      finish()
      for (const { stream } of all) {
        const { frames, broken } = await stream.rest()
        expect([contentOf(frames), frames.at(-1)?.data, broken]).toEqual(['so far, and the end', '[DONE]', false])
      }
      expect(await ended).toEqual(clean)
      expect(product.stderr.filter((line) => line.includes('SIGTERM'))).toHaveLength(1)
    },
  )
}

verifies('contract-10.signals', 'a later signal ends all workers at once', async () => {
  replies(new Promise(() => {}))
  await using product = await start({ DRAIN_TIMEOUT_S: '600' })
  const all = await running(product.url, await addAgent(product, up.url))
  const workers = await workersOf(product)
  const ended = product.stop('SIGTERM', 'group')
  await expect.poll(async () => (await fetch(`${product.url}/readyz`)).status).toBe(503)
  await signalUntilGone(product)
  expect(await ended).toEqual({ code: 1, signal: null })
  for (const { stream } of all) expect((await stream.rest()).broken).toBe(true)
  for (const pid of workers) await expect.poll(() => isGone(pid)).toBe(true)
})

verifies('contract-1.workers', 'kill -9 of the first process ends all others', async () => {
  await using product = await start()
  const workers = await workersOf(product)
  expect(workers).toHaveLength(2)
  process.kill(product.pid, 'SIGKILL')
  for (const pid of workers) await expect.poll(() => isGone(pid)).toBe(true)
})

verifies('contract-1.workers', 'a start error is printed once, and ends all', async () => {
  const wrong: [env: Record<string, string>, code: number, line: RegExp][] = [
    [{ OWNER_LEASE_MS: '6s' }, 78, /^OWNER_LEASE_MS: /],
    [{ PORT: new URL(up.url).port }, 1, /^PORT: \d+ on 127\.0\.0\.1 is in use/],
  ]
  for (const [env, code, line] of wrong) {
    await using launched = await launchProduct({ direct: true, env: { ...environment(), WORKERS: '4', ...env } })
    expect(await launched.exited).toEqual({ code, signal: null })
    expect(launched.stderr).toEqual([expect.stringMatching(line)])
  }
})

verifies('contract-1.workers', 'a signal during the start ends them', async () => {
  await using launched = await launchProduct({ direct: true, env: environment() })
  await expect.poll(living).not.toHaveLength(0)
  launched.child.kill('SIGTERM')
  expect(await launched.exited).toEqual(clean)
})
