/** Pictures and files of messages (contract section 13). Types only. */

export type PartType = 'image_url' | 'file'

/** The identity of a part: a picture that is fetched has its address, all others their SHA-256 (hex). */
export type PartIdentity = ({ sha256: string } | { sourceUrl: string }) & { callId?: string }

/** The bytes of a part, in pieces. Each call reads them anew. */
export type ReadPart = () => AsyncIterable<Uint8Array>

export interface MessagePart {
  type: PartType
  /** The SHA-256 of its bytes, hex. */
  sha256: string
  mediaType: string
  filename: string | null
  /** Size in bytes. */
  size: number
  /** The detail that the request named; null when it named none. */
  detail: 'auto' | 'low' | 'high' | null
  /** The address that it was fetched from. Null when its bytes were sent. */
  sourceUrl: string | null
  /** The length of the message's text before it, in UTF-16 code units. */
  place: number
  /** The call whose output it is a part of. Absent for a part of the message itself. */
  callId?: string
  /** The key of its stored bytes, hex. Null when they are stored under their SHA-256. Absent when they are not stored. */
  storedAs?: string | null
  /** The number among the stored parts of its message. Absent where it is not asked for. */
  n?: number
  read: ReadPart
  /** The text that models are sent in its place. Absent for pictures, and files that they are sent as they are. */
  text?: PartText
}

export interface PartText {
  /** Size in bytes. */
  size: number
  read: ReadPart
}

export type Segment = string | MessagePart

/** `content`: its text alone. `segments`: text and parts, in order; absent where there is text alone. */
export interface UserMessage {
  role: 'user'
  content: string
  segments?: readonly Segment[]
}

/** The parts of a message that is being sent. */
export interface NewParts {
  /** The identities that are known before anything was fetched: enough to compare messages. */
  identities: readonly PartIdentity[]
  /** Fetches what is to be fetched and stores the bytes. Throws what the caller is answered. The first call counts. */
  store(): Promise<readonly MessagePart[]>
}
