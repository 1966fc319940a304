/**
 * Ids of the Responses API (contract section 24): a prefix and a UUID without its dashes. The parts of a reply (later
 * texts, reasoning, calls) have no rows of their own. The first half of such an id is the reply's, which finds the
 * reply again. The second half is derived from the part.
 */
import { hash } from 'node:crypto'

export type IdPrefix = 'resp' | 'conv' | 'msg' | 'fc' | 'fco' | 'rs' | 'call' | 'mcpr' | 'cmp'

const HALF = 16

/** More characters than any id has, however it is written. */
const LONGEST = 80

const plain = (uuid: string): string => uuid.replaceAll('-', '').toLowerCase()

const dashed = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`

export const idOf = (prefix: IdPrefix, uuid: string): string => `${prefix}_${plain(uuid)}`

const prefixes = new Set(['', 'resp_', 'conv_', 'msg_', 'fc_', 'fco_', 'rs_', 'call_', 'mcpr_', 'cmp_'])

/** Returns the UUID of an id, with or without its prefix. It is null for an id of another form. */
export function uuidIn(id: unknown): string | null {
  if (typeof id !== 'string' || id.length > LONGEST) return null
  const bare = id.replaceAll('-', '').toLowerCase()
  const digits = bare.slice(-2 * HALF)
  const isId = prefixes.has(bare.slice(0, -2 * HALF)) && /^[0-9a-f]{32}$/.test(digits)
  return isId ? dashed(digits) : null
}

/**
 * Derives the id of a reply's part. The same input gives the same id for ever: it is on the wire and in clients'
 * histories.
 */
export function partUuid(replyId: string, part: string): string {
  const reply = plain(replyId)
  const digest = hash('sha256', `${reply}:${part}`)
  // The first digit of the second half is the variant of RFC 9562.
  return dashed(`${reply.slice(0, HALF)}8${digest.slice(1, HALF)}`)
}

/** Returns the half that the ids of a reply and of its parts share. */
export const replyHalf = (uuid: string): string => plain(uuid).slice(0, HALF)

/** Returns the first and the last UUID of the replies that this id may belong to. */
export function replyRange(uuid: string): { first: string; last: string } {
  const half = replyHalf(uuid)
  return { first: dashed(half + '0'.repeat(HALF)), last: dashed(half + 'f'.repeat(HALF)) }
}

/**
 * Returns the UUID by which a call is found, and in the id of its item. Models may repeat their own ids in other sessions.
 * A call of a reply that began here has such an id already; others keep theirs as `call_id` (contract section 35).
 */
export function callUuid(replyId: string, callId: string): string {
  const own = /^call_[0-9a-f]{32}$/.test(callId) ? uuidIn(callId) : null
  return own !== null && replyHalf(own) === replyHalf(replyId) ? own : partUuid(replyId, `call:${callId}`)
}

/** A call, or its output, in a message that was given with a session. */
export interface GivenCall {
  type: 'tool_call' | 'tool_result'
  /** The call's id, as the caller gave it. */
  id: string
}

/**
 * Returns a function that names the calls and outputs of a given message, called in their order. A repeated id is
 * distinguished by its count.
 */
export function givenNames(replyId: string): (given: GivenCall) => string {
  const seen = new Map<string, number>()
  return ({ type, id }) => {
    const kind = type === 'tool_call' ? 'call' : 'given'
    const count = (seen.get(`${kind}:${id}`) ?? 0) + 1
    seen.set(`${kind}:${id}`, count)
    return partUuid(replyId, count === 1 ? `${kind}:${id}` : `${kind} ${count}:${id}`)
  }
}

/** Returns the id of a text or of reasoning, by its index in the output. The first text has the reply's own id. */
export const outputUuid = (replyId: string, outputIndex: number): string => partUuid(replyId, `output:${outputIndex}`)
