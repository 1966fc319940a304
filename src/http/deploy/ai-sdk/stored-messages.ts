/** Stored messages → the AI SDK's UI messages: the parts that `useChat` builds from the stream of the same reply. */
import type { MessageWithEvents } from '../../../persistence/replies/reply-events.ts'
import { createOutline, type OutlineWriter } from '../../reply-outline.ts'
import { inputOf } from './tool-input.ts'

type TextPart = {
  type: 'text' | 'reasoning'
  /** Of reasoning alone. */
  id?: string
  text: string
  state?: 'streaming' | 'done'
}
interface ToolPart {
  type: 'dynamic-tool'
  toolName: string
  toolCallId: string
  state: 'input-available' | 'output-available' | 'output-error'
  input: unknown
  output?: string
  errorText?: string
}
type Part = { type: 'step-start' } | TextPart | ToolPart

interface UIMessage {
  id: string
  role: 'user' | 'assistant'
  metadata: { status: MessageWithEvents['status'] }
  parts: Part[]
}

function createParts(): { parts: Part[]; writer: OutlineWriter } {
  const parts: Part[] = []
  const calls = new Map<string, ToolPart>()
  let text: TextPart | null = null
  const ignore = () => {}
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
      const part: ToolPart = {
        type: 'dynamic-tool',
        toolName: call.name,
        toolCallId: call.id,
        state: 'input-available',
        input: inputOf(call),
      }
      calls.set(call.id, part)
      parts.push(part)
    },
    answered({ id }, ok, content) {
      const part = calls.get(id)
      if (part === undefined) return
      if (ok) Object.assign(part, { state: 'output-available', output: content })
      else Object.assign(part, { state: 'output-error', errorText: content })
    },
    finished: ignore,
    failed: ignore,
    done: ignore,
  }
  return { parts, writer }
}

function replyParts(message: MessageWithEvents): Part[] {
  const { parts, writer } = createParts()
  const outline = createOutline(writer)
  outline.begin()
  for (const event of message.events) outline.event(event)
  if (message.status !== 'streaming') outline.end()
  return parts
}

export const uiMessageOf = (message: MessageWithEvents): UIMessage => ({
  id: message.id,
  role: message.role,
  metadata: { status: message.status },
  parts: message.role === 'user' ? [{ type: 'text', text: message.content }] : replyParts(message),
})
