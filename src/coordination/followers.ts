/** The follower's side: replies that run in other instances and are read here. */
import type { Following, Notice, ReplyInfo } from '../actors/ports.ts'
import { encode, eventsOf, type Message } from './wire.ts'

/** An owner beats every 200 ms: after three beats missed the database is asked instead. */
const LIVE_MS = 700

interface Follower {
  reply: ReplyInfo
  heard(note: Notice): void
  /** When the owner spoke last of this reply (ms, monotonic). */
  spokenAt: number
}

export interface FollowersOptions {
  id: string
  /** Best effort; the text is an encoded message. */
  send(instanceId: string, text: string): void
}

export function createFollowers({ id, send }: FollowersOptions) {
  const byReply = new Map<string, Set<Follower>>()

  const ask = (say: 'follow' | 'leave', { id: reply, instanceId }: ReplyInfo) =>
    send(instanceId, encode({ say, reply, from: id }))

  const tell = (replyId: string, note: Notice) => {
    for (const follower of byReply.get(replyId) ?? []) {
      follower.spokenAt = note === 'ended' ? Number.NEGATIVE_INFINITY : performance.now()
      follower.heard(note)
    }
  }

  return {
    follow(reply: ReplyInfo, heard: (note: Notice) => void): Following {
      const follower: Follower = { reply, heard, spokenAt: Number.NEGATIVE_INFINITY }
      byReply.set(reply.id, (byReply.get(reply.id) ?? new Set()).add(follower))
      ask('follow', reply)
      return {
        isLive: () => performance.now() - follower.spokenAt < LIVE_MS,
        [Symbol.dispose]() {
          const all = byReply.get(reply.id)
          if (!all?.delete(follower) || all.size > 0) return
          byReply.delete(reply.id)
          ask('leave', reply)
        },
      }
    },
    hear(message: Extract<Message, { say: 'stored' | 'beat' | 'ended' }>): void {
      if (message.say === 'ended') {
        tell(message.reply, 'ended')
      } else if (message.say === 'stored') {
        const [seq, part] = message.after
        tell(message.reply, { after: { seq, part }, events: eventsOf(message) })
      } else {
        for (const [replyId, seq, part] of message.places) tell(replyId, { after: { seq, part }, events: [] })
      }
    },
    /** Asks again for everything that is followed: owners forget, and Redis may have lost what was said. */
    renew(): void {
      for (const [follower] of byReply.values()) if (follower) ask('follow', follower.reply)
    },
  }
}
