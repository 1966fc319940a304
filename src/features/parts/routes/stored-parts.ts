/**
 * Parts that a request names by the path at which they are read: an earlier message's, sent again. Clients that hold a
 * conversation send such paths back, in messages that were edited and in histories (contract section 13).
 */
import type { MessagePart } from '../../../actors/ports/index.ts'
import { badRequest } from '../../../http/server/http-error.ts'
import type { FoundPart, FoundSource, SentConversation, SentPart } from './sent-message.ts'

/** The part that is read at this path. Null when there is none that the caller may read. */
export type FindStored = (path: string) => Promise<MessagePart | null>

/** Throws 400 for paths at which there is nothing. */
export async function findStored(parts: readonly SentPart[], find: FindStored): Promise<FoundPart[]> {
  const found: FoundPart[] = []
  for (const { source, ...part } of parts) {
    found.push(source.kind === 'path' ? await storedPart(part, source.path, find) : { ...part, source })
  }
  return found
}

async function storedPart(part: Omit<SentPart, 'source'>, path: string, find: FindStored): Promise<FoundPart> {
  const { where, type, filename, detail } = part
  const stored = (await find(path)) ?? badRequest(`${where}: there is no such picture or file`)
  if (stored.type !== type) badRequest(`${where}: is ${stored.mediaType}`)
  const source: FoundSource = { kind: 'stored', stored }
  return { ...part, source, filename: filename ?? stored.filename, detail: detail ?? stored.detail }
}

/** Reads the parts of a whole conversation, one after the other, each path once. Throws 400. */
export async function findAllStored(
  messages: SentConversation,
  find: FindStored,
): Promise<SentConversation<FoundSource>> {
  const known = new Map<string, MessagePart | null>()
  const findOnce: FindStored = async (path) => {
    const stored = known.get(path)
    if (stored !== undefined) return stored
    const found = await find(path)
    known.set(path, found)
    return found
  }
  const found: SentConversation<FoundSource>[number][] = []
  for (const message of messages) {
    found.push(message.role === 'user' ? { ...message, parts: await findStored(message.parts, findOnce) } : message)
  }
  return found
}
