/** The parts of a chat completion request that the schema leaves to words (contract sections 3 and 13). */
import type { components } from '../../../openapi/generated/schema.ts'
import { type ChatMessage, readContent, type SentMessage } from '../parts/sent-message.ts'
import type { Uploads } from '../parts/uploads.ts'
import { type Instructions, instructionsOf, isInstruction } from '../sending/request/caller-instructions.ts'
import { badRequest, HttpError } from '../server/http-error.ts'
import type { Caller } from './access/caller.ts'

/** The type that the schema checks: the document lists the roles, this file says what is wrong with others. */
export type Messages = readonly (Omit<components['schemas']['ChatMessage'], 'role'> & { role: string })[]

/** Text of a message of any role. Throws 400. */
export function textOf(content: unknown, where: string): string {
  if (content === undefined) return badRequest(`${where}: is required`)
  return readContent(content, where).text
}

/** Throws 400 and 413. `uploads` undefined: text alone is taken. */
export function readMessages(messages: Messages, uploads?: Uploads): ChatMessage[] {
  return messages.map((message, index) => readMessage(message, `messages.${index}`, uploads))
}

/** The conversation without the caller's instructions, which are no part of it; each message with its place in the request. */
export function withoutInstructions(messages: Messages): { index: number; message: Messages[number] }[] {
  return messages.flatMap((message, index) => (isInstruction(message.role) ? [] : [{ index, message }]))
}

/** The caller's instructions (contract section 25). Throws 400 for content that is no text, 403 for a client secret's. */
export function readInstructions(messages: Messages, caller: Caller): Instructions | null {
  const found = messages.flatMap((message, index) => {
    if (!isInstruction(message.role)) return []
    const where = `messages.${index}`
    return [{ text: textOf(message.content, `${where}.content`), where: `${where}.role` }]
  })
  const instructions = instructionsOf(found)
  if (instructions !== null && caller.kind === 'secret') {
    throw new HttpError(403, `${instructions.where}: a client secret brings no instructions`)
  }
  return instructions
}

/** Throws 400 for a role that is not `user` or `assistant` (instructions are read apart), and for content that is not taken; 413. */
export function readMessage({ role, content }: Messages[number], where: string, uploads?: Uploads): ChatMessage {
  if (isInstruction(role)) return badRequest(`${where}.role: the agent has the system prompt; leave it out`)
  if (role === 'assistant') return { role, content: textOf(content, `${where}.content`) }
  if (role !== 'user') return badRequest(`${where}.role: must be user or assistant`)
  if (content === undefined) return badRequest(`${where}.content: is required`)
  const { text, parts } = readContent(content, `${where}.content`, uploads)
  return { role, content: text, parts }
}

/** Reads only the end of a session's request: earlier tool calls and results in it are ignored. */
const isOfTools = ({ role, tool_calls: calls }: Messages[number]): boolean =>
  role === 'tool' || (role === 'assistant' && Array.isArray(calls) && calls.length > 0)

/** What the last message holds. Throws 400 unless it is the user's (specification 4.12, rule 4), and 413. */
export function readLastMessage(messages: Messages, uploads?: Uploads): SentMessage {
  const last = withoutInstructions(messages)
    .map(({ message, index }) => (isOfTools(message) ? null : readMessage(message, `messages.${index}`, uploads)))
    .at(-1)
  if (last?.role !== 'user') return badRequest('messages: the last one must have the role user')
  return { text: last.content, parts: last.parts }
}
