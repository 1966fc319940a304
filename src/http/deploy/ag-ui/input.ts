/** What the server reads of AG-UI's `RunAgentInput` (contract section 12). */
import type { components } from '../../../../openapi/generated/schema.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { badRequest } from '../../http-error.ts'
import { textOfParts } from '../sent-text.ts'

type RunAgentInput = components['schemas']['RunAgentInput']

/** The newest user message: nothing else of `messages` is read. Throws 400. */
export function readRunInput({ threadId, messages }: RunAgentInput): { sessionId: string; text: string } {
  if (!isUuid(threadId)) return badRequest('threadId: must be a UUID')
  const index = messages.findLastIndex((message) => 'role' in message && message.role === 'user')
  const newest: Readonly<Record<string, unknown>> = { ...messages[index] }
  if (index < 0) return badRequest('messages: one of them must have the role user')
  const { content } = newest
  const text = typeof content === 'string' ? content : textOfParts(content, `messages.${index}.content`)
  return { sessionId: threadId.toLowerCase(), text }
}
