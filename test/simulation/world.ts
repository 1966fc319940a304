/** What people do, and what befalls the instances. */
import type { Settlement } from '../../src/actors/ports/index.ts'
import { type Reply, StreamCut } from '../../src/actors/reply/frame-log.ts'
import type { MessageRecord } from '../../src/actors/session/host.ts'
import { message } from '../actors/scene.ts'
import type { Checks } from './checks.ts'
import type { Action } from './simulate.ts'
import { type Ground, type SimulatedInstance, startInstance } from './simulated-instance.ts'
import { simulatedToolbox } from './simulated-model.ts'

export const INSTANCES = 3

export const people = [
  'send',
  'send',
  'send',
  'interrupt',
  'cancel',
  'delete',
  'again',
  'decide',
  'read',
  'read',
] as const
export const faults = ['crash', 'pause', 'cut', 'mute', 'bad'] as const
export type Kind = (typeof people | typeof faults)[number]

interface Reader {
  process: SimulatedInstance['process']
  end: 'ended' | 'cut' | null
  check: ReturnType<Checks['reader']>
}

interface World {
  ground: Ground
  checks: Checks
  instances: SimulatedInstance[]
  readers: Reader[]
  texts: number
}

export function createWorld(ground: Ground, checks: Checks) {
  const { time } = ground
  const instances = Array.from({ length: INSTANCES }, (_, n) => startInstance(ground, `i${n}`))
  const world: World = { ground, checks, instances, readers: [], texts: 0 }
  return {
    play(action: Action): void {
      const one = instances[action.instance]
      if (one === undefined || one.process.isDead || one.process.pausedUntil > time.now()) return
      const { kind } = action
      if (isFault(kind)) befall[kind](world, one, action)
      // What a caller is answered when the database is away is no matter of this.
      else time.within(one.process, () => void Promise.resolve(person[kind](world, one, action)).catch(() => {}))
    },
    /** All faults end. */
    heal(): void {
      for (const { process, way } of instances) {
        process.pausedUntil = Math.min(process.pausedUntil, time.now())
        Object.assign(way, { cutUntil: 0, muteUntil: 0, badUntil: 0 })
      }
    },
    isAtRest: () => troublesAtRest(world).length === 0,
    /** Call when all should have ended. `isCalm`: no fault has befallen them. */
    judge(isCalm: boolean): void {
      for (const trouble of troublesAtRest(world)) ground.complain(trouble)
      if (isCalm) checks.cancels()
      for (const { process, end, check } of world.readers) {
        if (process.isDead) continue
        if (end === 'cut' && isCalm) ground.complain('A stream broke off where nothing had failed.')
        if (end === 'ended') check.ended()
      }
    },
  }
}

const isFault = (kind: Kind): kind is (typeof faults)[number] => faults.some((fault) => fault === kind)

/** What has not ended yet. */
function troublesAtRest({ ground, instances, readers }: World): string[] {
  const troubles: string[] = []
  for (const { outcome, isDeleted } of ground.database.replies.values()) {
    if (outcome === null && !isDeleted) troubles.push('A reply never ended.')
  }
  for (const { process, host } of instances) {
    if (process.isDead) continue
    if (host.registry.running() !== 0) troubles.push('An instance has replies that run for ever.')
    if (host.owned.running().size !== 0) troubles.push('An instance owns replies for ever.')
  }
  for (const { process, end } of readers) if (!process.isDead && end === null) troubles.push('A reader waits for ever.')
  return troubles
}

function read({ readers, checks, ground }: World, { process }: SimulatedInstance, reply: Reply, after: number): void {
  const reader: Reader = { process, end: null, check: checks.reader(reply.info, after) }
  readers.push(reader)
  const reading = reply.read(after, new AbortController().signal, (frames) => {
    reader.check.take(frames)
    return undefined
  })
  reading.then(
    () => {
      reader.end = 'ended'
    },
    (error: unknown) => {
      reader.end = 'cut'
      if (!(error instanceof StreamCut)) ground.complain(`A reader was told of ${error}`)
    },
  )
}

async function send(world: World, one: SimulatedInstance, session: string, kind: 'reject' | 'interrupt' | 'decide') {
  const { database, random } = world.ground
  const waits = kind === 'decide' ? database.newest(session) : undefined
  if (kind === 'decide' && !waits?.waiting) return
  const record = message(session, {
    ...{ text: `m${world.texts++}`, onBusy: kind === 'interrupt' ? 'interrupt' : 'reject' },
    actions: { callerTools: [], toolChoice: null, canWait: true, shows: { approval: false, caller: false } },
    openToolbox: async () => simulatedToolbox(random, world.checks.toolCall),
  })
  const sent = await one.host.send(waits?.waiting ? deciding(record, waits.info.id, waits.waiting) : record)
  if ('reply' in sent) read(world, one, sent.reply, 0)
}

/** Returns the record with approvals of all calls that wait. */
function deciding(
  { message: sent, setup }: MessageRecord,
  waitId: string,
  { calls, carried }: NonNullable<Settlement['waiting']>,
): MessageRecord {
  const approved = calls.map(({ id }) => ({ id, decision: 'approve' as const }))
  return {
    message: sent,
    setup: { ...setup, continued: { carried, waitedMs: 0 } },
    extras: { approval: { decided: { waitId, calls: approved, inPart: false, hash: Buffer.from('') } } },
  }
}

/** What the newest reply holds behind an id of its own that a reader may know. */
async function open(world: World, one: SimulatedInstance, { session, size }: Action): Promise<void> {
  const newest = world.ground.database.newest(session)
  if (newest === undefined) return
  const known = newest.events[Math.floor(size * (newest.events.length + 1)) - 1]
  const reply = await one.host.open(newest.info.id)
  if (reply) read(world, one, reply, known?.seq ?? 0)
}

function remove({ ground: { database } }: World, one: SimulatedInstance, session: string): void {
  const owner = database.running(session)?.info.instanceId
  database.deleteSession(session)
  one.host.forget([session], owner === undefined ? [] : [owner])
}

const person: Record<(typeof people)[number], (world: World, one: SimulatedInstance, action: Action) => unknown> = {
  send: (world, one, { session }) => send(world, one, session, 'reject'),
  interrupt: (world, one, { session }) => send(world, one, session, 'interrupt'),
  decide: (world, one, { session }) => send(world, one, session, 'decide'),
  cancel: (_, one, { session }) => one.host.cancel(session),
  delete: (world, one, { session }) => remove(world, one, session),
  /** Another session under the id of one that was just deleted, through another instance. */
  again(world, one, { session, instance }) {
    const other = world.instances[(instance + 1) % INSTANCES]
    if (other && !other.process.isDead) {
      world.ground.time.within(other.process, () => remove(world, other, session))
    }
    return send(world, one, session, 'reject')
  },
  read: open,
}

const befall: Record<(typeof faults)[number], (world: World, one: SimulatedInstance, action: Action) => void> = {
  crash({ ground, instances }, { process }, { instance, size }) {
    process.isDead = true
    const { time, peers, leaseMs } = ground
    peers.delete(process.name)
    time.after(size * leaseMs, undefined, () => {
      instances[instance] = startInstance(ground, `${process.name}'`)
    })
  },
  pause: ({ ground: { time, leaseMs } }, { process }, { size }) => {
    process.pausedUntil = time.now() + size * 2.5 * leaseMs
  },
  cut: ({ ground: { time, leaseMs } }, { way }, { size }) => {
    way.cutUntil = time.now() + size * 2 * leaseMs
  },
  mute: ({ ground: { time, leaseMs } }, { way }, { size }) => {
    way.muteUntil = time.now() + size * 2 * leaseMs
  },
  bad: ({ ground: { time, leaseMs } }, { way }, { size }) => {
    way.badUntil = time.now() + size * 2 * leaseMs
  },
}
