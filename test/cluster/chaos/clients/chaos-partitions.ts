/**
 * Partitions one instance from PostgreSQL, Redis or both, without other faults: each client's stream of its replies, talking
 * or silent, on it and on other instances, ends within two leases and a second (contract section 10). Partitioned from
 * Redis alone, nothing ends.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Wire } from '../../../support/network/wire.ts'
import { type Cluster, LEASE_MS } from '../../../support/programs/cluster.ts'
import { type Manner, textOf } from '../chaos-model.ts'
import type { SessionSeen } from '../chaos-witness.ts'
import { brokenByRedis, type Ended, limitsFor, type Measured, measureEnd } from '../checks/chaos-bounds.ts'
import { type Crowd, count, openSession, pathOf, post, type Send } from './chaos-requests.ts'
import { type Reading, readToEnd } from './chaos-streams.ts'

const cuts = ['PostgreSQL', 'both', 'Redis'] as const
export type Cut = (typeof cuts)[number]
const wireFaults = ['refuse', 'blackhole', 'deafen', 'stall'] as const
export type WireFault = (typeof wireFaults)[number]

export interface Partition {
  cut: Cut
  fault: WireFault
  /** The partitioned instance. */
  instance: number
}

/** All kinds, each on a different instance than the one before. */
export const allPartitions = (instances: number, hasRedis: boolean): Partition[] =>
  (hasRedis ? cuts : (['PostgreSQL'] as const))
    .flatMap((cut) => wireFaults.map((fault) => ({ cut, fault })))
    .map((one, n) => ({ ...one, instance: n % instances }))

/** Resolves to the measurements when the instance is back. `marker`: unique for each call. */
export async function partition(
  crowd: Crowd,
  cluster: Cluster,
  { cut, fault, instance }: Partition,
  marker: string,
): Promise<Measured[]> {
  const name = `${cut}, ${fault}${cluster.redis ? '' : ', without Redis'}`
  count(crowd, `partition: ${name}`)
  const limit = limitsFor(LEASE_MS)['stream ended']
  const giveUp = new AbortController()
  const streams: Promise<Ended>[] = []
  const sessions: SessionSeen[] = []
  for (const [n, manner] of (['talking', 'silent'] as const).entries()) {
    const begun = await begin(crowd, { instance, manner, marker: `${marker}${n}` }, giveUp.signal)
    streams.push(...begun.streams.map((stream) => endOf(stream, `${name}, ${manner}`)))
    sessions.push(begun.session)
  }
  const wires = wiresOf(cluster, instance, cut)
  for (const wire of wires) wire[fault]()
  if (cut === 'Redis') await pause(2 * LEASE_MS)
  const endsAt = performance.now()
  if (cut === 'Redis') await Promise.all(sessions.map((session) => stop(crowd, session, instance)))
  const timer = setTimeout(() => giveUp.abort(), limit + 5000)
  const ended = await Promise.all(streams)
  clearTimeout(timer)
  for (const wire of wires) wire.pass()
  await isBack(crowd, instance)
  if (cut === 'Redis') crowd.witness.violations.push(...brokenByRedis(ended, endsAt))
  return ended.map((one) => measureEnd(one, endsAt))
}

const wiresOf = ({ wires }: Cluster, instance: number, cut: Cut): Wire[] => {
  const { database, redis } = wires[instance] ?? {}
  return [cut === 'Redis' ? null : database, cut === 'PostgreSQL' ? null : redis].filter((wire) => wire != null)
}

interface Begun {
  session: SessionSeen
  streams: Reading[]
}

/** A reply that runs there, with the stream of its request and a follower on every other instance. */
async function begin(
  crowd: Crowd,
  { instance, manner, marker }: { instance: number; manner: Manner; marker: string },
  signal: AbortSignal,
): Promise<Begun> {
  const session = await openSession(crowd, () => 0)
  if (session === null) throw new Error('The run is over.')
  const send: Send = { marker, manner, session, key: null, tries: [] }
  crowd.sends.push(send)
  const url = `${crowd.urls[instance]}${pathOf(session)}/chat/completions`
  const body = { messages: [{ role: 'user', content: textOf(marker, manner) }], stream: true }
  const answer = await fetch(url, { ...post(body), signal })
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`)
  send.tries.push({ outcome: 'accepted', status: 200, reply: null, content: null })
  const first = readToEnd(crowd, session, answer)
  await first.hasText
  const followers = await Promise.all(
    crowd.urls
      .filter((_, n) => n !== instance)
      .map(async (other) => {
        const stream = await followOn(crowd, session, other, signal)
        await stream.hasText
        return stream
      }),
  )
  return { session, streams: [first, ...followers] }
}

/** After a partition an instance still has connections that it does not know to be dead: 503 until it does. */
async function followOn(crowd: Crowd, session: SessionSeen, instance: string, signal: AbortSignal): Promise<Reading> {
  for (const deadline = performance.now() + 30_000; ; await pause(100)) {
    const answer = await fetch(`${instance}${pathOf(session)}/chat/completions/stream`, { signal })
    if (answer.status === 200) return readToEnd(crowd, session, answer)
    const text = await answer.text()
    if (performance.now() > deadline) throw new Error(`${answer.status}: ${text}`)
  }
}

async function endOf({ isWhole }: Reading, detail: string): Promise<Ended> {
  try {
    return { detail, isWhole: await isWhole, at: performance.now() }
  } catch {
    return { detail, isWhole: false, at: null }
  }
}

async function stop(crowd: Crowd, session: SessionSeen, instance: number): Promise<void> {
  session.cancels += 1
  const url = `${crowd.urls[(instance + 1) % crowd.urls.length]}${pathOf(session)}/chat/completions/cancel`
  const answer = await fetch(url, post({}))
  await answer.body?.cancel()
}

/** Waits until it accepts messages again. */
async function isBack(crowd: Crowd, instance: number): Promise<void> {
  const session = await openSession(crowd, () => 0)
  for (
    const deadline = performance.now() + 60_000;
    session !== null && performance.now() < deadline;
    await pause(100)
  ) {
    const answer = await fetch(`${crowd.urls[instance]}/readyz`).catch(() => null)
    await answer?.body?.cancel()
    if (answer?.status === 200) return
  }
  crowd.witness.violations.push({ rule: 'goes-on', session: '', detail: `instance ${instance} is not back` })
}
