/**
 * Encoder of a reply's frames as AG-UI events (contract section 12; protocol 1.0, `@ag-ui/core`). It writes no
 * `[DONE]`: clients of the protocol parse each `data:` as JSON, and a run ends with its last event.
 */
import type { FinishReason, Frame, ServerAsked } from '../../../actors/reply/reply-event.ts'
import { shownQuestions } from '../../../features/approvals/index.ts'
import type { MessageWithEvents } from '../../../persistence/replies/reading/reply-events.ts'
import { createOutline, type OutlinedCall, type OutlineWriter, type TextKind } from '../../streaming/reply-outline.ts'
import { callOutcomes, outlineEarlier } from '../chat/earlier-replies.ts'

const PROTOCOL_VERSION = '1.0'

export interface Run {
  threadId: string
  runId: string
}

const prefix = { text: 'TEXT_MESSAGE', reasoning: 'REASONING_MESSAGE' } as const satisfies Record<TextKind, string>
const role = { text: 'assistant', reasoning: 'reasoning' } as const satisfies Record<TextKind, string>

/** The JSON Schema of an answer to an interrupt. */
const responseSchema = {
  type: 'object',
  properties: {
    approved: { type: 'boolean' },
    reason: { type: 'string' },
    remember: { enum: ['session', 'user', null] },
    remember_arguments: { type: ['array', 'null'], items: { type: 'string' } },
  },
  required: ['approved'],
}

const data = (event: object): string => `data: ${JSON.stringify(event)}\n\n`

/**
 * Returns an encoder for the frames of one reply, batch by batch from the first one. `given` lists the calls whose
 * results came with this request.
 */
export function createRunEncoder(
  run: Run,
  replyId: string,
  earlier: readonly MessageWithEvents[] = [],
  given: readonly string[] = [],
): (frames: readonly Frame[]) => string {
  // A client appends each result that it receives to its messages, which contain those of the page's own tools already. The
  // other results of a request were shown to it, by this reply when a run is joined: they are shown again.
  const known = new Set(earlier.flatMap(({ waited }) => waited.map(({ id }) => id)).filter((id) => given.includes(id)))
  let interrupts: object[] = []
  let out = ''
  let results = 0
  const steps = createChildSteps()
  // Only the delta goes through JSON.stringify per token.
  let deltaStart = ''
  // The texts of all turns are one message. Each reasoning is a message of its own.
  const messageIdOf = (kind: TextKind, part: number) => (kind === 'text' ? replyId : `${replyId}:reasoning:${part}`)
  const writer: OutlineWriter = {
    started() {
      out += data({ type: 'RUN_STARTED', ...run, protocolVersion: PROTOCOL_VERSION })
    },
    stepStarted() {},
    stepFinished() {},
    partStarted(kind, part) {
      const messageId = messageIdOf(kind, part)
      if (kind === 'reasoning') out += data({ type: 'REASONING_START', messageId })
      out += data({ type: `${prefix[kind]}_START`, messageId, role: role[kind] })
      deltaStart = `data: {"type":"${prefix[kind]}_CONTENT","messageId":"${messageId}","delta":`
    },
    delta(_, text) {
      out += `${deltaStart}${JSON.stringify(text)}}\n\n`
    },
    partFinished(kind, part) {
      const messageId = messageIdOf(kind, part)
      out += data({ type: `${prefix[kind]}_END`, messageId })
      if (kind === 'reasoning') out += data({ type: 'REASONING_END', messageId })
    },
    called({ id, name, arguments: text, child }) {
      out += data({ type: 'TOOL_CALL_START', toolCallId: id, toolCallName: name, parentMessageId: replyId })
      out += data({ type: 'TOOL_CALL_ARGS', toolCallId: id, delta: text })
      out += data({ type: 'TOOL_CALL_END', toolCallId: id })
      if (child) out += steps.start(id, child)
    },
    answered({ id }, _, content) {
      out += steps.finish(id)
      if (known.has(id)) return
      results += 1
      const messageId = `${replyId}:result:${results}`
      out += data({ type: 'TOOL_CALL_RESULT', messageId, toolCallId: id, content, role: 'tool' })
    },
    asked({ id, name }) {
      interrupts.push({
        id,
        reason: 'tool_approval',
        toolCallId: id,
        message: `May ${name} be called?`,
        responseSchema,
      })
    },
    questioned(call, asked) {
      interrupts.push(...questionInterrupts(call, asked))
    },
    decided() {},
    denied({ id }, content) {
      writer.answered({ id, name: '', arguments: '' }, false, content)
    },
    finished(reason) {
      out += steps.finishAll()
      out += data({ type: 'RUN_FINISHED', ...run, outcome: outcomeOf(reason, interrupts) })
    },
    failed({ message, code }) {
      out += steps.finishAll()
      out += data({ type: 'RUN_ERROR', message, code })
    },
    done() {},
  }
  const outline = createOutline(writer, callOutcomes(earlier))
  outlineEarlier(outline, earlier)
  interrupts = []
  steps.finishAll() // their own runs have finished them
  return (frames) => {
    out = ''
    for (const frame of frames) outline.take(frame)
    return out
  }
}

/** Returns how a run ended. Current clients reject unknown outcomes, `cancelled` among them. */
function outcomeOf(reason: FinishReason, interrupts: readonly object[]) {
  if (interrupts.length > 0) return { type: 'interrupt', interrupts }
  return reason === 'cancelled' ? undefined : { type: 'success' }
}

/** Writes children as steps: from the call to its result, or to the end of the run. */
function createChildSteps() {
  const open = new Map<string, string>()
  const finish = (callId: string): string => {
    const stepName = open.get(callId)
    return open.delete(callId) ? data({ type: 'STEP_FINISHED', stepName }) : ''
  }
  return {
    start(callId: string, { sessionId }: NonNullable<OutlinedCall['child']>): string {
      const stepName = `child:${sessionId}`
      open.set(callId, stepName)
      return data({ type: 'STEP_STARTED', stepName })
    },
    finish,
    finishAll: () => [...open.keys()].map(finish).join(''),
  }
}

/** Returns the interrupts of a call whose server asks, or which waits for a sign-in. */
const questionInterrupts = (call: OutlinedCall, asked: ServerAsked): object[] =>
  shownQuestions(call, asked).map(({ id, entry: { kind, server, key, message, schema, url } }) => {
    const metadata = { server, ...(key !== undefined && { key }), ...(url !== undefined && { url }) }
    const reason = kind === 'sign_in' ? kind : 'input_required'
    return { id, reason, toolCallId: call.id, message, ...(schema && { responseSchema: schema }), metadata }
  })
