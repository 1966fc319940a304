/** One run: replies that take a minute, on instances that stop, die and come back all the time. */
import { setTimeout as pause } from 'node:timers/promises'
import type { FreshDatabase } from '../../support/database.ts'
import { type Cluster, startCluster } from '../../support/programs/cluster.ts'
import { addAgent, type Product } from '../../support/programs/product.ts'
import { startChurnModel } from './churn-model.ts'
import { type Read, readReply } from './churn-readers.ts'
import { type Act, type ChurnVerdict, verdictOf } from './churn-verdict.ts'

export interface ChurnOptions {
  database: FreshDatabase
  seconds: number
  /** Replies that run at any moment. */
  replies: number
  redis: boolean
  leaseMs: number
  onLoss: 'continue' | 'error'
  /** Checkout of the version that the instances have at the beginning. */
  before: string | null
}

const RESTART_EVERY_MS = 20_000
const KILL_EVERY_MS = 15_000
/** With `error` longer than a turn takes, so that each reply comes to a boundary. */
const drainS = { continue: '5', error: '20' }

export async function runChurn(options: ChurnOptions): Promise<ChurnVerdict> {
  const { database, seconds, replies, redis, leaseMs, onLoss, before } = options
  await using stack = new AsyncDisposableStack()
  const model = stack.use(await startChurnModel())
  const env = { DRAIN_TIMEOUT_S: drainS[onLoss], LOG_LEVEL: 'warn', OWNER_LEASE_MS: `${leaseMs}` }
  const cluster = stack.use(
    await startCluster({ redis, database, env, startsAside: true, ...(before !== null && { before }) }),
  )
  // Only the newer version knows `onLoss`.
  if (before !== null) await cluster.restart(0)
  const agent = await buyer(cluster, model, onLoss)
  const over = AbortSignal.timeout(seconds * 1000)
  const reads: Read[] = []
  const one = async (place: number) => {
    await pause((place / replies) * 30_000, undefined, { signal: over }).catch(() => {})
    for (let n = 0; !over.aborted; n++) reads.push(await readReply(cluster.balancer, agent, `${place}-${n}`))
  }
  const faults = makeChurn(cluster, { onLoss, over, isNew: new Set(before === null ? cluster.urls.keys() : [0]) })
  await Promise.all(Array.from({ length: replies }, (_, place) => one(place)))
  return await verdictOf({ cluster, model, reads, leaseMs, onLoss, ...(await faults) })
}

async function buyer({ products }: Cluster, model: { url: string; toolUrl: string }, onLoss: string): Promise<string> {
  const [first] = products
  if (first === undefined) throw new Error('no instance')
  const id = await addAgent(first, model.url)
  const { client }: Product = first
  const tool = await client.POST('/api/v1/http-tools', {
    body: { name: 'buy', description: 'Buys.', method: 'POST', url: model.toolUrl },
  })
  const chosen = await client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: id } },
    body: { httpToolIds: [tool.data?.id ?? ''] },
  })
  const set = await client.PUT('/api/v1/agents/{id}', {
    params: { path: { id } },
    body: { onLoss: onLoss === 'continue' ? 'continue' : 'error' },
  })
  if (tool.error || chosen.error || set.error) throw new Error(JSON.stringify([tool.error, chosen.error, set.error]))
  return id
}

interface Churn {
  onLoss: string
  over: AbortSignal
  /** Instances of this version. */
  isNew: Set<number>
}

/** One instance after the other restarts; with `continue` others die as well. Resolves when all run again. */
async function makeChurn(cluster: Cluster, { onLoss, over, isNew }: Churn) {
  const counted = { restarts: 0, kills: 0, 'restarts that ended badly': 0 }
  const acts: Act[] = []
  let upgradedAt = isNew.size === cluster.urls.length ? 0 : Number.POSITIVE_INFINITY
  const away = new Set<number>()
  const instances = cluster.urls.length
  const during = async (kind: Act['kind'], instance: number, act: () => Promise<void>) => {
    acts.push({ kind, instance, at: Date.now() })
    away.add(instance)
    await act().finally(() => away.delete(instance))
    isNew.add(instance)
    if (isNew.size === instances) upgradedAt = Math.min(upgradedAt, performance.now())
  }
  const every = async (ms: number, act: (n: number) => Promise<void>) => {
    for (let n = 0; ; n++) {
      const begin = performance.now()
      await act(n)
      await pause(Math.max(0, ms - (performance.now() - begin)), undefined, { signal: over }).catch(() => {})
      if (over.aborted) return
    }
  }
  const restart = async (n: number) => {
    const instance = n % instances
    if (away.has(instance)) return
    await during('restart', instance, async () => {
      const exit = await cluster.restart(instance)
      counted.restarts += 1
      if (exit?.code !== 0) counted['restarts that ended badly'] += 1
    })
  }
  const kill = async (n: number) => {
    const instance = (2 * n + 1) % instances
    // One that dies while it drains is a loss, too. Somebody must be left.
    if (n === 0 || away.has(instance) || away.size > 1) return
    await during('kill', instance, async () => {
      await cluster.kill9(instance)
      counted.kills += 1
      await cluster.restart(instance)
    })
  }
  await Promise.all([every(RESTART_EVERY_MS, restart), ...(onLoss === 'continue' ? [every(KILL_EVERY_MS, kill)] : [])])
  return { counted, acts, upgradedAt }
}
