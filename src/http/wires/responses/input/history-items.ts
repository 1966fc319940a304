/** Input items as a conversation that no session stores (contract section 24). Throws 400. */
import { repeatableCall } from '../../../../actors/history/tool-turns.ts'
import type { Chain, GivenMessage, ToolCall, TurnMessage } from '../../../../actors/ports/index.ts'
import { newId } from '../../../../actors/reply/new-id.ts'
import type { ReplyEvent } from '../../../../actors/reply/reply-event.ts'
import {
  type AnswerMessage,
  type ChatMessage,
  partsOf,
  type SentConversation,
  type SentMessage,
  type SentPart,
} from '../../../../features/parts/index.ts'
import { openCalls } from '../../../../untrusted/open-calls.ts'
import { badRequest } from '../../../server/http-error.ts'
import type { InputItem } from './input-items.ts'

type Message = ChatMessage | AnswerMessage

/**
 * Returns the conversation of the items. Each call must have its output before the next message. `field` is the field's
 * name in errors.
 */
export function conversationOf(items: readonly InputItem[], field = 'input'): SentConversation {
  const messages: Message[] = []
  const open = openCalls<InputItem>()
  let turn: ToolCall[] = []
  for (const item of items) {
    if (item.kind === 'aside' || item.kind === 'instructions') continue
    if (item.kind === 'output') {
      if (!open.close(item.callId)) return badRequest(`${item.where}.call_id: no open call before it has this id`)
      const { callId, output, parts } = item
      messages.push({ role: 'tool', toolCallId: callId, content: output, parts: ofCall(callId, parts) })
      continue
    }
    if (item.kind === 'call') {
      turn = addCall(messages, turn, item)
      open.add(item.callId, item)
      continue
    }
    refuseUnanswered(open.first(), field)
    messages.push(messageOf(item))
  }
  refuseUnanswered(open.first(), field)
  return messages
}

/** Returns parts as those of a call's output. */
export const ofCall = (callId: string, parts: readonly SentPart[]): SentPart[] =>
  parts.map((part) => ({ ...part, callId }))

function refuseUnanswered(id: string | undefined, field: string): void {
  if (id !== undefined) badRequest(`${field}: the call ${JSON.stringify(id)} has no output behind it`)
}

function messageOf(item: Exclude<InputItem, { kind: 'call' | 'output' | 'aside' | 'instructions' }>): Message {
  if (item.kind === 'user') return { role: 'user', content: item.message.text, parts: item.message.parts }
  if (item.kind === 'assistant') return { role: 'assistant', content: item.text }
  if (item.kind === 'compaction') return badRequest(`${item.where}: a summary can only begin a conversation`)
  if (item.kind === 'reference') return badRequest(`${item.where}.id: there is no such item`)
  return badRequest(`${item.where}: nothing waits for this approval`)
}

/**
 * Adds the call to the preceding turn of the model, unless that turn has outputs already. `turn` holds the calls of
 * that turn. Returns the calls of the last turn.
 */
function addCall(messages: Message[], turn: ToolCall[], item: Extract<InputItem, { kind: 'call' }>): ToolCall[] {
  const call = repeatableCall({ id: item.callId, name: item.name, arguments: item.arguments })
  const last = messages.at(-1)
  if (last !== undefined && 'toolCalls' in last && last.toolCalls === turn) {
    turn.push(call)
    return turn
  }
  const toolCalls = [call]
  const content = last?.role === 'assistant' ? last.content : ''
  if (last?.role === 'assistant') messages.pop()
  messages.push({ role: 'assistant', content, toolCalls })
  return toolCalls
}

/** A given message with the parts of its request, which are not stored yet. */
export interface HistoryMessage extends GivenMessage {
  sent?: readonly SentPart[]
}

/** The beginning of a new session: its history, and what the first reply answers. */
export type Beginning = { history: HistoryMessage[] } & (
  | { message: SentMessage; chain?: never }
  /** The reply goes on from the last message of the history (`firstId`), whose calls have their outputs. */
  | { message: null; chain: Chain; firstId: string }
)

/** Splits the items into the history of a new session and its first message. */
export function beginningOf(items: readonly InputItem[]): Beginning {
  const conversation = conversationOf(items)
  const last = conversation.at(-1)
  if (last?.role === 'tool') {
    const firstId = newId()
    const history = historyOf(conversation)
    const answered = history.slice(-1).map((message) => ({ ...message, id: firstId }))
    return { history: [...history.slice(0, -1), ...answered], message: null, chain: chainOf(conversation), firstId }
  }
  const newest = items.findLast((item) => item.kind === 'user')
  if (last?.role !== 'user' || newest === undefined) {
    return badRequest('input: must end with a message of the user, or with outputs of calls')
  }
  return { history: historyOf(conversation.slice(0, -1)), message: newest.message }
}

/** Returns the messages of a history with the parts that they bring. `field` is the field's name in errors. */
export function historyOf(conversation: SentConversation, field = 'input'): HistoryMessage[] {
  let at = 0
  return givenMessages(conversation, field).map(({ of, ...message }) => {
    const sent = conversation.slice(at, at + of).flatMap(partsOf)
    at += of
    return { ...message, sent }
  })
}

/** Returns the messages of items that are a history alone. `field` is the field's name in errors. */
export const historyIn = (items: readonly InputItem[], field: string): HistoryMessage[] =>
  historyOf(conversationOf(items, field), field)

/** Returns the turns behind the last user message, of which the newest has all its results. */
function chainOf(conversation: SentConversation): Chain {
  const begin = conversation.findLastIndex(({ role }) => role === 'user') + 1
  const messages = conversation
    .slice(begin)
    .flatMap((message) => (message.role === 'user' ? [] : [turnMessage(message)]))
  const newest = messages.findLastIndex(({ role }) => role === 'assistant')
  const answer = messages[newest]
  if (answer?.role !== 'assistant') throw new Error('A history ends in outputs without calls.')
  const calls = answer.toolCalls ?? []
  const results = new Map(
    messages.slice(newest + 1).flatMap((one) => (one.role === 'tool' ? [[one.toolCallId, one.content]] : [])),
  )
  const turn = { answer, results: calls.map(({ id }) => results.get(id) ?? null), waiting: calls.map(() => null) }
  const callsUsed = messages.reduce((sum, one) => sum + ('toolCalls' in one ? (one.toolCalls?.length ?? 0) : 0), 0)
  return { turns: messages.slice(0, newest), turn, callsUsed }
}

function turnMessage(message: AnswerMessage): TurnMessage {
  if (message.role === 'tool') return { role: 'tool', toolCallId: message.toolCallId, content: message.content }
  return {
    role: 'assistant',
    content: message.content,
    ...('toolCalls' in message && message.toolCalls && { toolCalls: message.toolCalls }),
  }
}

/** `of`: the number of messages of the conversation that it is made of. */
type MadeOf<Message> = Message & { of: number }

type GivenReply = MadeOf<GivenMessage & { role: 'assistant'; events: ReplyEvent[] }>

const newReply = (): GivenReply => ({ role: 'assistant', content: '', events: [], of: 0 })

/** The maximum number of messages that a session can be created with. */
const MOST_MESSAGES = 1000

/** The maximum number of calls of a given message. */
const MOST_CALLS = 1000

/**
 * Returns the messages of a session's history. Everything between two user messages becomes one reply. `field` is the
 * field's name in errors.
 */
function givenMessages(conversation: SentConversation, field: string): MadeOf<GivenMessage>[] {
  const given: (GivenReply | MadeOf<{ role: 'user'; content: string }>)[] = []
  const startedAt = new Date().toISOString()
  let callsOfReply = 0
  for (const message of conversation) {
    if (message.role === 'user') {
      given.push({ role: 'user', content: message.content, of: 1 })
      continue
    }
    const open = given.at(-1)
    const reply = open?.role === 'assistant' ? open : newReply()
    if (reply !== open) {
      given.push(reply)
      callsOfReply = 0
    }
    reply.of += 1
    const { events } = reply
    if (message.role === 'tool') {
      events.push({ type: 'tool_result', id: message.toolCallId, ok: true, content: message.content, durationMs: 0 })
      continue
    }
    reply.content += message.content
    if (message.content !== '') events.push({ type: 'text', text: message.content })
    const calls = 'toolCalls' in message ? (message.toolCalls ?? []) : []
    for (const { id, name, arguments: text } of calls) {
      events.push({ type: 'tool_call', id, name, arguments: text, startedAt })
    }
    callsOfReply += calls.length
    if (callsOfReply > MOST_CALLS)
      badRequest(`${field}: a message of the assistant holds more than ${MOST_CALLS} calls`)
  }
  return given.length > MOST_MESSAGES ? badRequest(`${field}: holds more than ${MOST_MESSAGES} messages`) : given
}
