/**
 * Ids of the Responses API (contract section 24): a prefix and a UUID of ours, without its dashes. Parts of a reply (later
 * texts, reasoning, calls) are rows of no table: the first half of such an id is the reply's, by which the reply is found
 * again, and the second half is derived from what it names.
 */
import { hash } from 'node:crypto'
import type { GivenCall, ReplyPlace } from './store/stored-responses.ts'

export type IdPrefix = 'resp' | 'conv' | 'msg' | 'fc' | 'fco' | 'rs' | 'call' | 'mcpr'

const HALF = 16

const plain = (uuid: string): string => uuid.replaceAll('-', '').toLowerCase()

const dashed = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

export const idOf = (prefix: IdPrefix, uuid: string): string => `${prefix}_${plain(uuid)}`

/** The UUID in an id of ours, which may come bare. Null when it is no id of ours. */
export function uuidIn(id: unknown): string | null {
  if (typeof id !== 'string') return null
  const [, bare] = /^(?:(?:resp|conv|msg|fc|fco|rs|call|mcpr)_)?([0-9a-f]{32})$/i.exec(id.replaceAll('-', '')) ?? []
  return bare === undefined ? null : dashed(bare.toLowerCase())
}

/** The same input gives the same id, for ever: it is on the wire and in clients' histories. */
export function partUuid(replyId: string, part: string): string {
  const reply = plain(replyId)
  const digest = hash('sha256', `${reply}:${part}`)
  // The variant of RFC 9562 stands in the first digit of the second half.
  return dashed(`${reply.slice(0, HALF)}8${digest.slice(1, HALF)}`)
}

/** What the ids of a reply and of its parts have in common. */
export const replyHalf = (uuid: string): string => plain(uuid).slice(0, HALF)

/** The first and last UUID that a reply can have of which this is a part, or which this is. */
export function replyRange(uuid: string): { first: string; last: string } {
  const half = replyHalf(uuid)
  return { first: dashed(half + '0'.repeat(HALF)), last: dashed(half + 'f'.repeat(HALF)) }
}

/** A call, as decisions name it on this wire: models may repeat their own ids in other sessions. */
export const callUuid = (replyId: string, callId: string): string => partUuid(replyId, `call:${callId}`)

/** Names a given message's calls and outputs, asked in their order: an id that comes again is told apart by how often it has. */
export function givenNames(replyId: string): (given: GivenCall) => string {
  const seen = new Map<string, number>()
  return ({ type, id }) => {
    const kind = type === 'tool_call' ? 'call' : 'given'
    const count = (seen.get(`${kind}:${id}`) ?? 0) + 1
    seen.set(`${kind}:${id}`, count)
    return partUuid(replyId, count === 1 ? `${kind}:${id}` : `${kind} ${count}:${id}`)
  }
}

/** Reasoning, or a text of the reply, by its place in the output. The first text has the reply's own id. */
export const outputUuid = (replyId: string, outputIndex: number): string => partUuid(replyId, `output:${outputIndex}`)

/** More items of text and reasoning than this are in no reply that is looked for. */
const MOST_OUTPUTS = 1024

export interface ReplyIds {
  /** Whether an id that shares its first half with the reply's is the reply's, or of one of its texts, calls or given outputs. */
  has(uuid: string): boolean
  /** Whether it is of an output that was given with its call. */
  gave(uuid: string): boolean
  /** The call that this is the id of, by the model's id. */
  callId(uuid: string): string | undefined
}

/** Each id is derived once, however many are compared with them: for each of 25,000 items anew it was half a minute. */
export function replyIds({ id, calls, given }: Pick<ReplyPlace, 'id' | 'calls' | 'given'>): ReplyIds {
  const nameOf = givenNames(id)
  const givenIds = new Map(given.map((one) => [nameOf(one), one.type]))
  const callIds = new Map(calls.map((callId) => [callUuid(id, callId), callId]))
  let outputs: Set<string> | null = null
  const isOutput = (uuid: string): boolean => {
    outputs ??= new Set(Array.from({ length: MOST_OUTPUTS }, (_, index) => outputUuid(id, index)))
    return outputs.has(uuid)
  }
  return {
    has: (uuid) => uuid === id || callIds.has(uuid) || givenIds.has(uuid) || isOutput(uuid),
    gave: (uuid) => givenIds.get(uuid) === 'tool_result',
    callId: (uuid) => callIds.get(uuid),
  }
}
