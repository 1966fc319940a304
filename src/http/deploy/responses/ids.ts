/**
 * Ids of the Responses API (contract section 24): a prefix and a UUID of ours, without its dashes. Parts of a reply (later
 * texts, reasoning, calls) are rows of no table: the first half of such an id is the reply's, by which the reply is found
 * again, and the second half is derived from what it names.
 */
import { createHash } from 'node:crypto'

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
  const digest = createHash('sha256').update(`${reply}:${part}`).digest('hex')
  // The variant of RFC 9562 stands in the first digit of the second half.
  return dashed(`${reply.slice(0, HALF)}8${digest.slice(1, HALF)}`)
}

/** The first and last UUID that a reply can have of which this is a part, or which this is. */
export function replyRange(uuid: string): { first: string; last: string } {
  const half = plain(uuid).slice(0, HALF)
  return { first: dashed(half + '0'.repeat(HALF)), last: dashed(half + 'f'.repeat(HALF)) }
}

/** A call, as decisions name it on this wire: models may repeat their own ids in other sessions. */
export const callUuid = (replyId: string, callId: string): string => partUuid(replyId, `call:${callId}`)

/** Reasoning, or a text of the reply, by its place in the output. The first text has the reply's own id. */
export const outputUuid = (replyId: string, outputIndex: number): string => partUuid(replyId, `output:${outputIndex}`)

/** More items of text and reasoning than this are in no reply that is looked for. */
const MOST_OUTPUTS = 1024

/** Whether an id that shares its first half with the reply's is the reply's, or of one of its texts. */
export function isPartOf(replyId: string, uuid: string): boolean {
  if (plain(replyId) === plain(uuid)) return true
  for (let index = 0; index < MOST_OUTPUTS; index++) if (outputUuid(replyId, index) === uuid) return true
  return false
}
