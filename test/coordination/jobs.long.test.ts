/** Contract section 7: background jobs, on PostgreSQL alone and on BullMQ. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createBullmqJobs } from '../../src/coordination/jobs/bullmq-jobs.ts'
import type { Job, Jobs } from '../../src/coordination/jobs/jobs.ts'
import { createTimerJobs } from '../../src/coordination/jobs/timer-jobs.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { type RedisServer, startCluster, startRedis, startSentinel } from '../support/programs/redis.ts'
import { WAIT_MS } from '../support/wait.ts'
import { verifies } from '../verifies.ts'

const polling = { timeout: WAIT_MS, interval: 20 }
/** A schedule longer than any test: runs after the first one have another cause. */
const SELDOM = 3_600_000

let database: FreshDatabase
let redis: RedisServer

beforeAll(async () => {
  database = await freshDatabase()
  redis = await startRedis()
})
afterAll(async () => {
  await redis[Symbol.asyncDispose]()
  await database.drop()
})

interface Lines {
  info: string[]
  warn: string[]
}

/** Instances that share a schedule only with each other. */
interface Group extends AsyncDisposable {
  start(jobs: Job[], options?: { assertMs?: number }): Jobs
  lines: Lines
}

const newLines = (): Lines & { log: Parameters<typeof createTimerJobs>[0]['log'] } => {
  const lines: Lines = { info: [], warn: [] }
  const keep = (to: string[]) => (_: object, message: string) => void to.push(message)
  return { ...lines, log: { info: keep(lines.info), warn: keep(lines.warn) } }
}

async function stopAll(started: Jobs[]): Promise<void> {
  await Promise.all(started.map((jobs) => jobs.stop()))
}

function timerGroup(): Group {
  const started: Jobs[] = []
  const { log, ...lines } = newLines()
  return {
    lines,
    start(jobs) {
      const made = createTimerJobs({ sql: database.sql, jobs, log, retryMs: 50 })
      started.push(made)
      return made
    },
    [Symbol.asyncDispose]: () => stopAll(started),
  }
}

function bullmqGroup(server: { url: string } = redis): Group {
  const started: Jobs[] = []
  const installation = randomUUID()
  const { log, ...lines } = newLines()
  return {
    lines,
    start(jobs, { assertMs = 60_000 } = {}) {
      const made = createBullmqJobs({ cacheUrl: server.url, installation, jobs, log, assertMs, retryMs: 50 })
      started.push(made)
      return made
    },
    [Symbol.asyncDispose]: () => stopAll(started),
  }
}

/** A job that counts its runs; `turns` holds their start times. */
function counter(everyMs: number, work: (run: number, signal: AbortSignal) => unknown = () => {}) {
  const turns: number[] = []
  const name = randomUUID()
  const job: Job = {
    name,
    everyMs,
    async run(signal) {
      turns.push(performance.now())
      await work(turns.length, signal)
    },
  }
  return { job, turns, name }
}

const adapters: [string, () => Group][] = [
  ['timers on PostgreSQL', timerGroup],
  ['BullMQ', () => bullmqGroup()],
]

describe.each(adapters)('%s', (_, newGroup) => {
  verifies('contract-7.jobs', 'a job runs at once, and again on schedule', async () => {
    await using group = newGroup()
    const { job, turns } = counter(100)
    group.start([job])
    await expect.poll(() => turns.length, polling).toBeGreaterThan(4)
  })

  verifies('contract-7.jobs', 'wake runs a job at once', async () => {
    await using group = newGroup()
    const { job, turns, name } = counter(SELDOM)
    const jobs = group.start([job])
    await expect.poll(() => turns.length, polling).toBe(1)
    jobs.wake(name)
    await expect.poll(() => turns.length, polling).toBe(2)
    jobs.wake('no such job')
  })

  verifies('contract-7.jobs', 'wakes during a run cause one more run', async () => {
    await using group = newGroup()
    const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
    const { job, turns, name } = counter(SELDOM, (run) => gates[run - 1]?.promise)
    const jobs = group.start([job])
    gates[0]?.resolve()
    await expect.poll(() => turns.length, polling).toBe(1)
    // The first run is the schedule's; the second one is held while more wakes arrive.
    jobs.wake(name)
    await expect.poll(() => turns.length, polling).toBe(2)
    for (let i = 0; i < 50; i++) jobs.wake(name)
    gates[1]?.resolve()
    await expect.poll(() => turns.length, polling).toBe(3)
    for (const gate of gates) gate.resolve()
    jobs.wake(name)
    await expect.poll(() => turns.length, polling).toBeGreaterThanOrEqual(4)
    expect(turns.length).toBeLessThan(8)
  })

  verifies('contract-7.jobs', 'a failed job is logged and retried', async () => {
    await using group = newGroup()
    const { job, turns } = counter(SELDOM, (run) => {
      if (run === 1) throw new Error('the first time')
    })
    group.start([job])
    await expect.poll(() => turns.length, polling).toBe(2)
    expect(group.lines.warn).toEqual(['A background job failed and will be retried.'])
  })

  verifies('contract-7.jobs', 'two instances share the schedule; one continues when the other stops', async () => {
    await using group = newGroup()
    const [here, there] = [counter(SELDOM), counter(SELDOM)]
    const first = group.start([here.job])
    await expect.poll(() => here.turns.length, polling).toBe(1)
    const second = group.start([{ ...there.job, name: here.name }])
    second.wake(here.name)
    await expect.poll(() => here.turns.length + there.turns.length, polling).toBe(2)
    await first.stop()
    second.wake(here.name)
    await expect.poll(() => here.turns.length + there.turns.length, polling).toBe(3)
    expect(there.turns.length).toBeGreaterThan(0)
  })

  test('a stop aborts the running job, and does not wait for one that ignores the signal', async () => {
    await using group = newGroup()
    let aborted = false
    const { job, turns } = counter(SELDOM, (_run, signal) => {
      signal.addEventListener('abort', () => {
        aborted = true
      })
      return new Promise(() => {})
    })
    const jobs = group.start([job])
    await expect.poll(() => turns.length, polling).toBe(1)
    await jobs.stop()
    expect(aborted).toBe(true)
    jobs.wake(job.name)
    expect(turns).toHaveLength(1)
  })
})

describe('timers on PostgreSQL', () => {
  verifies('contract-7.jobs', 'of five instances, one runs each turn', async () => {
    await using group = timerGroup()
    const { job, turns } = counter(SELDOM)
    const again = () => database.sql`update jobs set due_at = '-infinity' where name = ${job.name}`
    for (let turn = 1; turn <= 5; turn++) {
      const instances = Array.from({ length: 5 }, () => group.start([job]))
      await expect.poll(() => turns.length, polling).toBe(turn)
      // Each polls before it stops; no other instance ran this turn.
      const [row] = await database.sql<{ due: boolean }[]>`
        select due_at > clock_timestamp() as due from jobs where name = ${job.name}`
      expect(row?.due).toBe(true)
      await stopAll(instances)
      expect(turns).toHaveLength(turn)
      await again()
    }
  })

  verifies('contract-7.jobs', 'a due time that a wrong clock has written years ahead is not waited for', async () => {
    await using group = timerGroup()
    const { job, turns } = counter(100)
    await database.sql`insert into jobs values (${job.name}, clock_timestamp() + interval '10 years')`
    group.start([job])
    await expect.poll(() => turns.length, polling).toBeGreaterThan(1)
  })
})

describe('BullMQ', () => {
  verifies('contract-7.redis-lost', 'a flushed Redis gets its schedules back', async () => {
    await using server = await startRedis()
    await using group = bullmqGroup(server)
    const { job, turns, name } = counter(200)
    const jobs = group.start([job], { assertMs: 100 })
    await expect.poll(() => turns.length, polling).toBeGreaterThan(1)
    for (let round = 0; round < 3; round++) {
      await server.flush()
      const before = turns.length
      await expect.poll(() => turns.length, polling).toBeGreaterThan(before + 2)
    }
    await server.flush()
    const before = turns.length
    jobs.wake(name)
    await expect.poll(() => turns.length, polling).toBeGreaterThan(before)
  })

  verifies('contract-7.redis-lost', 'jobs wait for a killed Redis, and resume by themselves', async () => {
    await using server = await startRedis()
    await using group = bullmqGroup(server)
    const { job, turns, name } = counter(SELDOM)
    const jobs = group.start([job])
    await expect.poll(() => turns.length, polling).toBe(1)
    await server.kill9()
    for (let i = 0; i < 1000; i++) jobs.wake(name)
    await expect.poll(() => group.lines.warn.length, polling).toBe(1)
    await server.restart()
    await expect.poll(() => turns.length, polling).toBeGreaterThan(1)
    await expect.poll(() => group.lines.info, polling).toEqual(['Redis is available again: background jobs resume.'])
    expect(group.lines.warn).toEqual(['Redis is unavailable: background jobs wait for it.'])
  })

  verifies('contract-7.redis-lost', 'neither start nor stop waits for an absent Redis', async () => {
    await using server = await startRedis()
    await server.kill9()
    await using group = bullmqGroup(server)
    const { job, turns, name } = counter(SELDOM)
    const jobs = group.start([job])
    jobs.wake(name)
    await expect.poll(() => group.lines.warn.length, polling).toBe(1)
    await jobs.stop()
    expect(turns).toHaveLength(0)
    const later = group.start([job])
    await server.restart()
    await expect.poll(() => turns.length, polling).toBe(1)
    await later.stop()
  })

  verifies('contract-7.redis-lost', 'a stop does not wait for a hung Redis', async () => {
    await using server = await startRedis()
    await using group = bullmqGroup(server)
    const { job, turns, name } = counter(SELDOM)
    const jobs = group.start([job])
    await expect.poll(() => turns.length, polling).toBe(1)
    server.pause()
    jobs.wake(name)
    await jobs.stop()
    server.resume()
  })

  test.each([
    ['Sentinels', startSentinel],
    ['a Cluster', startCluster],
  ])('jobs run, and stop in order, behind %s', async (_, start) => {
    await using server = await start({ password: 'secret' })
    await using group = bullmqGroup(server)
    const { job, turns, name } = counter(SELDOM)
    const jobs = group.start([job])
    await expect.poll(() => turns.length, polling).toBe(1)
    jobs.wake(name)
    await expect.poll(() => turns.length, polling).toBe(2)
    await jobs.stop()
    expect(group.lines.warn).toEqual([])
  })

  test('jobs leave nothing behind, and all keys are in the installation’s own slot', async () => {
    await using server = await startRedis()
    await using group = bullmqGroup(server)
    const { job, turns, name } = counter(SELDOM, (run) => {
      if (run % 5 === 0) throw new Error('every fifth time')
    })
    const jobs = group.start([job])
    await expect
      .poll(() => {
        jobs.wake(name)
        return turns.length
      }, polling)
      .toBeGreaterThan(20)
    const keys = await server.command('KEYS', '*')
    if (!Array.isArray(keys)) throw new Error('KEYS returns a list')
    expect(keys.length).toBeLessThan(15)
    expect(keys.filter((key) => !/^\{greenroom:[0-9a-f-]{36}\}:/.test(String(key)))).toEqual([])
  })
})
