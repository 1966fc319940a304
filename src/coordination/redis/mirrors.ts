/** The owner's side: which instances follow which of its replies, and what it sends them. */
import type { Place } from '../../actors/ports/index.ts'
import type { StoredEvent } from '../../actors/reply/reply-event.ts'
import { encode, type Message, storedMessage } from './wire.ts'

/** A follower that has not renewed for so long is gone (it renews every 2 s). */
const FORGET_MS = 7000

export interface MirrorOptions {
  /** Sends a message, by best effort; the text is an encoded message. */
  send(instanceId: string, text: string): void
  /** Returns the newest stored event of a reply that runs here. Null when it does not, or nothing of it may be published. */
  placeOf(replyId: string): Place | null
}

export function createMirrors({ send, placeOf }: MirrorOptions) {
  /** The time (ms, monotonic) until which an instance follows a reply. */
  const followers = new Map<string, Map<string, number>>()

  const notify = (replyId: string, message: () => Message) => {
    const instances = followers.get(replyId)
    if (instances === undefined) return
    const text = encode(message())
    for (const instanceId of instances.keys()) send(instanceId, text)
  }

  return {
    follow(replyId: string, from: string): void {
      const place = placeOf(replyId)
      if (place === null) {
        send(from, encode({ type: 'ended', reply: replyId }))
        return
      }
      const instances = followers.get(replyId) ?? new Map<string, number>()
      followers.set(replyId, instances.set(from, performance.now() + FORGET_MS))
      send(from, encode({ type: 'heartbeat', places: [[replyId, place.seq, place.part]] }))
    },
    leave(replyId: string, from: string): void {
      const instances = followers.get(replyId)
      if (instances?.delete(from) && instances.size === 0) followers.delete(replyId)
    },
    stored(replyId: string, after: Place, events: readonly StoredEvent[]): void {
      // Most replies have no followers: that must cost no more than a map lookup.
      if (followers.size > 0 && placeOf(replyId) !== null) notify(replyId, () => storedMessage(replyId, after, events))
    },
    ended(replyId: string): void {
      if (followers.size === 0) return
      notify(replyId, () => ({ type: 'ended', reply: replyId }))
      followers.delete(replyId)
    },
    /** Sends every follower the position of its replies, so that it notices what it missed. */
    heartbeat(): void {
      const now = performance.now()
      const heartbeats = new Map<string, [string, number, number][]>()
      for (const [replyId, instances] of followers) {
        const place = placeOf(replyId)
        for (const [instanceId, until] of instances) {
          if (until < now || place === null) {
            instances.delete(instanceId)
            continue
          }
          const places = heartbeats.get(instanceId) ?? []
          places.push([replyId, place.seq, place.part])
          heartbeats.set(instanceId, places)
        }
        if (instances.size === 0) followers.delete(replyId)
      }
      for (const [instanceId, places] of heartbeats) send(instanceId, encode({ type: 'heartbeat', places }))
    },
  }
}
