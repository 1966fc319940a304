/** A reply, read to its end, as the result of the tool `ask` (contract section 30). */
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Reply } from '../../../actors/reply/frame-log.ts'
import type { FinishReason, Frame, ReplyError, ReplyEvent } from '../../../actors/reply/reply-event.ts'
import { childOf } from '../../../features/children/index.ts'

type Status = 'complete' | 'cancelled' | 'error' | 'waiting'

/** The part of a reply that has been read. */
export interface Reading {
  take(frames: readonly Frame[]): void
  /** Returns the characters and calls that are stored so far. */
  figure(): number
  /** Returns the result of the call. `pending`: the names of the calls that the session waits for now. */
  resultOf(reply: Pick<Reply, 'info'>, pending: readonly string[]): CallToolResult
  isWaiting(): boolean
}

const statusOf = (reason: FinishReason): Status => {
  if (reason === 'tool_calls') return 'waiting'
  return reason === 'cancelled' ? 'cancelled' : 'complete'
}

/** Calls that may wait, by id. */
type Waiting = Map<string, string>

/** Keeps the name of a call that waits. Returns whether the event is a call. */
function keepCall(names: Map<string, string>, waiting: Waiting, event: ReplyEvent): boolean {
  if (event.type === 'tool_call') {
    names.set(event.id, event.name)
    // A child that waits has its call wait.
    if (event.waits !== undefined || childOf(event)) waiting.set(event.id, event.name)
    return true
  }
  if (event.type === 'tool_result') waiting.delete(event.id)
  if (event.type === 'tool_asked') waiting.set(event.id, names.get(event.id) ?? event.id)
  return false
}

export function createReading(): Reading {
  const texts: string[] = []
  const names = new Map<string, string>()
  const waiting: Waiting = new Map()
  let figure = 0
  let reason: FinishReason = 'stop'
  let error: ReplyError | null = null
  const takeOne = (frame: Frame): void => {
    if (frame.type === 'text') {
      texts.push(frame.text)
      figure += frame.text.length
    } else if (frame.type === 'stored') {
      if (keepCall(names, waiting, frame.stored.event)) figure += 1
    } else if (frame.type === 'finished') reason = frame.reason
    else if (frame.type === 'failed') error = frame.error
  }
  return {
    take: (frames) => frames.forEach(takeOne),
    figure: () => figure,
    isWaiting: () => error === null && statusOf(reason) === 'waiting',
    resultOf: ({ info }, pending) => {
      const status = error === null ? statusOf(reason) : 'error'
      const text = texts.join('')
      const words =
        error === null
          ? wordsOf(text, status, pending.length > 0 ? pending : [...waiting.values()])
          : failureWords(error)
      return {
        content: [
          { type: 'text', text: words },
          { type: 'text', text: `session_id: ${info.sessionId}` },
        ],
        structuredContent: { text, session_id: info.sessionId, message_id: info.id, status },
        ...(error !== null && { isError: true }),
      }
    },
  }
}

function wordsOf(text: string, status: Status, names: readonly string[]): string {
  if (status !== 'waiting') return text
  const words = `The agent waits for a decision about: ${[...new Set(names)].join(', ')}.`
  return text === '' ? words : `${text}\n\n${words}`
}

const failureWords = ({ code, message }: Pick<ReplyError, 'code' | 'message'>): string => `${code}: ${message}`

/** Returns the result of a call that was not taken, or whose reply never began. */
export const refused = (words: string): CallToolResult => ({ content: [{ type: 'text', text: words }], isError: true })

export const refusedBy = (error: Pick<ReplyError, 'code' | 'message'>): CallToolResult => refused(failureWords(error))
