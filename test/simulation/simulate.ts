/**
 * Three instances, one database, the ways between them, and people who write, stop, delete, decide and read, all of it from
 * one seed. A run answers with what it found broken: nothing, if the product keeps what ARCHITECTURE.md promises.
 */
import { createChecks } from './checks.ts'
import type { Ground } from './simulated-instance.ts'
import { createSimulatedLeases } from './simulated-leases.ts'
import { simulatedModel } from './simulated-model.ts'
import { createRandom, createSimulatedNetwork } from './simulated-network.ts'
import { createSimulatedReplies } from './simulated-replies.ts'
import { installVirtualTime } from './virtual-time.ts'
import { createWorld, faults, INSTANCES, type Kind, people } from './world.ts'

const LEASE_MS = 3000
/** People and faults end then. */
const BUSY_MS = 2 * LEASE_MS
/** So long whatever is under way may take. */
const QUIET_MS = 6 * LEASE_MS
const SESSIONS = 3

export interface Action {
  atMs: number
  kind: Kind
  instance: number
  session: string
  /** From 0 to 1: how long a fault is, and what a reader knows already. */
  size: number
}

/** What a seed has happen. A fifth of the seeds have people only. */
export function actionsOf(seed: number): Action[] {
  const random = createRandom(seed)
  const kinds: readonly Kind[] = random() < 0.2 ? people : [...people, ...faults]
  const length = 6 + Math.floor(random() * 16)
  const actions = Array.from({ length }, (): Action => {
    const kind = kinds[Math.floor(random() * kinds.length)] ?? 'send'
    return {
      ...{ atMs: random() * BUSY_MS, kind, size: random() },
      ...{ instance: Math.floor(random() * INSTANCES), session: `s${Math.floor(random() * SESSIONS)}` },
    }
  })
  return actions.sort((one, other) => one.atMs - other.atMs)
}

/** What was found broken, in words. */
export async function simulate(seed: number, actions: readonly Action[] = actionsOf(seed)): Promise<string[]> {
  using time = installVirtualTime()
  const random = createRandom(seed ^ 0x5eed)
  const broken = new Set<string>()
  const complain = (what: string) => void broken.add(what)
  const peers: Ground['peers'] = new Map()
  const leases = createSimulatedLeases((id) => peers.get(id)?.hasLease() ?? false, complain)
  const database = createSimulatedReplies(leases, time.now, complain)
  const checks = createChecks(database, leases, complain)
  const world = createWorld(
    {
      ...{ time, random, complain, leases, database, leaseMs: LEASE_MS, peers },
      network: createSimulatedNetwork(time, random, LEASE_MS),
      model: simulatedModel(random, checks.modelTurn),
    },
    checks,
  )
  const begin = time.now() + 300
  await time.runUntil(begin)
  for (const action of actions) {
    await time.runUntil(begin + action.atMs)
    world.play(action)
  }
  await time.runUntil(begin + BUSY_MS)
  world.heal()
  const latest = time.now() + QUIET_MS
  while (time.now() < latest && !world.isAtRest()) await time.runUntil(time.now() + 500)
  world.judge(actions.every(({ kind }) => !faults.some((fault) => fault === kind)))
  return [...broken]
}
