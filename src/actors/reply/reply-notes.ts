/**
 * Notes what happens while a reply is generated (contract section 16): its attempts, model turns and tool calls. A note
 * tells a span as far as it has come; while it waits to be stored it is brought up to date in its place, so that what
 * takes less than the recorder's gathering is one row.
 */

import type { ModelRequest, RequestWriter } from '../ports/index.ts'
import type { DecidedToolCall, ObservedReply, ObservedToolCall, ReplyObserver } from '../ports/observer.ts'
import type { NoteKind, StepDetail, TransitionRecord, TransitionRecorder } from '../session/transitions.ts'

/** Where it happens: the machine knows no state within. */
const GENERATING = 'streaming.generating'
const COMPACTING = 'streaming.compacting'

type NotedModelCall = Omit<ReturnType<ReplyObserver['modelCall']>, 'within'>
type NotedToolCall = Omit<ReturnType<ReplyObserver['toolCall']>, 'within'>

export interface NotedReply {
  modelCall(purpose?: 'summary'): NotedModelCall
  toolCall(call: ObservedToolCall): NotedToolCall
  notMade(call: DecidedToolCall): void
  settling(): void
  ended(): void
}

/** `requests`: null where what models are sent is not kept. */
export const noteReplies = (recorder: TransitionRecorder, requests: (() => RequestWriter) | null) => ({
  begin({ id, sessionId, purpose }: Pick<ObservedReply, 'id' | 'sessionId' | 'purpose'>): Partial<NotedReply> {
    return sessionId === null || purpose !== 'reply' ? {} : noteReply({ recorder, sessionId, id, requests })
  },
})

interface Noted {
  recorder: TransitionRecorder
  sessionId: string
  id: string
  requests: (() => RequestWriter) | null
}

function noteReply({ recorder, sessionId, id, requests }: Noted): NotedReply {
  const admittedAt = performance.now()
  let isOpen = true
  let turns = 0
  let attempts = 0
  let tools = 0
  const writer = requests?.() ?? null
  const now = () => Math.round(performance.now() - admittedAt)

  /** A span. What it returns brings its note up to date. */
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

  function modelCall(purpose?: 'summary'): NotedModelCall {
    const turn = ++turns
    const state = purpose === 'summary' ? COMPACTING : GENERATING
    const tellTurn = open('model', { span: `m${turn}`, turn, ...(purpose && { purpose }) }, state)
    let made = 0
    let tell: ReturnType<typeof open> = () => {}
    return {
      called({ providerId, model }) {
        const attempt = { span: `a${++attempts}`, turn, attempt: ++made, providerId, model }
        tell = open('attempt', attempt, state)
        tell({})
      },
      sent(request: ModelRequest, body: object) {
        const sent = writer?.write(turn, request, body)
        if (sent) tell({}, sent)
      },
      answered: (status) => tell({ status }),
      firstToken: () => tell({ firstTokenMs: now() }),
      callEnded(outcome, status) {
        const failed = outcome === 'ok' ? {} : { code: outcome }
        tell({ endMs: now(), ok: outcome === 'ok', ...failed, ...(status !== null && { status }) })
      },
      retried: ({ waitMs, of }) => tell({ waitMs: Math.round(waitMs), of }),
      // Each model has its own attempts.
      fellBack() {
        made = 0
      },
      ended({ end }) {
        const reason = typeof end === 'string' ? { code: end } : end === null ? {} : { reason: end.reason }
        tellTurn({ endMs: now(), ok: typeof end === 'object' && end !== null, ...reason })
      },
    }
  }

  const openTool = ({ id: callId, name, decision }: ObservedToolCall) =>
    open('tool', { span: `t${++tools}`, turn: turns, callId, name, ...(decision && { decision }) })

  return {
    modelCall,
    toolCall(call) {
      const tell = openTool(call)
      tell({})
      return { ended: (ok) => tell({ endMs: now(), ok }) }
    },
    notMade: (call) => openTool(call)({ endMs: now(), ok: call.ok }),
    // What ends from now on ends because the reply does.
    settling() {
      isOpen = false
    },
    ended() {
      isOpen = false
    },
  }
}
