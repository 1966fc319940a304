/** Gives running replies away while this instance drains: at a boundary, or as they stand when its time is over. */

import type { ReplyInfo } from '../../actors/ports/index.ts'
import { noUsage } from '../../actors/reply/reply-event.ts'
import type { Host } from '../../actors/session/host.ts'
import { cancelReply } from '../../actors/session/live-sessions.ts'
import type { LiveSession } from '../../actors/session/registry.ts'
import { atMost, pause } from '../../async/pause.ts'
import type { Handovers } from './handovers.ts'

/** An instance that is ready takes a reply within half a second: one that nobody takes goes on here. */
const LONGEST_OFFER_MS = 3000
const POLL_MS = 100
/** Longest wait until all that a reply has said is stored, when the time of the drain is over. */
const STORE_MS = 3000

/** A reply that is offered to other instances. */
interface Offer {
  /** Requested meanwhile: the cancel reaches the instance that has the reply afterwards. */
  cancelled: boolean
  /** This instance ends: the offer stands until another one takes it. */
  isLeft: boolean
  /** The promise that resolves when the reply is another instance's, or goes on here. */
  over: PromiseWithResolvers<void>
  /** Cuts its waiting short. */
  wake(): void
}

export interface Offering {
  host: Host
  handovers: Handovers
  /** Offers by the id of their reply. */
  offers: Map<string, Offer>
  /** The drain's time limit has passed: no reply is offered at a boundary any more. */
  isLeaving: boolean
}

/**
 * Offers a reply at a boundary. Resolves to true when it goes on here: no other instance is ready, or none has taken it. Else
 * its actor stops meanwhile.
 */
export async function offerAtBoundary(offering: Offering, replyId: string): Promise<boolean> {
  const { host, handovers } = offering
  const session = host.byReply.get(replyId)
  if (!session) return true
  const { log } = session.reply
  if ((await log.stored()) !== 'stored' || log.state() !== 'open') return true
  // The other instance counts on from the notes.
  await host.recorder.flush()
  // A cancel, or the end of the drain's time, may have come meanwhile: the reply is settled, or offered as it stands.
  if (offering.isLeaving || !goesOn(host, session)) return true
  const offer = begin(offering, session)
  try {
    const offered = await handovers.offer(log.info, 'boundary')
    if (offered === 'refused') return true
    const isTaken = offered === 'gone' || (await untilTaken(handovers, log.info, offer))
    if (isTaken) host.remote.goOn(log.handOver(), log.place())
    else if (offer.isLeft && !offer.cancelled) log.cut()
    else if (await handovers.takeBack(log.info)) return true
    else host.remote.goOn(log.handOver(), log.place())
    releaseReply(host, session)
  } catch (err) {
    // It may be another's by now: nothing more is done for it here.
    host.left.add(replyId)
    host.options.log.error({ err, replyId }, 'A reply could not be handed over.')
    session.actor.send({ type: 'lost' })
  } finally {
    end(offering, session)
    if (offer.cancelled) cancelReply(host, replyId)
  }
  return false
}

/** Decides whether a reply can be given away. One that settles has ended: it would be continued after its end. */
const goesOn = ({ byReply }: Host, session: LiveSession): boolean =>
  byReply.get(session.reply.log.info.id) === session && session.state !== 'streaming.settling'

function begin({ offers }: Offering, session: LiveSession): Offer {
  const offer: Offer = { cancelled: false, isLeft: false, over: Promise.withResolvers(), wake() {} }
  offers.set(session.reply.log.info.id, offer)
  session.offer = {
    cancel() {
      offer.cancelled = true
      offer.wake()
    },
  }
  return offer
}

function end({ offers }: Offering, session: LiveSession): void {
  const { id } = session.reply.log.info
  session.offer = null
  offers.get(id)?.over.resolve()
  offers.delete(id)
}

/**
 * Resolves to whether another instance takes a reply within the time of an offer, before it is cancelled here or the
 * time of the drain is over.
 */
async function untilTaken(handovers: Handovers, reply: ReplyInfo, offer: Offer): Promise<boolean> {
  const until = performance.now() + LONGEST_OFFER_MS
  while (!offer.cancelled && !offer.isLeft && performance.now() < until) {
    const woken = new AbortController()
    offer.wake = () => woken.abort()
    await pause(POLL_MS, woken.signal)
    const isOwn = await handovers.isOwn(reply.id).catch(() => true)
    if (!isOwn) return true
  }
  return false
}

/**
 * Stops the replies that another instance or the next start goes on with, and offers them as they stand: the time of the
 * drain is over. A reply that is offered at a boundary stays so, unless it comes back.
 */
export async function offerTheRest(offering: Offering): Promise<void> {
  const { host, handovers } = offering
  offering.isLeaving = true
  const running = [...host.byReply.values()].filter(({ state }) => state !== 'streaming.settling')
  const ids = running.map(({ reply }) => reply.log.info.id)
  // Unknown is not "no": all are left as they stand then, and go on when this instance is lost.
  const going = await handovers.mayGoOn(ids).catch(() => null)
  const left = [...offering.offers.values()].map(leave)
  const rest = running.filter(({ reply }) => going?.has(reply.log.info.id) !== false)
  await Promise.all([...left, ...rest.map((one) => stopAndOffer(offering, one, going !== null))])
}

function leave(offer: Offer): Promise<void> {
  offer.isLeft = true
  offer.wake()
  return offer.over.promise
}

async function stopAndOffer(offering: Offering, session: LiveSession, mayGoOn: boolean): Promise<void> {
  const { log } = session.reply
  const { host, handovers, offers } = offering
  const { id } = log.info
  // An offer at a boundary that is refused or taken back just now leaves the reply here.
  await offers.get(id)?.over.promise
  if (!goesOn(host, session)) return
  begin(offering, session)
  // The actor emits nothing after this. What it has emitted is stored as usual.
  session.actor.stop()
  try {
    await atMost(STORE_MS, log.stored())
    await host.recorder.flush()
    // One that is not stored by now is lost with this instance, and goes on all the same.
    host.left.add(id)
    if (mayGoOn && log.unstoredSince() === null) {
      await handovers.offer(log.info, 'shutdown')
      host.left.delete(id)
    }
  } catch (err) {
    host.options.log.error({ err, replyId: id }, 'A reply could not be given away.')
  } finally {
    log.cut()
    releaseReply(host, session)
    end(offering, session)
  }
}

/**
 * Releases a reply that another instance goes on with: its actor stops here. Its log is the caller's to end, or to
 * follow.
 */
function releaseReply({ byReply, registry, exchange }: Host, session: LiveSession): void {
  const { reply, actor } = session
  const { id } = reply.log.info
  actor.stop()
  if (registry.live.get(session.sessionId) === session) registry.forget(session.sessionId)
  if (byReply.delete(id)) {
    registry.ended()
    reply.observer.on({ type: 'ended', outcome: 'handed_over', usage: noUsage, error: null })
  }
  exchange.ended(id)
  session.ended.resolve()
}
