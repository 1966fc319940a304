/**
 * Stored messages as the AI SDK's UI messages, with the parts that `useChat` builds from the stream of the same reply.
 */
import { segmentsOf } from '../../../actors/history/message-parts.ts'
import { shownEntries, shownQuestions } from '../../../features/approvals/index.ts'
import { childOf } from '../../../features/children/index.ts'
import type { PendingCall } from '../../../features/sessions/index.ts'
import type { OutlineWriter } from '../../streaming/outlined-calls.ts'
import { createOutline } from '../../streaming/reply-outline.ts'
import { callOutcomes, outlineEarlier } from '../chat/earlier-replies.ts'
import type { MessageWithEvents } from '../shared/reply-events.ts'
import { type CallMetadata, inputOf, metadataOf } from './tool-input.ts'

type TextPart = {
  type: 'text' | 'reasoning'
  /** The id of a reasoning part. Absent for texts. */
  id?: string
  text: string
  state?: 'streaming' | 'done'
}
interface ToolPart {
  type: 'dynamic-tool'
  toolName: string
  toolCallId: string
  state:
    | 'input-available'
    | 'approval-requested'
    | 'approval-responded'
    | 'output-available'
    | 'output-error'
    | 'output-denied'
  input: unknown
  approval?: { id: string; approved?: boolean; reason?: string }
  output?: string
  errorText?: string
  callProviderMetadata?: CallMetadata
}
interface FilePart {
  type: 'file'
  mediaType: string
  filename?: string
  url: string
}
interface PendingPart {
  type: 'data-pending'
  id: string
  data: PendingCall
}
type Part = { type: 'step-start' } | TextPart | FilePart | ToolPart | PendingPart

interface UIMessage {
  id: string
  role: 'user' | 'assistant'
  metadata: {
    status: MessageWithEvents['status']
    error?: NonNullable<MessageWithEvents['failure']>
    feedback?: NonNullable<MessageWithEvents['feedback']>
  }
  parts: Part[]
}

const isPending = (part: Part): part is PendingPart => part.type === 'data-pending'

function createParts(): { parts: Part[]; writer: OutlineWriter } {
  const parts: Part[] = []
  const calls = new Map<string, ToolPart>()
  let text: TextPart | null = null
  const ignore = () => {}
  const withdrawQuestions = (callId: string) => {
    for (const part of parts.filter(isPending)) {
      if (part.data.call_id === callId) parts.splice(parts.indexOf(part), 1)
    }
  }
  const writer: OutlineWriter = {
    started: ignore,
    stepStarted: () => void parts.push({ type: 'step-start' }),
    stepFinished: ignore,
    partStarted(type, part) {
      text = { type, text: '', state: 'streaming', ...(type === 'reasoning' && { id: `${part}` }) }
      parts.push(text)
    },
    delta(_, delta) {
      if (text) text.text += delta
    },
    partFinished() {
      if (text) text.state = 'done'
    },
    called(call) {
      const callProviderMetadata = metadataOf(call)
      const part: ToolPart = {
        type: 'dynamic-tool',
        toolName: call.name,
        toolCallId: call.id,
        state: 'input-available',
        input: inputOf(call),
        ...(callProviderMetadata && { callProviderMetadata }),
      }
      calls.set(call.id, part)
      parts.push(part)
    },
    answered({ id }, ok, content) {
      const part = calls.get(id)
      if (part === undefined) return
      if (ok) Object.assign(part, { state: 'output-available', output: content })
      else Object.assign(part, { state: 'output-error', errorText: content })
      if (part.approval) part.approval.approved = true
    },
    asked({ id }) {
      const part = calls.get(id)
      if (part) Object.assign(part, { state: 'approval-requested', approval: { id } })
    },
    questioned(call, asked) {
      withdrawQuestions(call.id) // it may ask again
      for (const { id, entry } of shownQuestions(call, asked)) parts.push({ type: 'data-pending', id, data: entry })
    },
    askedBelow(call, entries) {
      for (const { id, entry } of shownEntries(entries)) parts.push({ type: 'data-pending', id, data: entry })
      if (entries.every(({ kind }) => kind === 'approval')) writer.asked(call)
    },
    decided({ id }, { approved, reason }) {
      const part = calls.get(id)
      const approval = { id, approved, ...(reason !== null && { reason }) }
      if (part) Object.assign(part, { state: 'approval-responded', approval })
    },
    denied({ id }) {
      const part = calls.get(id)
      if (part) Object.assign(part, { state: 'output-denied', approval: { ...part.approval, id, approved: false } })
    },
    finished: ignore,
    failed: ignore,
    done: ignore,
  }
  return { parts, writer }
}

function replyParts(replies: readonly MessageWithEvents[], below: readonly PendingCall[]): Part[] {
  const { parts, writer } = createParts()
  const outline = createOutline(writer, callOutcomes(replies))
  const last = replies.at(-1)
  outlineEarlier(outline, replies.slice(0, -1))
  outline.begin()
  for (const event of last?.events ?? []) outline.event(event)
  if (last?.status === 'streaming') return parts
  outline.end(last?.waits, below)
  outline.settle()
  return parts
}

/** A function that returns the address of a message's nth part. */
type UrlOf = (messageId: string, n: number) => string

/** Returns a user's texts and files, in the order in which they were sent. */
const sentParts = ({ id, content, parts }: MessageWithEvents, urlOf: UrlOf): Part[] =>
  parts.length === 0
    ? [{ type: 'text', text: content }]
    : segmentsOf(content, parts).map((segment) =>
        typeof segment === 'string'
          ? { type: 'text', text: segment }
          : {
              type: 'file',
              mediaType: segment.mediaType,
              ...(segment.filename !== null && { filename: segment.filename }),
              url: urlOf(id, parts.indexOf(segment)),
            },
      )

/**
 * Returns the UI message of one message, or of replies that continue each other: a UI shows these as one message under
 * the first one's id. `below`: what sessions below ask.
 */
export function uiMessageOf(
  messages: readonly [MessageWithEvents, ...MessageWithEvents[]],
  urlOf: UrlOf,
  below: readonly PendingCall[] = [],
): UIMessage {
  const [first] = messages
  const { status, failure, feedback } = messages.at(-1) ?? first
  return {
    id: first.id,
    role: first.role,
    metadata: { status, ...(failure && { error: failure }), ...(feedback && { feedback }) },
    parts: first.role === 'user' ? sentParts(first, urlOf) : replyParts(messages, below),
  }
}

/** Returns whether a reply has called agents. */
const asksAgents = ({ events }: MessageWithEvents): boolean =>
  events.some((event) => event.type === 'tool_call' && childOf(event) !== undefined)

/**
 * Yields the UI messages of a path, oldest first. On a path a reply comes directly after the reply that it continues.
 */
export async function* uiMessagesOf(
  messages: AsyncIterable<MessageWithEvents>,
  urlOf: UrlOf,
  askedBelow: (replyId: string) => Promise<readonly PendingCall[]>,
): AsyncGenerator<UIMessage> {
  const shown = async (replies: readonly [MessageWithEvents, ...MessageWithEvents[]]) => {
    const last = replies.at(-1)
    return uiMessageOf(replies, urlOf, last?.waits && replies.some(asksAgents) ? await askedBelow(last.id) : [])
  }
  let chain: [MessageWithEvents, ...MessageWithEvents[]] | null = null
  for await (const message of messages) {
    if (chain !== null && message.continues !== null && chain.at(-1)?.id === message.continues) chain.push(message)
    else {
      if (chain !== null) yield await shown(chain)
      chain = [message]
    }
  }
  if (chain !== null) yield await shown(chain)
}
