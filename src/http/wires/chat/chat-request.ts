/** The messages of a chat completion request, which the schema leaves to words (contract sections 3, 13 and 15). */
import type { components } from '../../../../openapi/generated/schema.ts'
import { repeatableCall } from '../../../actors/history/tool-turns.ts'
import type { DecidedCall, ModelMessage, ToolCall } from '../../../actors/ports/index.ts'
import {
  type AnswerMessage,
  type ChatMessage,
  readContent,
  type SentConversation,
  type SentMessage,
  type Uploads,
} from '../../../features/parts/index.ts'
import type { Caller } from '../../../features/users/index.ts'
import { type AskedVersion, readAskedVersion } from '../../../features/versions/index.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { openCalls } from '../../../untrusted/open-calls.ts'
import { type Instructions, instructionsOf, isInstruction } from '../../sending/caller-instructions.ts'
import { badRequest, HttpError } from '../../server/http-error.ts'

/** The type that the schema checks: the document lists the roles, this file says what is wrong with others. */
export type Messages = readonly (Omit<components['schemas']['ChatMessage'], 'role'> & { role: string })[]

/** Returns the text of a message of any role. Throws 400. */
export function textOf(content: unknown, where: string): string {
  if (content === undefined) return badRequest(`${where}: is required`)
  return readContent(content, where).text
}

/** Reads the version that a request asks for. Throws 400, and 403 for a client secret's. */
export function askedBy(caller: Caller, value: unknown): AskedVersion | undefined {
  if (caller.kind === 'secret' && value !== undefined)
    throw new HttpError(403, 'agent_version: a client secret chooses no version')
  return readAskedVersion(value, 'agent_version')
}

/** Throws 400 and 413. `uploads` undefined: text alone is taken. */
export function readMessages(messages: Messages, uploads?: Uploads): ChatMessage[] {
  return messages.map((message, index) => readMessage(message, `messages.${index}`, uploads))
}

/**
 * Returns the conversation without the caller's instructions, which are no part of it; each message with its place in
 * the request.
 */
export function withoutInstructions(messages: Messages): { index: number; message: Messages[number] }[] {
  return messages.flatMap((message, index) => (isInstruction(message.role) ? [] : [{ index, message }]))
}

/**
 * Returns the caller's instructions (contract section 25). Throws 400 for content that is no text, 403 for a client
 * secret's.
 */
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

/**
 * Throws 400 for a role that is not `user` or `assistant` (instructions are read apart), and for content that is not
 * taken; 413.
 */
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

/** Returns what the last message holds. Throws 400 unless it is the user's (specification 4.12, rule 4), and 413. */
export function readLastMessage(messages: Messages, uploads?: Uploads): SentMessage {
  const last = withoutInstructions(messages)
    .map(({ message, index }) => (isOfTools(message) ? null : readMessage(message, `messages.${index}`, uploads)))
    .at(-1)
  if (last?.role !== 'user') return badRequest('messages: the last one must have the role user')
  return { text: last.content, parts: last.parts }
}

/**
 * Reads a whole conversation: each call of the assistant's is answered by a message of role `tool` right behind it.
 * Throws 400.
 */
export function readConversation(messages: Messages, uploads: Uploads): SentConversation {
  const read: (ChatMessage | AnswerMessage)[] = []
  const open = openCalls<ToolCall>()
  for (const { index, message } of withoutInstructions(messages)) {
    const where = `messages.${index}`
    if (message.role === 'tool') {
      const id = callIdOf(message, where)
      if (!open.close(id))
        return badRequest(`${where}.tool_call_id: the assistant's message before has no such open call`)
      read.push({ role: 'tool', toolCallId: id, content: textOf(message.content, `${where}.content`) })
      continue
    }
    refuseUnanswered(open.first(), where)
    const calls = message.role === 'assistant' ? readCalls(message.tool_calls, `${where}.tool_calls`) : []
    if (calls.length === 0) {
      read.push(readMessage(message, where, uploads))
      continue
    }
    for (const call of calls) open.add(call.id, call)
    const content = message.content == null ? '' : textOf(message.content, `${where}.content`)
    read.push({ role: 'assistant', content, toolCalls: calls.map(repeatableCall) })
  }
  if (read.length === 0) return badRequest('messages: instructions alone ask nothing')
  refuseUnanswered(open.first(), `messages.${messages.length - 1}`)
  return read
}

function refuseUnanswered(id: string | undefined, where: string): void {
  if (id !== undefined) badRequest(`${where}: the call ${JSON.stringify(id)} before it has no result of role tool`)
}

function callIdOf({ tool_call_id: id }: Messages[number], where: string): string {
  return typeof id === 'string' && id !== '' ? id : badRequest(`${where}.tool_call_id: must be the id of a call`)
}

function readCalls(calls: unknown, where: string): ToolCall[] {
  if (calls === undefined || calls === null) return []
  if (!Array.isArray(calls)) return badRequest(`${where}: must be an array`)
  return calls.map((call: unknown, index): ToolCall => {
    const named = isObject(call) && isObject(call.function) ? call.function : null
    if (!isObject(call) || named === null) return badRequest(`${where}.${index}: must be a call of a function`)
    const { id } = call
    const { name, arguments: text } = named
    if (typeof id !== 'string' || id === '') return badRequest(`${where}.${index}.id: must be a string`)
    if (typeof name !== 'string') return badRequest(`${where}.${index}.function.name: must be a string`)
    if (typeof text !== 'string') return badRequest(`${where}.${index}.function.arguments: must be a string`)
    return { id, name, arguments: text }
  })
}

/** Returns how many calls there are behind the newest user message. */
export function callsSinceUser(messages: readonly ModelMessage[]): number {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
  return since.reduce((sum, one) => sum + (one.role === 'assistant' ? (one.toolCalls?.length ?? 0) : 0), 0)
}

/** Returns the results that a session's request ends with. Null when it ends with another message. Throws 400. */
export function readResults(messages: Messages): DecidedCall[] | null {
  const results = resultsAtEnd(withoutInstructions(messages))
  if (results.length === 0) return null
  return results.map(({ message, index }) => {
    const where = `messages.${index}`
    return { id: callIdOf(message, where), decision: 'respond', output: textOf(message.content, `${where}.content`) }
  })
}

/**
 * Returns the results right before the message that a session's request ends with; of a history that is not read they
 * may be anything.
 */
export function readAnswers(messages: Messages): DecidedCall[] {
  const results = resultsAtEnd(withoutInstructions(messages).slice(0, -1))
  return results.flatMap(({ message: { tool_call_id: id, content: output } }): DecidedCall[] =>
    typeof id === 'string' && typeof output === 'string' ? [{ id, decision: 'respond', output }] : [],
  )
}

const resultsAtEnd = (spoken: ReturnType<typeof withoutInstructions>) =>
  spoken.slice(spoken.findLastIndex(({ message }) => message.role !== 'tool') + 1)
