/**
 * Frames of a reply → the AI SDK's UI message stream (contract section 12; `uiMessageChunkSchema` of the package `ai`,
 * version 7). Parts take no ids on the wire: a stream of this kind is read from its beginning.
 */
import type { FinishReason, Frame } from '../../../actors/reply-event.ts'
import { createOutline, type OutlineWriter } from '../../reply-outline.ts'
import { inputOf } from './tool-input.ts'

/** The SDK's words. A cancelled reply was stopped by a person, as its own streams are. */
const finishReasons = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
  cancelled: 'stop',
} as const satisfies Record<FinishReason, string>

const data = (part: object): string => `data: ${JSON.stringify(part)}\n\n`

/** Encodes the frames of one reply, from its first one on: batch by batch, the bytes of each. */
export function createUiMessageEncoder(messageId: string): (frames: readonly Frame[]) => Buffer | null {
  let out = ''
  // Only the delta goes through JSON.stringify per token.
  let deltaStart = ''
  const writer: OutlineWriter = {
    started() {
      out += data({ type: 'start', messageId })
    },
    stepStarted() {
      out += data({ type: 'start-step' })
    },
    stepFinished() {
      out += data({ type: 'finish-step' })
    },
    partStarted(kind, part) {
      deltaStart = `data: {"type":"${kind}-delta","id":"${part}","delta":`
      out += data({ type: `${kind}-start`, id: `${part}` })
    },
    delta(_, text) {
      out += `${deltaStart}${JSON.stringify(text)}}\n\n`
    },
    partFinished(kind, part) {
      out += data({ type: `${kind}-end`, id: `${part}` })
    },
    called(call) {
      const { id, name } = call
      out += data({
        type: 'tool-input-available',
        toolCallId: id,
        toolName: name,
        input: inputOf(call),
        dynamic: true,
      })
    },
    answered({ id }, ok, content) {
      out += ok
        ? data({ type: 'tool-output-available', toolCallId: id, output: content, dynamic: true })
        : data({ type: 'tool-output-error', toolCallId: id, errorText: content, dynamic: true })
    },
    finished(reason) {
      out += data({ type: 'finish', finishReason: finishReasons[reason] })
    },
    failed({ message }) {
      out += `${data({ type: 'error', errorText: message })}data: [DONE]\n\n`
    },
    done() {
      out += 'data: [DONE]\n\n'
    },
  }
  const outline = createOutline(writer)
  return (frames) => {
    out = ''
    for (const frame of frames) outline.take(frame)
    return out === '' ? null : Buffer.from(out)
  }
}
