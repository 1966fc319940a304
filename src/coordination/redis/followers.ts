/** The follower's side: replies that run in other instances and have readers here. */
import type { Following, Notice, ReplyInfo } from '../../actors/ports/index.ts'
import { encode, eventsOf, type Message } from './wire.ts'

/** An owner sends a heartbeat every 200 ms: after three missed ones, the database is polled instead. */
const LIVE_MS = 700

interface Follower {
  reply: ReplyInfo
  onNotice(notice: Notice): void
  /** Time at which the owner's last message about this reply arrived (ms, monotonic). */
  receivedAt: number
}

export interface FollowersOptions {
  id: string
  /** Sends a message, by best effort; the text is an encoded message. */
  send(instanceId: string, text: string): void
}

export function createFollowers({ id, send }: FollowersOptions) {
  const byReply = new Map<string, Set<Follower>>()

  const ask = (type: 'follow' | 'leave', { id: reply, instanceId }: ReplyInfo) =>
    send(instanceId, encode({ type, reply, from: id }))

  const notify = (replyId: string, notice: Notice) => {
    for (const follower of byReply.get(replyId) ?? []) {
      follower.receivedAt = notice === 'ended' ? Number.NEGATIVE_INFINITY : performance.now()
      follower.onNotice(notice)
    }
  }

  return {
    follow(reply: ReplyInfo, onNotice: (notice: Notice) => void): Following {
      const follower: Follower = { reply, onNotice, receivedAt: Number.NEGATIVE_INFINITY }
      byReply.set(reply.id, (byReply.get(reply.id) ?? new Set()).add(follower))
      ask('follow', reply)
      return {
        isLive: () => performance.now() - follower.receivedAt < LIVE_MS,
        [Symbol.dispose]() {
          const all = byReply.get(reply.id)
          if (!all?.delete(follower) || all.size > 0) return
          byReply.delete(reply.id)
          ask('leave', reply)
        },
      }
    },
    receive(message: Extract<Message, { type: 'stored' | 'heartbeat' | 'ended' }>): void {
      if (message.type === 'ended') {
        notify(message.reply, 'ended')
      } else if (message.type === 'stored') {
        const [seq, part] = message.after
        notify(message.reply, { after: { seq, part }, events: eventsOf(message) })
      } else {
        for (const [replyId, seq, part] of message.places) notify(replyId, { after: { seq, part }, events: [] })
      }
    },
    /** Repeats all follow requests: owners drop silent followers, and Redis may have lost messages. */
    renew(): void {
      for (const [follower] of byReply.values()) if (follower) ask('follow', follower.reply)
    },
  }
}
