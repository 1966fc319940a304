/**
 * Parts that a request names. An earlier message's have the path at which they are read: clients that hold a conversation
 * send such paths back, in messages that were edited and in histories (contract section 13). Uploaded files have ids.
 */
import type { MessagePart } from '../../../actors/ports/index.ts'
import { badRequest } from '../../../http/server/http-error.ts'
import {
  type FoundPart,
  type FoundSource,
  partsOf,
  type SentConversation,
  type SentPart,
  type Source,
  type StoredName,
  tooLarge,
} from './sent-message.ts'
import { MOST_MESSAGE_BYTES } from './uploads.ts'

/** A lookup of stored bytes by their name. Null when there is nothing that the caller may read. */
export type FindStored = (name: StoredName) => Promise<MessagePart | null>

/** Throws 400 for names of nothing, and 413. */
export async function findStored(parts: readonly SentPart[], find: FindStored): Promise<FoundPart[]> {
  const found: FoundPart[] = []
  for (const { source, ...part } of parts) {
    found.push(isName(source) ? await storedPart(part, source, find) : { ...part, source })
  }
  return found
}

const isName = (source: Source): source is StoredName => source.kind === 'path' || source.kind === 'file'

async function storedPart(part: Omit<SentPart, 'source'>, name: StoredName, find: FindStored): Promise<FoundPart> {
  const { where, type, filename, detail } = part
  const stored = (await find(name)) ?? badRequest(`${where}: there is no such picture or file`)
  if (stored.type !== type) badRequest(`${where}: is ${stored.mediaType}`)
  if ((stored.text ?? stored).size > MOST_MESSAGE_BYTES) throw tooLarge()
  const source: FoundSource = { kind: 'stored', stored }
  return { ...part, source, filename: filename ?? stored.filename, detail: detail ?? stored.detail }
}

/** Reads the parts of a whole conversation, one after the other, each name once. Throws 400 and 413. */
export async function findAllStored(
  messages: SentConversation,
  find: FindStored,
): Promise<SentConversation<FoundSource>> {
  const known = new Map<string, MessagePart | null>()
  const findOnce: FindStored = async (name) => {
    const key = name.kind === 'path' ? name.path : name.id
    const stored = known.get(key)
    if (stored !== undefined) return stored
    const found = await find(name)
    known.set(key, found)
    return found
  }
  const found: SentConversation<FoundSource>[number][] = []
  for (const message of messages) {
    found.push(
      message.role === 'assistant' ? message : { ...message, parts: await findStored(partsOf(message), findOnce) },
    )
  }
  return found
}
