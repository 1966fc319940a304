/**
 * Notes what happens while a reply is generated (contract section 16): its attempts, model turns and tool calls. A note
 * tells a span as far as it has come; while it waits to be stored it is brought up to date in its place, so that what
 * takes less than the recorder's gathering is one row.
 */

import type { ProviderCallEvent, StepDetail, TransitionRecord } from '../../actors/ports/index.ts'
import type {
  ModelCallEvent,
  Observed,
  ObservedReply,
  ObservedToolCall,
  ReplyProgress,
  ToolCallEvent,
} from '../../actors/ports/observer.ts'
import type { RequestWriter } from './store/request-writer.ts'
import type { NoteKind, TraceRecorder } from './transitions.ts'

/** The states of notes: the machine has no state within them. */
const GENERATING = 'streaming.generating'
const COMPACTING = 'streaming.compacting'

type Noted<Event> = Omit<Observed<Event>, 'within'>

export interface NotedReply extends Noted<ReplyProgress> {
  modelCall(purpose?: 'summary'): Noted<ModelCallEvent>
  toolCall(call: ObservedToolCall): Noted<ToolCallEvent>
}

type Begun = Pick<ObservedReply, 'id' | 'sessionId' | 'purpose' | 'adopted' | 'origin'>

/** Returns an observer that notes replies. `requests`: null when requests to models are not stored. */
export const noteReplies = (recorder: TraceRecorder, requests: (() => RequestWriter) | null) => ({
  begin({ id, sessionId, purpose, adopted, origin }: Begun): Partial<NotedReply> {
    if (sessionId === null || purpose !== 'reply') return {}
    const asked: StepDetail = origin === null ? {} : { requestId: origin.requestId }
    return noteReply({ recorder, sessionId, id, requests, adopted, asked })
  },
})

interface NotedPlace {
  recorder: TraceRecorder
  sessionId: string
  id: string
  requests: (() => RequestWriter) | null
  /** Set when another instance began it: its spans are numbered on. */
  adopted: Begun['adopted']
  /** The request that asked for the reply, for its first attempt. Empty when it is not known. */
  asked: StepDetail
}

const handedOver = ({ reason, from }: NonNullable<Begun['adopted']>) => ({ reason, from })

function noteReply({ recorder, sessionId, id, requests, adopted, asked }: NotedPlace): NotedReply {
  const admittedAt = performance.now() - (adopted?.elapsedMs ?? 0)
  let isOpen = true
  let { turns, attempts, tools } = adopted ?? { turns: 0, attempts: 0, tools: 0 }
  const writer = requests?.() ?? null
  const now = () => Math.round(performance.now() - admittedAt)

  /** Opens a span. The returned function updates its note. */
  function open(event: NoteKind, first: StepDetail, state = GENERATING) {
    let detail: StepDetail = { ...first, startMs: now() }
    let note: TransitionRecord | null = null
    return (more: StepDetail, request?: TransitionRecord['request']) => {
      if (!isOpen) return
      detail = { ...detail, ...more }
      if (note !== null && recorder.amend(note, { detail, ...(request && { request }) })) return
      const at = new Date()
      const step = { sessionId, at, from: state, to: state, event, messageId: id, detail }
      note = { ...step, kind: 'note', ...(request && { request }) }
      recorder.record(note)
    }
  }

  if (adopted) open('handover', { span: `h${turns}.${attempts}`, ...handedOver(adopted) })({ endMs: now(), ok: true })

  function modelCall(purpose?: 'summary'): Noted<ModelCallEvent> {
    const turn = ++turns
    const state = purpose === 'summary' ? COMPACTING : GENERATING
    const tellTurn = open('model', { span: `m${turn}`, turn, ...(purpose && { purpose }) }, state)
    let made = 0
    let tell: ReturnType<typeof open> = () => {}
    return {
      on(event) {
        switch (event.type) {
          case 'called': {
            const { providerId, model, idleTimeoutMs } = event
            const first = { span: `a${++attempts}`, turn, attempt: ++made, providerId, model, idleTimeoutMs }
            tell = open('attempt', attempts === 1 ? { ...first, ...asked } : first, state)
            return tell({})
          }
          case 'sent': {
            const sent = writer?.write(turn, event.request, event.body)
            if (sent) tell({}, sent)
            return
          }
          case 'answered':
            return tell({ status: event.status })
          case 'first_token':
            return tell({ firstTokenMs: now() })
          case 'call_ended':
            return tell({ endMs: now(), ...endingOf(event) })
          case 'retried':
            return tell({ waitMs: Math.round(event.waitMs), of: event.of })
          case 'fell_back':
            made = 0 // each model has its own attempts
            return
          case 'ended': {
            const { end } = event
            const reason = typeof end === 'string' ? { code: end } : end === null ? {} : { reason: end.reason }
            return tellTurn({ endMs: now(), ok: typeof end === 'object' && end !== null, ...reason })
          }
          default:
            event satisfies never
        }
      },
    }
  }

  const openTool = ({ id: callId, name, decision, notes }: ObservedToolCall) =>
    open('tool', { span: `t${++tools}`, turn: turns, callId, name, ...(decision && { decision }), ...notes })

  return {
    modelCall,
    toolCall(call) {
      const tell = openTool(call)
      tell({})
      return { on: ({ ok, error }) => tell({ endMs: now(), ok, ...(error !== undefined && { error }) }) }
    },
    on(event) {
      if (event.type === 'not_made') openTool(event.call)({ endMs: now(), ok: event.call.ok })
      // What ends from now on ends because the reply does.
      else isOpen = false
    },
  }
}

const endingOf = ({ outcome, status }: Extract<ProviderCallEvent, { type: 'call_ended' }>): StepDetail => ({
  ok: outcome === 'ok',
  ...(outcome !== 'ok' && { code: outcome }),
  ...(status !== null && { status }),
})
