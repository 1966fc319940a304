/** Gives running replies away while this instance drains: at a boundary, or as they stand when its time is over. */

import type { Handovers, ReplyInfo } from '../../actors/ports/index.ts'
import type { RemoteReplies } from '../../actors/reply/remote-reply.ts'
import { cancelReply, type Giving, type LiveSessions, releaseReply } from '../../actors/session/live-sessions.ts'
import type { LiveSession } from '../../actors/session/registry.ts'
import { atMost, pause } from '../../async/pause.ts'

/** An instance that is ready takes a reply within half a second: one that nobody takes goes on here. */
const LONGEST_OFFER_MS = 3000
const POLL_MS = 100
/** Longest wait until all that a reply has said is stored, when the time of the drain is over. */
const STORE_MS = 3000

export interface GivingHost extends LiveSessions {
  options: {
    handovers?: Handovers
    log: { error(details: object, message: string): void; info(details: object, message: string): void }
  }
  remote: RemoteReplies
  /** The drain's time limit has passed: no reply is offered at a boundary any more. */
  isLeaving: boolean
}

/**
 * Resolves when the reply goes on here: no other instance is ready, or none has taken it. Else its actor stops meanwhile.
 */
export async function offerAtBoundary(host: GivingHost, replyId: string): Promise<void> {
  const { handovers } = host.options
  const session = host.byReply.get(replyId)
  if (!handovers || !session) return
  const { log } = session.reply
  if ((await log.stored()) !== 'stored' || log.state() !== 'open') return
  // The other instance counts on from the notes.
  await host.recorder.flush()
  // A cancel, or the end of the drain's time, may have come meanwhile: the reply is settled, or offered as it stands.
  if (host.isLeaving || !goesOn(host, session)) return
  const giving = begin(host, replyId)
  try {
    const offered = await handovers.offer(log.info, 'boundary')
    if (offered === 'refused') return
    const isTaken = offered === 'gone' || (await untilTaken(handovers, log.info, giving))
    if (isTaken) host.remote.goOn(log.handOver(), log.place())
    else if (giving.isLeft && !giving.cancelled) log.cut()
    else if (await handovers.takeBack(log.info)) return
    else host.remote.goOn(log.handOver(), log.place())
    releaseReply(host, session)
  } catch (err) {
    // It may be another's by now: nothing more is done for it here. If it is not, it is an orphan.
    host.options.log.error({ err, replyId }, 'A reply could not be handed over.')
    session.actor.send({ type: 'lost' })
  } finally {
    end(host, replyId)
    if (giving.cancelled) cancelReply(host, replyId)
  }
}

/**
 * Returns whether a reply still runs. A reply that is settling has ended: given away, it would be continued after its
 * end.
 */
const goesOn = ({ byReply }: GivingHost, session: LiveSession): boolean =>
  byReply.get(session.reply.log.info.id) === session && session.state !== 'streaming.settling'

function begin(host: GivingHost, replyId: string): Giving {
  const giving: Giving = { cancelled: false, isLeft: false, over: Promise.withResolvers(), wake() {} }
  host.giving.set(replyId, giving)
  return giving
}

function end(host: GivingHost, replyId: string): void {
  host.giving.get(replyId)?.over.resolve()
  host.giving.delete(replyId)
}

/**
 * Returns whether another instance takes the reply within the time of an offer, before it is cancelled here or the time
 * of the drain is over.
 */
async function untilTaken(handovers: Handovers, reply: ReplyInfo, giving: Giving): Promise<boolean> {
  const until = performance.now() + LONGEST_OFFER_MS
  while (!giving.cancelled && !giving.isLeft && performance.now() < until) {
    const woken = new AbortController()
    giving.wake = () => woken.abort()
    await pause(POLL_MS, woken.signal)
    const isOwn = await handovers.isOwn(reply.id).catch(() => true)
    if (!isOwn) return true
  }
  return false
}

/**
 * Offers the remaining replies, because the time of the drain is over. Replies that another instance or the next start
 * continues stop here, and are offered as they stand. A reply offered at a boundary stays so, unless it comes back.
 */
export async function offerTheRest(host: GivingHost): Promise<void> {
  const { handovers } = host.options
  host.isLeaving = true
  if (!handovers) return
  const running = [...host.byReply.values()].filter(({ state }) => state !== 'streaming.settling')
  const going = await handovers.mayGoOn(running.map(({ reply }) => reply.log.info.id)).catch(() => new Set<string>())
  const left = [...host.giving.values()].map(leave)
  const rest = running.filter(({ reply }) => going.has(reply.log.info.id))
  await Promise.all([...left, ...rest.map((one) => stopAndOffer(host, one))])
}

function leave(giving: Giving): Promise<void> {
  giving.isLeft = true
  giving.wake()
  return giving.over.promise
}

async function stopAndOffer(host: GivingHost, session: LiveSession): Promise<void> {
  const { log } = session.reply
  const { handovers } = host.options
  const { id } = log.info
  // An offer at a boundary that is refused or taken back just now leaves the reply here.
  await host.giving.get(id)?.over.promise
  if (!handovers || !goesOn(host, session)) return
  begin(host, id)
  // The actor emits nothing after this. What it has emitted is stored as usual.
  session.actor.stop()
  try {
    await atMost(STORE_MS, log.stored())
    await host.recorder.flush()
    // One that is not stored by now is lost with this instance, and goes on all the same.
    if (log.unstoredSince() === null) await handovers.offer(log.info, 'shutdown')
  } catch (err) {
    host.options.log.error({ err, replyId: id }, 'A reply could not be given away.')
  } finally {
    log.cut()
    releaseReply(host, session)
    end(host, id)
  }
}
