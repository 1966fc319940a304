/** What the server reads of a request of `DefaultChatTransport` (contract section 12). */
import type { components } from '../../../../openapi/generated/schema.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { badRequest } from '../../http-error.ts'
import { textOfParts } from '../sent-text.ts'

type UIChatRequest = components['schemas']['UIChatRequest']

export interface SentUIMessage {
  sessionId: string
  text: string
  /** What an `Idempotency-Key` is held to: neither the history nor the ids of messages. */
  heldTo: readonly (string | null)[]
}

/** Throws 400. */
export function readChatRequest({ id, messages, trigger, messageId }: UIChatRequest): SentUIMessage {
  if (!isUuid(id)) return badRequest('id: must be a UUID')
  if (trigger === 'regenerate-message') return badRequest('trigger: regenerate-message is not supported')
  const last: Readonly<Record<string, unknown>> = { ...messages.at(-1) }
  const where = `messages.${messages.length - 1}`
  if (last.role !== 'user') return badRequest(`${where}.role: the last message must be the user's`)
  const text = textOfParts(last.parts, `${where}.parts`)
  return {
    sessionId: id.toLowerCase(),
    text,
    heldTo: ['ai-sdk', trigger ?? 'submit-message', messageId ?? null, text],
  }
}
