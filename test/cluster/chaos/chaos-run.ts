/** One chaos run: cluster, model, clients and faults, then a quiet phase, then the checks. */
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { FreshDatabase } from '../../support/database.ts'
import { type Cluster, LEASE_MS, startCluster } from '../../support/programs/cluster.ts'
import type { Product } from '../../support/programs/product.ts'
import { randomOf } from '../../support/random.ts'
import { type FaultOptions, makeTrouble } from './chaos-faults.ts'
import { watchMemory } from './chaos-memory.ts'
import { type ChaosModel, startModel, TOOL } from './chaos-model.ts'
import { createWitness, type Violation } from './chaos-witness.ts'
import {
  auditViolations,
  deletedReplies,
  installAudit,
  lossesSettled,
  storedCalls,
  storedMessages,
} from './checks/chaos-audit.ts'
import { checkBounds, type Measured } from './checks/chaos-bounds.ts'
import { check } from './checks/chaos-checker.ts'
import { checkEffects } from './checks/chaos-effects.ts'
import { burst } from './clients/chaos-burst.ts'
import { converse, readMessages, say } from './clients/chaos-clients.ts'
import { allPartitions, type Partition, partition } from './clients/chaos-partitions.ts'
import { type Crowd, count, follow } from './clients/chaos-requests.ts'

export interface ChaosOptions {
  database: FreshDatabase
  seconds: number
  seed: number
  sessions?: number
  /** The server of a database that only this run uses. */
  server?: FaultOptions['server']
  /** With it by default. */
  redis?: boolean
  /** At the end, in sequence, without other faults. */
  partitions?: 'all' | readonly Partition[]
  /** How many replies run on the instance that is killed. */
  burst?: number
  /** Receives an instance's log lines at its end. */
  onLog?: (line: string) => void
  logLevel?: string
}

export interface Verdict {
  violations: Violation[]
  counts: Record<string, number>
}

const DRAIN_S = 3
/** From the last fault until nothing streams: leases, orphans, drains, on a machine under load. */
const SETTLE_MS = 2 * LEASE_MS + 30_000
/** For a last message in each session in sequence, and six reads of each. */
const GO_ON_MS = 120_000

export async function runChaos(options: ChaosOptions): Promise<Verdict> {
  const { database, seconds, seed, sessions = 50, onLog = () => {} } = options
  await using stack = new AsyncDisposableStack()
  await installAudit(database.sql)
  const model = stack.use(await startModel(randomOf(seed + 1)))
  const env = { DRAIN_TIMEOUT_S: `${DRAIN_S}`, LOG_LEVEL: options.logLevel ?? 'warn' }
  // nginx must not resend a message once its first reply may have been declared lost.
  const cluster = stack.use(
    await startCluster({ redis: options.redis ?? true, wires: true, database, nginxRetryMs: LEASE_MS / 2, env }),
  )
  stack.use(followLogs(cluster, onLog))
  const memory = stack.use(watchMemory(cluster.products))
  const [first] = cluster.products
  if (!first) throw new Error('no instance')
  const witness = createWitness()
  const [closing, over] = [new AbortController(), new AbortController()]
  const crowd: Crowd = {
    urls: cluster.urls,
    balancer: cluster.balancer,
    agents: await addAgents(first, model),
    witness,
    sends: [],
    sessions: [],
    counts: new Map(),
    closing: closing.signal,
    over: over.signal,
  }
  const clients = Array.from({ length: sessions }, (_, place) => converse(crowd, place, randomOf(seed + 100 + place)))
  const faulty = new AbortController()
  const faults = makeTrouble({
    cluster,
    random: randomOf(seed + 2),
    over: faulty.signal,
    server: options.server ?? null,
    onFault(what, instance) {
      count(crowd, `fault: ${what}`)
      onLog(`${new Date().toISOString()} ${what} ${instance ?? ''}`)
    },
    onTrouble: (detail) => void witness.violations.push({ rule: 'trouble', session: '', detail }),
  })
  await pause(seconds * 1000)
  faulty.abort()
  await faults
  closing.abort()
  setTimeout(() => over.abort(), SETTLE_MS).unref()
  await Promise.all(clients)
  await settled(database, witness.violations)
  model.calm()
  await goOn({ ...crowd, over: AbortSignal.timeout(GO_ON_MS) }, randomOf(seed + 3))
  witness.violations.push(...(await gone(cluster)))
  const unhurried = { ...crowd, over: new AbortController().signal }
  const measured = await partitioned(unhurried, cluster, options.partitions ?? [])
  measured.push(...memory.measured('memory'))
  if (options.burst) {
    measured.push(...(await burst(unhurried, cluster, options.burst).catch(trouble(crowd, 'burst'))))
    await settled(database, witness.violations)
    measured.push(...memory.measured('memory with many replies'))
  }
  await settled(database, witness.violations)
  return await verdictOf({ cluster, crowd, model, measured })
}

/** Instances that ended by themselves, or do not answer: no fault leaves one so. */
async function gone({ products }: Cluster): Promise<Violation[]> {
  const details = await Promise.all(
    [...products.entries()].map(async ([n, { url, pid, child, stderr }]) => {
      const end = child.signalCode ?? child.exitCode
      const last = stderr.slice(-3).join(' | ')
      if (end !== null) return `instance ${n} has ended (${end}): ${last}`
      const answer = await fetch(`${url}/livez`, { signal: AbortSignal.timeout(5000) }).catch(String)
      if (typeof answer !== 'string') return null
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(String)
      return `instance ${n} does not answer (${answer}); its process: ${stat.trim()}; ${last}`
    }),
  )
  return details.filter((detail) => detail !== null).map((detail) => ({ rule: 'trouble', session: '', detail }))
}

const trouble = (crowd: Crowd, what: string) => (error: unknown) => {
  crowd.witness.violations.push({ rule: 'trouble', session: '', detail: `${what}: ${String(error)}` })
  return []
}

/** Measurements of partitions, in sequence and without other faults. */
async function partitioned(crowd: Crowd, cluster: Cluster, partitions: 'all' | readonly Partition[]) {
  const measured: Measured[] = []
  const all = partitions === 'all' ? allPartitions(cluster.urls.length, cluster.redis !== null) : partitions
  for (const [n, one] of all.entries()) {
    measured.push(...(await partition(crowd, cluster, one, `m8000.${n}`).catch(trouble(crowd, JSON.stringify(one)))))
  }
  return measured
}

/** Every log line of any instance, including restarted ones. */
function followLogs(cluster: Cluster, onLog: (line: string) => void): Disposable {
  const told = new Map<Product, { stdout: number; stderr: number }>()
  const look = () => {
    for (const product of cluster.products) if (!told.has(product)) told.set(product, { stdout: 0, stderr: 0 })
    for (const [product, done] of told) {
      for (const output of ['stdout', 'stderr'] as const) {
        for (; done[output] < product[output].length; done[output]++) {
          onLog(`${new URL(product.url).port} ${product[output][done[output]]}`)
        }
      }
    }
  }
  const timer = setInterval(look, 200)
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      look()
    },
  }
}

interface Run {
  cluster: Cluster
  crowd: Crowd
  model: Pick<ChaosModel, 'calls' | 'effects'>
  measured: readonly Measured[]
}

async function verdictOf({ cluster: { database, redis }, crowd, model, measured }: Run): Promise<Verdict> {
  const { sends, sessions, witness, counts } = crowd
  const stored = await storedMessages(database.sql)
  const keys = Object((await redis?.command('KEYS', '*')) ?? [])
  const losses = await lossesSettled(database.sql)
  const bounds: Measured[] = [
    ...measured,
    ...losses.map(({ instance, ms }): Measured => ({ what: 'loss settled', value: ms, detail: instance })),
    { what: 'Redis keys left', value: keys.length, detail: `${keys.slice(0, 20)}` },
  ]
  const deleted = await deletedReplies(database.sql)
  const calls = await storedCalls(database.sql)
  const violations = [
    ...witness.violations,
    ...checkBounds(bounds, LEASE_MS),
    ...checkEffects({ effects: model.effects, calls, isDeleted: (reply) => deleted.has(reply) }),
    ...check({ sessions, sends, calls: model.calls, stored }),
    ...(await auditViolations(database.sql)),
  ]
  for (const { role, finish, code } of [...stored.values()].flat()) {
    if (role === 'assistant') count(crowd, `replies: ${finish}${code === null ? '' : ` (${code})`}`)
  }
  return {
    violations,
    counts: {
      ...Object.fromEntries([...counts].sort(([a], [b]) => a.localeCompare(b))),
      sessions: sessions.length,
      messages: sends.length,
      'model calls': model.calls.length,
      'frames compared': witness.framesCompared,
      'ids shown': sessions.reduce((sum, { frames }) => sum + frames.size, 0),
      'effects of tools': model.effects.length,
      'losses measured': losses.length,
      'loss settled after ms, median': losses[losses.length >> 1]?.ms ?? 0,
      ...longestOf(bounds),
      'megabytes here': Math.round(process.memoryUsage().rss / 2 ** 20),
    },
  }
}

const longestOf = (measured: readonly Measured[]): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(measured, ({ what }) => what)].map(([what, those]) => [
      `${what}, at most`,
      Math.max(...those.map(({ value }) => value)),
    ]),
  )

/** Waits until nothing streams. */
async function settled({ sql }: FreshDatabase, violations: Violation[]): Promise<void> {
  for (const deadline = performance.now() + SETTLE_MS; ; await pause(200)) {
    const rows = await sql<{ session: string; detail: object }[]>`
      select m.session_id as session, to_jsonb(m) || jsonb_build_object('owner', to_jsonb(i)) as detail
        from messages m left join instances i on i.id = m.instance_id where m.status = 'streaming'`
    // New ones may have begun before the clients closed: those end by themselves.
    if (rows.length === 0) return
    if (performance.now() < deadline) continue
    for (const { session, detail } of rows)
      violations.push({ rule: 'settled', session, detail: JSON.stringify(detail) })
    return
  }
}

/** Every session accepts a message and completes it, and shows all of it on every instance. */
async function goOn(crowd: Crowd, random: () => number): Promise<void> {
  for (const [place, session] of crowd.sessions.entries()) {
    if (session.deletion !== 'none') continue
    const send = await say(crowd, session, `m9999.${place}`, random)
    const fault = (detail: string) =>
      void crowd.witness.violations.push({ rule: 'goes-on', session: session.id, detail })
    if (!send.tries.some(({ outcome }) => outcome === 'accepted')) fault(JSON.stringify(send.tries))
    for (const url of crowd.urls) {
      if (!(await follow(crowd, session, random, 0, url))) fault(`${url} has no reply`)
      if (!(await readMessages(crowd, session, url))) fault(`${url} has no messages`)
    }
    const newest = [...session.messages.values()].at(-1)
    if (newest?.finish_reason !== 'stop') fault(JSON.stringify(newest))
  }
}

/** Two agents with a tool. The replies of the second one go on elsewhere. */
async function addAgents({ client }: Pick<Product, 'client'>, model: { url: string; toolUrl: string }) {
  const provider = await client.POST('/api/v1/settings/providers', {
    body: { name: 'Chaos', providerType: 'openai-compatible', baseUrl: model.url },
  })
  const tool = await client.POST('/api/v1/http-tools', {
    body: { name: TOOL, description: 'Looks up.', method: 'POST', url: model.toolUrl },
  })
  if (!provider.data || !tool.data) throw new Error(JSON.stringify([provider.error, tool.error]))
  const common = { providerId: provider.data.id, model: 'up' }
  const toolId = tool.data.id
  const add = async (onLoss: 'error' | 'continue') => {
    const agent = await client.POST('/api/v1/agents', { body: { ...common, name: `Chaos, ${onLoss}`, onLoss } })
    const id = agent.data?.id ?? ''
    const choice = await client.PUT('/api/v1/agents/{agent_id}/tools', {
      params: { path: { agent_id: id } },
      body: { httpToolIds: [toolId] },
    })
    if (!choice.data) throw new Error(JSON.stringify([agent.error, choice.error]))
    return { id, goesOn: onLoss === 'continue' }
  }
  return [await add('error'), await add('continue')] as const
}
