/**
 * Encoder of a reply's frames as AG-UI events (contract section 12; protocol 1.0, `@ag-ui/core`). It writes no
 * `[DONE]`: clients of the protocol parse each `data:` as JSON, and a run ends with its last event.
 */
import type { FinishReason } from '../../../actors/reply/reply-event.ts'
import { shownEntries, shownQuestions } from '../../../features/approvals/index.ts'
import { type CalledSession, childOf } from '../../../features/children/index.ts'
import type { PendingCall } from '../../../features/sessions/index.ts'
import type { OutlineWriter, TextKind } from '../../streaming/outlined-calls.ts'
import { createOutline } from '../../streaming/reply-outline.ts'
import { callOutcomes, outlineEarlier } from '../chat/earlier-replies.ts'
import type { FrontEndEncoder } from '../front-ends/asked-below.ts'
import type { MessageWithEvents } from '../shared/reply-events.ts'

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
): FrontEndEncoder {
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
    called(call) {
      const { id, name, arguments: text } = call
      out += data({ type: 'TOOL_CALL_START', toolCallId: id, toolCallName: name, parentMessageId: replyId })
      out += data({ type: 'TOOL_CALL_ARGS', toolCallId: id, delta: text })
      out += data({ type: 'TOOL_CALL_END', toolCallId: id })
      const child = childOf(call)
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
      interrupts.push(approvalInterrupt(id, name, id))
    },
    questioned(call, asked) {
      interrupts.push(...shownQuestions(call, asked).map(({ id, entry }) => questionInterrupt(id, entry, call.id)))
    },
    askedBelow(call, entries) {
      for (const { id, entry } of shownEntries(entries)) {
        const isApproval = entry.kind === 'approval'
        interrupts.push(isApproval ? approvalInterrupt(id, entry.name, call.id) : questionInterrupt(id, entry, call.id))
      }
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
  return {
    outline,
    begin() {
      out = ''
    },
    text: () => out,
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
    start(callId: string, { sessionId }: CalledSession): string {
      const stepName = `child:${sessionId}`
      open.set(callId, stepName)
      return data({ type: 'STEP_STARTED', stepName })
    },
    finish,
    finishAll: () => [...open.keys()].map(finish).join(''),
  }
}

/** Returns the interrupt of a call that waits for an approval. `toolCallId`: the call that shows it. */
const approvalInterrupt = (id: string, name: string, toolCallId: string): object => ({
  id,
  reason: 'tool_approval',
  toolCallId,
  message: `May ${name} be called?`,
  responseSchema,
})

/** Returns the interrupt of a question, or of a sign-in that is waited for. `toolCallId`: the call that shows it. */
function questionInterrupt(id: string, { kind, server, key, message, schema, url }: PendingCall, toolCallId: string) {
  const metadata = { server, ...(key !== undefined && { key }), ...(url !== undefined && { url }) }
  const reason = kind === 'sign_in' ? kind : 'input_required'
  return { id, reason, toolCallId, message, ...(schema && { responseSchema: schema }), metadata }
}
