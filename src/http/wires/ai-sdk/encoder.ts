/**
 * Encoder of a reply's frames as the AI SDK's UI message stream (contract section 12; `uiMessageChunkSchema` of the
 * package `ai`, version 7). Parts have no ids on the wire: such a stream is read from its beginning.
 */
import { type FinishReason, wireReason } from '../../../actors/reply/reply-event.ts'
import { shownEntries, shownQuestions } from '../../../features/approvals/index.ts'
import type { OutlineWriter } from '../../streaming/outlined-calls.ts'
import { createOutline } from '../../streaming/reply-outline.ts'
import { callOutcomes, outlineEarlier } from '../chat/earlier-replies.ts'
import type { FrontEndEncoder } from '../front-ends/asked-below.ts'
import type { MessageWithEvents } from '../shared/reply-events.ts'
import { inputOf, metadataOf } from './tool-input.ts'

/** Returns the SDK's finish reason: that of the wire, with hyphens. */
const sdkReason = (reason: FinishReason): string => wireReason(reason, true).replaceAll('_', '-')

const data = (part: object): string => `data: ${JSON.stringify(part)}\n\n`

/** The replies that a reply continues. With `repeat` their parts are written again, after a single `start`. */
export interface Earlier {
  replies: readonly MessageWithEvents[]
  repeat: boolean
}

/**
 * Returns an encoder for the frames of one reply, batch by batch from the first one. The reply and those that it
 * continues are one message, under the first one's id.
 */
export function createUiMessageEncoder(
  replyId: string,
  { replies, repeat }: Earlier = { replies: [], repeat: false },
): FrontEndEncoder {
  const messageId = replies[0]?.id ?? replyId
  let hasStarted = false
  let out = ''
  // Only the delta goes through JSON.stringify per token.
  let deltaStart = ''
  const writer: OutlineWriter = {
    started() {
      if (hasStarted) return
      hasStarted = true
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
      const providerMetadata = metadataOf(call)
      out += data({
        type: 'tool-input-available',
        toolCallId: call.id,
        toolName: call.name,
        input: inputOf(call),
        dynamic: true,
        ...(providerMetadata && { providerMetadata }),
      })
    },
    answered({ id }, ok, content) {
      out += ok
        ? data({ type: 'tool-output-available', toolCallId: id, output: content, dynamic: true })
        : data({ type: 'tool-output-error', toolCallId: id, errorText: content, dynamic: true })
    },
    asked({ id }) {
      out += data({ type: 'tool-approval-request', approvalId: id, toolCallId: id })
    },
    questioned(call, asked) {
      for (const { id, entry } of shownQuestions(call, asked)) out += data({ type: 'data-pending', id, data: entry })
    },
    askedBelow({ id }, entries) {
      for (const { id: shown, entry } of shownEntries(entries))
        out += data({ type: 'data-pending', id: shown, data: entry })
      if (entries.every(({ kind }) => kind === 'approval')) writer.asked({ id, name: '', arguments: '' })
    },
    decided() {}, // a stream repeats the parts of its replies, and pages of version 6 know no tool-approval-response
    denied({ id }) {
      out += data({ type: 'tool-output-denied', toolCallId: id })
    },
    finished(reason) {
      out += data({ type: 'finish', finishReason: sdkReason(reason) })
    },
    failed({ message }) {
      out += `${data({ type: 'error', errorText: message })}data: [DONE]\n\n`
    },
    done() {
      out += 'data: [DONE]\n\n'
    },
  }
  const outline = createOutline(writer, callOutcomes(replies))
  outlineEarlier(outline, replies)
  let repeated = repeat ? out : ''
  hasStarted = repeat && replies.length > 0
  return {
    outline,
    begin() {
      out = repeated
      repeated = ''
    },
    text: () => out,
  }
}
