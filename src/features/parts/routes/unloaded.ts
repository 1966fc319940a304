/** Messages of a request for estimates: nothing is fetched or read. */
import type { MessagePart, ModelMessage } from '../../../actors/ports/index.ts'
import { type DocumentText, documentTexts } from './document-parts.ts'
import { checkSent, heldPart, modelMessage, partsIn } from './prepare.ts'
import type { FoundPart, FoundSource, SentConversation } from './sent-message.ts'

/**
 * Returns the messages as a model would be sent them. Documents that came with the request are converted. `of`: who
 * brings them. Throws 400.
 */
export async function unloadedMessages(messages: SentConversation<FoundSource>, of: string): Promise<ModelMessage[]> {
  const parts = partsIn(messages)
  await checkSent(parts)
  const brought = parts.flatMap((part) => (part.source.kind === 'data' ? [{ part, ...part.source }] : []))
  const texts = await documentTexts(brought, of)
  return messages.map((message) => modelMessage(message, (part) => unloadedPart(part, texts)))
}

function unloadedPart(part: FoundPart, texts: ReadonlyMap<string, DocumentText>): MessagePart {
  const { source } = part
  if (source.kind === 'stored') return { ...source.stored, place: part.place }
  const { data, mediaType } = source.kind === 'data' ? source : { data: nothing, mediaType: 'image/*' }
  return heldPart(part, { part, data, mediaType }, texts)
}

const nothing = { size: 0, sha256: '', pieces: [] }
