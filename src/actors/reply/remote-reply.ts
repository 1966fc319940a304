/**
 * Replies that do not run here: finished, or owned by another instance. Those who read the same one here share one
 * frame log. It is filled from the database, and between two reads by what the owner announces as stored (the
 * exchange): a notice that is not contiguous, or silence, sends it back to the database. An event that is not contiguous
 * is not shown: a database that lost what it had committed once showed frame 71 after 66.
 */

import { atMost } from '../../async/pause.ts'
import type { Exchange, Following, Journal, Notice, Place, ReplyInfo, StoredReply } from '../ports/index.ts'
import { createFrameLog, type FrameLog, type Reply } from './frame-log.ts'
import type { StoredEvent } from './reply-event.ts'

/** A reconnect elsewhere follows the stored frames within 0.5 s (contract section 7). */
const POLL_MS = 250

export interface RemoteOptions {
  read: Journal['read']
  exchange: Exchange
  /**
   * The longest wait of a follower for a database that does not answer, before its stream breaks off (milliseconds).
   */
  waitLimitMs: number
}

export interface RemoteReplies {
  /** Opens a reply as it is stored now, and on from there. Null when there is none (any more). */
  open(replyId: string): Promise<Reply | null>
  /** Returns the replies that are followed here, with the number of their readers. */
  followed(): { sessionId: string; subscribers: number }[]
  /**
   * Follows a reply that ran here, and that another instance goes on with: its readers here read on. When there are
   * none the log is cut: who opened the reply while it ran here, and reads it only then, would wait for what nobody
   * fills in any more. `place`: the newest event in the log.
   */
  goOn(log: FrameLog, place: Place): void
  /** Resolves when nobody here reads replies any more that ran here, or after `ms`. */
  givenRead(ms: number): Promise<void>
  /** Breaks their streams off. */
  cutGiven(): void
}

interface Remote {
  log: FrameLog
  /** The owner, as far as it is known here. */
  owner: Pick<ReplyInfo, 'instanceId' | 'epoch'>
  /** The newest event in the log. */
  place: Place
  /** All events up to this flush of the owner are in the log; see `StoredReply`. */
  readTo: number
  /** The time (ms, monotonic) of the first event that is not contiguous with it; null when none came. */
  gapSince: number | null
  /** The subscription to the owner, while the reply is pumped. */
  following: Following | null
  isPumped: boolean
  /** Cuts the pump's waiting short. */
  wake(): void
}

const isAfter = (one: Place, other: Place): boolean =>
  one.seq > other.seq || (one.seq === other.seq && one.part > other.part)

export function createRemoteReplies({ read, exchange, waitLimitMs }: RemoteOptions): RemoteReplies {
  const followed = new Map<string, Remote>()
  /** Replies that ran here, and when they are not read here any more. */
  const given = new Map<Remote, Promise<void>>()

  async function open(replyId: string): Promise<Reply | null> {
    const known = followed.get(replyId)
    // Read anew for each reader: it may have seen on the owner's instance what has not reached this one yet.
    const stored = await read(replyId, known?.place.seq ?? 0, known?.readTo)
    if (stored === null) return null
    const remote = known ?? followed.get(replyId) ?? createRemote(createFrameLog(stored.info), firstPlace(stored.info))
    if (remote.log.state() === 'cut' || !advance(remote, stored)) return await open(replyId)
    return { info: remote.log.info, read: (...how) => readRemote(remote, ...how) }
  }

  async function readRemote(remote: Remote, ...how: Parameters<Reply['read']>): Promise<void> {
    const anew = remote.log.state() === 'cut' && (await open(remote.log.info.id)) // its last reader left since it was opened
    if (anew) return await anew.read(...how)
    const reading = remote.log.read(...how)
    if (!remote.isPumped) void pump(remote)
    try {
      await reading
    } finally {
      if (remote.log.subscribers() === 0) remote.wake()
    }
  }

  /** Fills the log for as long as it is read and its reply runs. */
  async function pump(remote: Remote): Promise<void> {
    const { log } = remote
    if (log.state() !== 'open') return
    remote.isPumped = true
    if (!followed.has(log.info.id)) followed.set(log.info.id, remote)
    const following = () => (remote.following ??= follow(remote, exchange))
    let answeredAt = performance.now()
    const since = (at: number) => performance.now() - at
    while (log.state() === 'open' && log.subscribers() > 0) {
      following()
      const isWoken = await pause(remote, POLL_MS)
      // Whatever the owner can still announce, the database decides: it is asked once in half the limit at least.
      const isFresh = following().isLive() && since(answeredAt) < waitLimitMs / 2
      if (log.subscribers() === 0 || (!isWoken && isFresh)) continue
      if (await update(remote)) answeredAt = performance.now()
      else if (!following().isLive() && since(answeredAt) > waitLimitMs) log.cut()
      if (remote.gapSince !== null && since(remote.gapSince) > waitLimitMs) log.cut()
    }
    unfollow(remote)
    remote.isPumped = false
    if (followed.get(log.info.id) === remote) followed.delete(log.info.id)
  }

  /** Brings the log up to what is stored now. False when the database gave no answer. */
  async function update(remote: Remote): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<'late'>()
    const timer = setTimeout(resolve, waitLimitMs, 'late')
    try {
      const stored = await Promise.race([read(remote.log.info.id, remote.place.seq, remote.readTo), late])
      if (stored === 'late') return false
      if (stored === null) remote.log.drop()
      else if (!advance(remote, stored)) return await update(remote)
      return true
    } catch {
      return false
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    open,
    followed: () => [...followed.values()].map(readersOf),
    goOn(log, place) {
      const remote = createRemote(log, place)
      if (log.state() === 'open') followed.set(log.info.id, remote)
      const end = () => {
        given.delete(remote)
        log.cut()
      }
      given.set(remote, pump(remote).finally(end))
    },
    givenRead: (ms) => atMost(ms, Promise.all(given.values())),
    cutGiven() {
      for (const { log } of given.keys()) log.cut()
    },
  }
}

const readersOf = ({ log }: Remote) => ({ sessionId: log.info.sessionId, subscribers: log.subscribers() })

const firstPlace = ({ firstSeq }: ReplyInfo): Place => ({ seq: firstSeq, part: 0 })

function createRemote(log: FrameLog, place: Place): Remote {
  const { instanceId, epoch } = log.info
  const owner = { instanceId, epoch }
  return { log, owner, place, readTo: 0, gapSince: null, following: null, isPumped: false, wake() {} }
}

const follow = (remote: Remote, exchange: Exchange): Following =>
  exchange.follow({ ...remote.log.info, ...remote.owner }, (notice) => {
    if (!applyNotice(remote, notice)) remote.wake()
  })

function unfollow(remote: Remote): void {
  remote.following?.[Symbol.dispose]()
  remote.following = null
}

const isNext = (one: Place, other: Place): boolean =>
  one.part === 0 ? one.seq === other.seq + 1 : one.seq === other.seq && one.part === other.part + 1

/** Takes what the log does not have yet, up to the first gap. False when there is one. */
function push(remote: Remote, events: readonly StoredEvent[]): boolean {
  const joining: StoredEvent[] = []
  for (const event of events) {
    if (!isAfter(event, remote.place)) continue
    if (!isNext(event, remote.place)) break
    joining.push(event)
    remote.place = event
  }
  remote.log.push(joining)
  const last = events.at(-1)
  const isWhole = last === undefined || !isAfter(last, remote.place)
  if (isWhole) remote.gapSince = null
  else remote.gapSince ??= performance.now()
  return isWhole
}

/**
 * Returns false when another instance has become the owner: its flushes were counted as the former one's, so it is to
 * be read anew.
 */
function advance(remote: Remote, { info, events, outcome, endedAt, settledAt, readTo }: StoredReply): boolean {
  const { instanceId, epoch } = info
  if (outcome === null && (instanceId !== remote.owner.instanceId || epoch !== remote.owner.epoch)) {
    remote.owner = { instanceId, epoch }
    remote.readTo = 0
    unfollow(remote)
    return false
  }
  if (push(remote, events)) remote.readTo = Math.max(remote.readTo, readTo)
  if (outcome !== null && endedAt !== null && settledAt !== null) remote.log.close({ outcome, endedAt, settledAt })
  return true
}

/** Returns false when only the database knows what has happened. */
function applyNotice(remote: Remote, notice: Notice): boolean {
  if (notice === 'ended' || isAfter(notice.after, remote.place)) return false
  return push(remote, notice.events)
}

/** Resolves to true when woken, to false after `ms`. */
function pause(remote: Remote, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, false)
    remote.wake = () => {
      clearTimeout(timer)
      resolve(true)
    }
  })
}
