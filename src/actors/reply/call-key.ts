/** The key of a call: it names one call of one reply, for its tool and for what the tool makes of it. */

export interface CallPlace {
  replyId: string
  /** The place among the calls of that reply, from 1. */
  place: number
}

export const callKey = ({ replyId, place }: CallPlace): string => `${replyId}:${place}`

/** Reads a key. Throws for one that `callKey` has not made. */
export function placeOfCall(key: string): CallPlace {
  const at = key.lastIndexOf(':')
  const place = Number(key.slice(at + 1))
  if (at < 0 || !Number.isInteger(place)) throw new Error('A call has no place in a reply.')
  return { replyId: key.slice(0, at), place }
}
