/** An instance of Greenroom in the simulation: its host, machines, logs, lease and sweeps are the product's own. */
import { createLeaseGate } from '../../src/actors/generate/endings.ts'
import type { Exchange, Journal, Model } from '../../src/actors/ports/index.ts'
import { createHost, createSessionHost, type SessionHost } from '../../src/actors/session/host.ts'
import { pause } from '../../src/async/pause.ts'
import { createLocalCoordination, type LocalOptions } from '../../src/coordination/local.ts'
import { createFollowers } from '../../src/coordination/redis/followers.ts'
import { createMirrors } from '../../src/coordination/redis/mirrors.ts'
import { decode, encode, type Message } from '../../src/coordination/redis/wire.ts'
import { noRecorder } from '../actors/no-recorder.ts'
import { noDuties } from '../coordination/no-duties.ts'
import type { SimulatedLeases } from './simulated-leases.ts'
import type { Connection, SimulatedNetwork, Way } from './simulated-network.ts'
import type { Complain, SimulatedReplies } from './simulated-replies.ts'
import type { SimulatedProcess, VirtualTime } from './virtual-time.ts'

export interface Ground {
  time: VirtualTime
  network: SimulatedNetwork
  leases: SimulatedLeases
  database: SimulatedReplies
  random(): number
  complain: Complain
  leaseMs: number
  model: Model
  /** Those that live, by their ids: instances find each other here. */
  peers: Map<string, SimulatedInstance>
}

export interface SimulatedInstance {
  process: SimulatedProcess
  way: Way
  host: SessionHost
  receive(text: string): void
  /** Whether it takes its lease for valid. */
  hasLease(): boolean
}

/** Between two attempts of what is never given up. */
const RETRY_MS = 20
/** As coordination/redis/redis.ts has them. */
const HEARTBEAT_MS = 200
const FOLLOW_AGAIN_MS = 2000

type Ask = <T>(act: () => T) => Promise<T>

/** As the product's journal: what is to be stored is tried until there is an answer. */
function simulatedJournal(database: SimulatedReplies, ask: Ask, owner: () => { id: string; epoch: number }): Journal {
  async function untilAnswered<T>(act: () => T): Promise<T> {
    for (;;) {
      try {
        return await ask(act)
      } catch {
        await pause(RETRY_MS)
      }
    }
  }
  return {
    async admit(message) {
      const at = owner()
      return await ask(() => database.admit(message, at)).catch(() => ({ outcome: 'unknown' }) as const)
    },
    async append(reply, take) {
      const events = take()
      return await untilAnswered(() => database.append(reply, events))
    },
    withdraw() {},
    settle: (reply, settlement) => untilAnswered(() => database.settle(reply, settlement)),
    read: (replyId, after) => ask(() => database.read(replyId, after)),
    requestCancel: (sessionId) => ask(() => database.requestCancel(sessionId)),
    history: async () => ({ messages: [], isWhole: true, checkpoint: null, before: null }),
    isHeld: async () => false,
    epoch: () => owner().epoch,
    parts: async () => [],
  }
}

/** What instances tell each other, put together as coordination/redis/redis.ts does it. */
function simulatedExchange(
  { network, peers }: Ground,
  id: string,
  way: Way,
  at: { placeOf: Parameters<typeof createMirrors>[0]['placeOf']; wake(): void },
) {
  const send = (to: string, text: string) => {
    const peer = peers.get(to)
    if (peer) network.tell(way, peer.process, () => peer.receive(text))
  }
  const mirrors = createMirrors({ send, placeOf: at.placeOf })
  const followers = createFollowers({ id, send })
  const exchange: Exchange = {
    wake: (ids) => {
      for (const one of ids) if (one !== id) send(one, encode({ type: 'wake' }))
    },
    ...{ follow: followers.follow, stored: mirrors.stored, ended: mirrors.ended },
  }
  function receive(text: string): void {
    const message: Message | null = decode(text)
    if (message === null || message.type === 'echo') return
    if (message.type === 'wake') at.wake()
    else if (message.type === 'follow') mirrors.follow(message.reply, message.from)
    else if (message.type === 'leave') mirrors.leave(message.reply, message.from)
    else followers.receive(message)
  }
  function start(): void {
    setInterval(mirrors.heartbeat, HEARTBEAT_MS)
    setInterval(followers.renew, FOLLOW_AGAIN_MS)
  }
  return { exchange, receive, start }
}

/** Joined once: each place in the code has one array of its own. */
const joined = new WeakMap<TemplateStringsArray, string>()

function textOf(texts: TemplateStringsArray): string {
  const text = joined.get(texts) ?? texts.join('?')
  joined.set(texts, text)
  return text
}

function coordinationOptions(ground: Ground, id: string, askOn: (connection: Connection) => Ask): LocalOptions {
  const { database, leases, leaseMs } = ground
  const sqlOn = (connection: Connection) => {
    const ask = askOn(connection)
    const sql = (texts: TemplateStringsArray, ...values: unknown[]) => {
      const text = textOf(texts)
      if (text.includes('delete from instances')) return Promise.resolve([])
      return ask(() => leases.statement(text, values))
    }
    return sql as never
  }
  const ask = askOn('work')
  const unknown = { agentId: null, providerId: null, model: null, offered: null, ms: 0 }
  return {
    ...{ id, leaseMs, alone: false, sql: sqlOn('lease'), work: sqlOn('work') },
    log: { warn() {}, info() {} },
    replies: {
      streaming: (owner) => ask(() => database.streaming(owner)),
      async settleLost() {
        const lost = await ask(() => database.settleLost())
        return lost.map(({ id: replyId, sessionId, instanceId }) => ({ ...unknown, replyId, sessionId, instanceId }))
      },
      intents: (owner) => ask(() => database.intents(owner)),
      removeIntents: (applied) => ask(() => database.removeIntents(applied)),
      missingAgents: async () => [],
    },
  }
}

export function startInstance(ground: Ground, id: string): SimulatedInstance {
  const { time, network, database, leaseMs, model, complain, peers } = ground
  const process: SimulatedProcess = { name: id, isDead: false, pausedUntil: 0 }
  const way: Way = { cutUntil: 0, muteUntil: 0, badUntil: 0 }
  const askOn =
    (connection: Connection): Ask =>
    (act) =>
      network.ask(process, way, connection, act)
  return time.within(process, () => {
    const coordination = createLocalCoordination(coordinationOptions(ground, id, askOn))
    const hasLease = () => performance.now() < coordination.validUntil()
    const { exchange, receive, start } = simulatedExchange(ground, id, way, {
      placeOf: (replyId) => (hasLease() ? host.owned.placeOf(replyId) : null),
      wake: () => void coordination.wake(),
    })
    const error = (details: object) => complain(`An error was logged: ${JSON.stringify(details)}`)
    const inner = createHost({
      ...{ model, leaseMs, exchange, recorder: noRecorder, log: { error, warn() {}, info() {} } },
      ...{ maxRunning: 100, historyMaxTokens: 1000, generationTimeoutMs: 3 * leaseMs },
      journal: simulatedJournal(database, askOn('work'), () => ({ id, epoch: coordination.epoch() })),
      gate: createLeaseGate(coordination.validUntil),
    })
    const host = createSessionHost(inner, [])
    async function join(): Promise<void> {
      for (;;) {
        try {
          await coordination.join()
          break
        } catch {
          await pause(RETRY_MS)
        }
      }
      coordination.start(host.owned, { ...noDuties, tick: host.tick })
      start()
    }
    void join()
    const instance: SimulatedInstance = { process, way, host, receive, hasLease }
    peers.set(id, instance)
    return instance
  })
}
