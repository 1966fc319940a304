/** Conversations that hold calls of the caller's own tools and their results (contract section 15). Throws 400. */

import { repeatableCall } from '../../actors/history/tool-turns.ts'
import type { DecidedCall, ModelMessage, ToolCall } from '../../actors/ports/index.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { openCalls } from '../../untrusted/open-calls.ts'
import type { AnswerMessage, ChatMessage, SentConversation } from '../parts/sent-message.ts'
import type { Uploads } from '../parts/uploads.ts'
import { badRequest } from '../server/http-error.ts'
import { type Messages, readMessage, textOf, withoutInstructions } from './chat-request.ts'

type Message = Messages[number]

/** A whole conversation: each call of the assistant's is answered by a message of role `tool` right behind it. */
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

function callIdOf({ tool_call_id: id }: Message, where: string): string {
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

/** How many calls there are behind the newest user message. */
export function callsSinceUser(messages: readonly ModelMessage[]): number {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
  return since.reduce((sum, one) => sum + (one.role === 'assistant' ? (one.toolCalls?.length ?? 0) : 0), 0)
}

/** The results that a session's request ends with. Null when it ends with another message. */
export function readResults(messages: Messages): DecidedCall[] | null {
  const spoken = withoutInstructions(messages)
  const results = spoken.slice(spoken.findLastIndex(({ message }) => message.role !== 'tool') + 1)
  if (results.length === 0) return null
  return results.map(({ message, index }) => {
    const where = `messages.${index}`
    return { id: callIdOf(message, where), decision: 'respond', output: textOf(message.content, `${where}.content`) }
  })
}
