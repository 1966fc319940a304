/** The cost of following: CPU time of each process, Redis commands, and the statements of an idle instance. */
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '../../src/persistence/postgres/database.ts'
import { digits, spread, table } from '../figures/figures.ts'
import { startManyFollowed } from './follow.ts'
import type { Ground, Scene } from './scene.ts'

const ROUNDS = 3
const REPLIES = 20
const SECONDS = 10
const IDLE_SECONDS = 15
/** Linux: USER_HZ is always 100. */
const TICK_MS = 10

/** From the fields of /proc/<pid>/stat after the name: parent, and CPU time so far (ms). */
async function statOf(pid: string): Promise<{ parent: number; cpu: number }> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { parent: Number(fields[1]), cpu: (Number(fields[11]) + Number(fields[12])) * TICK_MS || 0 }
}

/** CPU time of the server and all its backends. */
async function serverCpu(pid: number): Promise<number> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(all.map(async (name) => ({ name, ...(await statOf(name)) })))
  const own = stats.filter(({ name, parent }) => name === `${pid}` || parent === pid)
  return own.reduce((sum, { cpu }) => sum + cpu, 0)
}

interface Meters {
  cpu: number[]
  redisCpu: number
  commands: number
  publishes: number
}

async function readMeters({ postgres }: Ground, { products, redis }: Scene): Promise<Meters> {
  const cpu = await Promise.all([
    ...products.map(async ({ pid }) => (await statOf(`${pid}`)).cpu),
    serverCpu(postgres.pid),
  ])
  if (redis === null) return { cpu, redisCpu: 0, commands: 0, publishes: 0 }
  const info = String(await redis.command('INFO', 'everything'))
  const find = (pattern: RegExp) => Number(pattern.exec(info)?.[1] ?? 0)
  return {
    cpu,
    redisCpu: (find(/used_cpu_user:([\d.]+)/) + find(/used_cpu_sys:([\d.]+)/)) * 1000,
    commands: find(/total_commands_processed:(\d+)/),
    publishes: find(/cmdstat_s?publish:calls=(\d+)/),
  }
}

interface Cost {
  tokens: number
  seconds: number
  /** CPU milliseconds of the owner, the follower, the third instance and PostgreSQL. */
  cpu: number[]
  redisCpu: number
  commands: number
  publishes: number
}

/** `replies` 0: the idle cost. */
async function measure(ground: Ground, scene: Scene, replies: number, follower: number | null): Promise<Cost> {
  const running = await startManyFollowed(scene, replies, follower)
  if (replies > 0) await pause(1000)
  const begin = performance.now()
  const before = await readMeters(ground, scene)
  await pause((replies > 0 ? SECONDS : IDLE_SECONDS) * 1000)
  const after = await readMeters(ground, scene)
  const end = performance.now()
  const tokens = running.flatMap(({ owner }) => [...owner.values()].filter((at) => at > begin && at < end)).length
  await Promise.all(running.map((reply) => reply.stop()))
  return {
    tokens,
    seconds: (end - begin) / 1000,
    cpu: after.cpu.map((ms, n) => ms - (before.cpu[n] ?? 0)),
    redisCpu: after.redisCpu - before.redisCpu,
    commands: after.commands - before.commands,
    publishes: after.publishes - before.publishes,
  }
}

/** The costs of one kind in one scene, one for each round. */
interface Case {
  scene: Scene
  follower: number | null
  costs: Cost[]
}

const thousandth = ({ tokens }: Cost, value: number): number => (value * 1000) / tokens

function costRow({ scene, follower, costs }: Case, idle: readonly Cost[]): string[] {
  const per = (value: (cost: Cost) => number) => spread(costs.map((cost) => thousandth(cost, value(cost))))
  const idleRate = idle.reduce((sum, cost) => sum + cost.commands / cost.seconds, 0) / idle.length
  const commands = costs.map((cost) => Math.max(0, cost.commands - idleRate * cost.seconds) / cost.tokens)
  return [
    scene.name,
    follower === null ? 'nobody' : 'one instance',
    ...[0, 1, 2, 3].map((n) => per(({ cpu }) => cpu[n] ?? 0)),
    scene.redis ? per(({ redisCpu }) => redisCpu) : '',
    scene.redis ? commands.map((value) => value.toFixed(3)).join(', ') : '',
  ]
}

/** Transactions of the scene's database so far; outside transactions each statement is one. */
async function commits({ postgres }: Ground, { database }: Scene): Promise<number> {
  const sql = connect(postgres.url, { name: 'bench', max: 1, timeoutMs: 0 })
  const [row] = await sql<{ count: number }[]>`
    select xact_commit + xact_rollback as count from pg_stat_database where datname = ${database}`.finally(() =>
    sql.end(),
  )
  return row?.count ?? 0
}

export async function benchCost(ground: Ground, scenes: readonly Scene[]): Promise<string> {
  const cases: Case[] = [null, 1].flatMap((follower) => scenes.map((scene) => ({ scene, follower, costs: [] })))
  const idle = new Map(scenes.map((scene) => [scene, { costs: [] as Cost[], statements: [] as number[] }]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [scene, { costs, statements }] of idle) {
      await pause(6000) // idle sessions are evicted after five seconds
      const before = await commits(ground, scene)
      const cost = await measure(ground, scene, 0, null)
      costs.push(cost)
      statements.push((await commits(ground, scene)) - before)
    }
    for (const { scene, follower, costs } of cases) costs.push(await measure(ground, scene, REPLIES, follower))
  }
  const idleRows = [...idle].map(([scene, { costs, statements }]) => [
    scene.name,
    spread(statements.map((count, n) => count / (costs[n]?.seconds ?? 1) / 3)),
    spread(costs.flatMap(({ cpu, seconds }) => cpu.slice(0, 3).map((ms) => ms / seconds))),
    scene.redis ? spread(costs.map(({ commands, seconds }) => commands / seconds / 3)) : '',
    scene.redis ? digits(costs.reduce((sum, cost) => sum + cost.publishes / cost.seconds / 3, 0) / ROUNDS) : '',
  ])
  const rows = cases.map((one) => costRow(one, idle.get(one.scene)?.costs ?? []))
  return [
    table(
      ['', 'follows', 'owner', 'follower', 'third', 'PostgreSQL', 'Redis', 'Redis commands per token, each round'],
      rows,
    ),
    table(['An idle instance, per second', 'statements', 'CPU ms', 'Redis commands', 'of these PUBLISH'], idleRows),
  ].join('\n\n')
}
