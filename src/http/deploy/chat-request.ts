/** The parts of a chat completion request that the schema leaves to words (contract section 3). */
import type { components } from '../../../openapi/generated/schema.ts'
import { badRequest } from '../http-error.ts'

/** As the schema checks them: the document says which roles there are, this file says what is wrong with others. */
type Messages = readonly (Omit<components['schemas']['ChatMessage'], 'role'> & { role: string })[]

export interface ChatMessage {
  role: 'user' | 'assistant'
  content: string
}

/** Text of a message: a string, or text parts joined. Throws 400. */
function textOf(content: unknown, where: string): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return badRequest(`${where}: must be a string or an array of text parts`)
  return content
    .map((part: unknown, index) => {
      const isText = part !== null && typeof part === 'object' && 'type' in part && part.type === 'text'
      if (!isText || !('text' in part) || typeof part.text !== 'string') {
        return badRequest(`${where}.${index}: only parts of the form {"type": "text", "text": string} are supported`)
      }
      return part.text
    })
    .join('')
}

/** Throws 400 for a role that is not `user` or `assistant`, and for content that is not text. */
export function readMessages(messages: Messages): ChatMessage[] {
  return messages.map(({ role, content }, index) => {
    if (role === 'system' || role === 'developer') {
      return badRequest(`messages.${index}.role: ${role} messages are not accepted; the agent has its own prompt`)
    }
    if (role !== 'user' && role !== 'assistant') return badRequest(`messages.${index}.role: must be user or assistant`)
    return { role, content: textOf(content, `messages.${index}.content`) }
  })
}

/** The last message's text. Throws 400 unless it is the user's (specification 4.12, rule 4). */
export function readLastMessage(messages: Messages): string {
  const last = readMessages(messages).at(-1)
  if (last?.role !== 'user') return badRequest('messages: the last one must have the role user')
  return last.content
}
