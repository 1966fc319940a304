/** Rows of `messages` for what a session is made with. */
import type { GivenMessage, GivenSummary, MessagePart, SessionToMake } from '../../../actors/ports/index.ts'
import { newId } from '../../../actors/reply/new-id.ts'
import { isNumberedKind, type StoredEvent } from '../../../actors/reply/reply-event.ts'
import { fold, jsonText } from '../../../persistence/replies/settling/stored-reply.ts'
import { encodeCarried } from '../../../persistence/stored-forms/stored-carried.ts'

interface GivenColumns {
  role: GivenMessage['role']
  content: string
  frame_ends?: readonly number[]
  tool_events?: readonly StoredEvent[]
}

/** The columns of a message's parts, as the capability that has them contributes them. */
type PartColumns = (parts: readonly MessagePart[]) => object

/** Returns the rows of given messages. `bytes`: what they add to the session's. */
export function givenRows(messages: readonly GivenMessage[], partColumns: PartColumns = () => ({})) {
  const rows = messages.map((message, position) => ({
    ...givenColumns(message),
    ...(message.storedParts && partColumns(message.storedParts)),
    id: message.id ?? newId(),
    position,
  }))
  const sizes = messages.flatMap(({ storedParts = [] }) => storedParts.map(({ size }) => size))
  return { rows, bytes: [...rows.map(bytesOf), ...sizes].reduce((sum, size) => sum + size, 0) }
}

/** Returns a summary's bytes as session_bytes.sql counts them. */
export const bytesOfSummary = (summary: GivenSummary | undefined): number => Buffer.byteLength(summary?.text ?? '')

/** Returns a message's bytes as session_bytes.sql counts them. */
const bytesOf = ({ content, tool_events }: GivenColumns): number =>
  Buffer.byteLength(content) + (tool_events === undefined ? 0 : Buffer.byteLength(jsonText(tool_events)))

/**
 * Returns a message's columns. A message with calls or several texts is stored as a reply that ran in the session would be,
 * beginning with frame 0.
 */
function givenColumns({ role, content, events = [] }: GivenMessage): GivenColumns {
  if (events.length < 2) return { role, content }
  let place = { seq: 0, part: 0 }
  const stored = events.map((event): StoredEvent => {
    place = isNumberedKind(event.type) ? { seq: place.seq + 1, part: 0 } : { seq: place.seq, part: place.part + 1 }
    return { ...place, event }
  })
  const { frameEnds, others } = fold(stored)
  return { role, content, frame_ends: frameEnds, ...(others.length > 0 && { tool_events: others }) }
}

/** Returns the columns of an admission that makes its session. */
export function admittedSession(
  { externalId, secretNumber, begins, ...others }: SessionToMake,
  partColumns: PartColumns,
) {
  others satisfies Record<string, never>
  return {
    external_id: externalId,
    secret_number: secretNumber,
    ...(begins && { begins: beginColumns(begins, partColumns) }),
  }
}

function beginColumns(
  { title, metadata, messages, summary, carried, ...others }: NonNullable<SessionToMake['begins']>,
  partColumns: PartColumns,
) {
  others satisfies Record<string, never>
  const { rows, bytes } = givenRows(messages, partColumns)
  const waits = carried && { reply_id: rows.at(-1)?.id, carried: encodeCarried(carried) }
  const before = summary && { id: newId(), ...summary }
  return { title, metadata, messages: rows, summary: before, bytes: bytes + bytesOfSummary(summary), waits }
}
