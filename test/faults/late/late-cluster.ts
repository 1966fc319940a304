/** Two instances, each behind a proxy that delivers the first tries of its writes late (contract section 35). */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { createAgent, startTestApp, type TestApp } from '../../support/app.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { startUpstream, type Upstream } from '../../support/network/upstream.ts'
import { samples } from '../../support/samples.ts'
import { type Judge, openProxy } from '../database/database-proxy.ts'
import { createStatementReader } from './statements-sent.ts'

/** How often an instance's write of one kind is held, and how long at most until it is delivered. */
const HOLDS = samples(3, 10)
const LATE_MS = 1500

/** The writes of files in which one is sent again, as the table in docs/design/late-writes.md names them. */
export const retriedWrites: readonly string[] = [
  ...new Set(
    [
      ...readFileSync(new URL('../../../docs/design/late-writes.md', import.meta.url), 'utf8').matchAll(
        /^\| `\S+` \| (.+?) \| (?!no \|)/gm,
      ),
    ].flatMap(([, writes = '']) => [...writes.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)),
  ),
]

export interface LateCluster extends AsyncDisposable {
  database: FreshDatabase
  apps: TestApp[]
  up: Upstream
  agentId: string
  /** How often each write was held. */
  held: ReadonlyMap<string, number>
  /** Starts an instance in this place again. */
  restart(place: number): Promise<void>
  /** Holds nothing any more, and delivers what is held. */
  settle(): Promise<void>
}

export async function openLateCluster(random: () => number): Promise<LateCluster> {
  const database = await freshDatabase()
  const up = await startUpstream()
  const held = new Map<string, number>()
  const proxies = [await openProxy(database.url), await openProxy(database.url)]
  const judges = proxies.map(() => holdSome(held, random))
  let isOver = false
  const delivering = proxies.map(async (proxy) => {
    while (!isOver) {
      await delay(random() * LATE_MS)
      await proxy.deliver()
    }
  })
  // A start that is cut off fails, and says so: it is repeated by whoever started it.
  const start = async (place: number) => {
    const proxy = proxies[place]
    proxy?.judge(null)
    const app = await startTestApp({
      database: { ...database, url: proxy?.url ?? '' },
      settings: { PROVIDER_RETRIES: '0', DRAIN_TIMEOUT_S: '10' },
    })
    proxy?.judge(judges[place] ?? null)
    return app
  }
  const apps = [await start(0), await start(1)]
  const { agentId } = await createAgent({ sql: database.sql }, { type: 'openai-compatible', baseUrl: up.url })
  return {
    ...{ database, apps, up, agentId, held },
    async restart(place) {
      apps[place] = await start(place)
    },
    async settle() {
      isOver = true
      for (const proxy of proxies) proxy.judge(null)
      await Promise.all(delivering)
      await Promise.all(proxies.map((proxy) => proxy.deliver()))
    },
    async [Symbol.asyncDispose]() {
      isOver = true
      for (const proxy of proxies) proxy.judge(null)
      await Promise.all(delivering)
      for (const app of apps) await app.stop()
      await up.close()
      for (const proxy of proxies) await proxy[Symbol.asyncDispose]()
      await database.drop()
    },
  }
}

/** Returns a judge that holds the first statement of each kind, and some of those that follow. */
function holdSome(held: Map<string, number>, random: () => number): Judge {
  const read = createStatementReader()
  const own = new Map<string, number>()
  return (bytes, connection) => {
    const executed = read(bytes, connection)
    const write = retriedWrites.find((name) => executed.some((text) => isCall(text, name)))
    const before = write === undefined ? HOLDS : (own.get(write) ?? 0)
    if (write === undefined || before >= HOLDS || (before > 0 && random() < 0.7)) return 'pass'
    own.set(write, before + 1)
    held.set(write, (held.get(write) ?? 0) + 1)
    return 'hold'
  }
}

const isCall = (text: string, name: string): boolean => text.includes(name.includes(' ') ? name : `${name}(`)
