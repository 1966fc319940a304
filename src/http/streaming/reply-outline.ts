/**
 * A reply's frames → its outline: model calls (steps), the texts in them, tool calls and what became of them. Pure, and
 * a function of the frames' order alone, so that a replay and every instance find the same outline. UI streams
 * (contract section 12) have marks where these begin and end; chat completions have none.
 */

import { neverMade } from '../../actors/history/decided-calls.ts'
import { unknownOutcome } from '../../actors/history/tool-turns.ts'
import type {
  FinishReason,
  Frame,
  ReplyError,
  ReplyEvent,
  ServerAsked,
  UnmadeKind,
} from '../../actors/reply/reply-event.ts'

/** Each run of one kind is a part of its own. */
export type TextKind = 'text' | 'reasoning'

/** A call, with the remembered decision that settled it and the session that it makes. Its arguments may not parse. */
export type OutlinedCall = Pick<CallEvent, 'id' | 'name' | 'arguments' | 'by' | 'child'>

/** The writer of a reply, called in order. Parts are numbered from 0 through the whole reply. */
export interface OutlineWriter {
  started(): void
  stepStarted(): void
  stepFinished(): void
  partStarted(kind: TextKind, part: number): void
  delta(kind: TextKind, text: string): void
  partFinished(kind: TextKind, part: number): void
  called(call: OutlinedCall): void
  /** Writes a result. `ok` is null when the reply ended before a result was stored. */
  answered(call: OutlinedCall, ok: boolean | null, content: string): void
  /** Writes that the reply ends, and the call waits until it is approved or rejected. */
  asked(call: OutlinedCall): void
  /** Writes that the reply ends, and the call waits for answers to what its server asks. */
  questioned(call: OutlinedCall, asked: ServerAsked): void
  /** Writes that the call is decided, and the next reply carries it out: `answered` or `denied` follows. */
  decided(call: OutlinedCall, decision: ShownDecision): void
  denied(call: OutlinedCall, reason: string): void
  finished(reason: FinishReason): void
  failed(error: ReplyError): void
  done(): void
}

export interface Outline {
  take(frame: Frame): void
  /**
   * Builds the outline of replies that are no frames any more: begin, their events in order, and end unless they still run. `waits`: it
   * ended for a decision; the next reply goes on from there, with the calls that are open.
   */
  begin(): void
  event(event: ReplyEvent): void
  end(waits?: boolean): void
  /** Ends the outline where no reply continues it: calls that do not wait any more are closed as their outcomes say. */
  settle(): void
}

export interface ShownDecision {
  approved: boolean
  reason: string | null
}

export interface ShownResult {
  /** See `OutlineWriter.answered`. */
  ok: boolean | null
  denied: boolean
  text: string
}

/** The stored outcome of a call that waited. */
export interface CallOutcome {
  /** The decision; null while the call waits for a decision. */
  decided: ShownDecision | null
  /** The result that is shown where no reply of the outline says it. Null when the call still waits. */
  result: ShownResult | null
}

const unanswered = (text: string): ShownResult => ({ ok: null, denied: false, text })
export const notMade = unanswered(neverMade)
/** In fewer words than the model gets. */
export const outcomeUnknown = unanswered(
  'The outcome is unknown: the reply ended before a result of this call was stored.',
)

type CallEvent = Extract<ReplyEvent, { type: 'tool_call' }>
type ResultEvent = Extract<ReplyEvent, { type: 'tool_result' | 'tool_unknown' }>
type Outcomes = ReadonlyMap<string, CallOutcome>

/** Returns the calls without a result. */
function createCalls(write: OutlineWriter, outcomes: Outcomes) {
  const open = new Map<string, CallEvent>()
  const begun = new Set<string>()
  /** The questions of servers, by call. Null in a copy, where nobody may answer. */
  const questions = new Map<string, ServerAsked | null>()
  const waiting = (kind: UnmadeKind) => [...open.values()].filter(({ waits }) => waits === kind)
  const tellDecision = ({ waits, ...call }: CallEvent) => {
    const decision = outcomes.get(call.id)?.decided
    if (decision && (waits === 'approval' || !decision.approved)) write.decided(call, decision)
  }
  const isUnheld = ({ id, waits }: CallEvent) => waits === undefined && !questions.has(id)
  /** Closes a call whose result no reply brings any more. A call that waited had no effect before it began. */
  const end = (call: CallEvent) => {
    open.delete(call.id)
    const mayBeMade = isUnheld(call) || begun.has(call.id)
    const { ok, denied, text } = mayBeMade ? outcomeUnknown : (outcomes.get(call.id)?.result ?? notMade)
    if (denied) write.denied(call, text)
    else write.answered(call, ok, text)
  }
  return {
    waiting,
    open(call: CallEvent): OutlinedCall {
      open.set(call.id, call)
      return call
    },
    begin: (id: string) => void begun.add(id),
    ask(id: string, asked: ServerAsked | null): void {
      questions.set(id, asked)
      begun.delete(id)
    },
    questioned: () =>
      [...open.values()].flatMap((call) => {
        const asked = questions.get(call.id)
        return asked && !outcomes.get(call.id)?.decided ? [{ call, asked }] : []
      }),
    /** Returns false when no such call is open. */
    answer(result: ResultEvent): boolean {
      const call = open.get(result.id)
      if (call === undefined) return false
      open.delete(result.id)
      tellResult(result, call, write)
      return true
    },
    isEmpty: () => open.size === 0,
    tellDecisions: () => [...open.values()].forEach(tellDecision),
    /** Ends the calls. `waits`: pending calls stay. */
    end(waits: boolean): void {
      for (const call of [...open.values()]) if (!waits || isUnheld(call)) end(call)
    },
    settle(): void {
      for (const call of [...open.values()]) {
        if (!outcomes.get(call.id)?.result) continue
        tellDecision(call)
        end(call)
      }
    },
  }
}

/** Keeps the model call and the part that are open. */
function createSteps(write: OutlineWriter) {
  let part = -1
  let openKind: TextKind | null = null
  let inStep = false

  const closePart = () => {
    if (openKind !== null) write.partFinished(openKind, part)
    openKind = null
  }
  // A later step begins with the first word of its model call: of a reply that ended before it, there was none to show.
  const start = () => {
    if (!inStep) write.stepStarted()
    inStep = true
  }
  return {
    closePart,
    start,
    finish() {
      if (inStep) write.stepFinished()
      inStep = false
    },
    text(kind: TextKind, delta: string) {
      if (openKind !== kind) {
        closePart()
        start()
        openKind = kind
        part += 1
        write.partStarted(kind, part)
      }
      write.delta(kind, delta)
    },
  }
}

/** Holds back calls. The calls of a turn that holds some of the caller's own are shown when it is the caller's turn. */
function createHeld() {
  let held: CallEvent[] = []
  return {
    hold: (call: CallEvent) => void held.push(call),
    take: () => held.splice(0),
    drop(): void {
      held = []
    },
  }
}

function tellResult(one: ResultEvent, call: OutlinedCall, write: OutlineWriter): void {
  if (one.type === 'tool_unknown') write.answered(call, null, unknownOutcome)
  else if (one.denied) write.denied(call, one.content)
  else write.answered(call, one.ok, one.content)
}

/** Shows the approvals that wait, else the questions. Returns false when there are neither: it is the caller's turn. */
function showAsked(calls: ReturnType<typeof createCalls>, write: OutlineWriter): boolean {
  const approvals = calls.waiting('approval')
  for (const call of approvals) write.asked(call)
  if (approvals.length > 0) return true
  const questions = calls.questioned()
  for (const { call, asked } of questions) write.questioned(call, asked)
  return questions.length > 0
}

/** Makes an outline. `outcomes`: of calls that waited, by their ids. */
export function createOutline(write: OutlineWriter, outcomes: Outcomes = new Map()): Outline {
  const calls = createCalls(write, outcomes)
  const held = createHeld()
  const steps = createSteps(write)
  let goesOn = false
  const called = (one: CallEvent) => {
    steps.closePart()
    steps.start()
    write.called(calls.open(one))
  }
  const event = (one: ReplyEvent) => {
    switch (one.type) {
      case 'text':
      case 'reasoning':
        return steps.text(one.type, one.text)
      case 'tool_call':
        return one.waits === 'caller' ? held.hold(one) : called(one)
      case 'tool_result':
      case 'tool_unknown':
        // All calls of a turn are stored before its first result, and the model is asked again after the last one.
        if (calls.answer(one) && calls.isEmpty()) steps.finish()
        return
      case 'tool_begun':
        return calls.begin(one.id)
      case 'tool_asked':
        return calls.ask(one.id, one.asked ?? null)
      case 'model':
        return // whose words they are is not shown
      default:
        one satisfies never
    }
  }
  const begin = () => {
    write.started()
    // Decisions come first in a reply that goes on: they belong to the model call that asked.
    if (goesOn) calls.tellDecisions()
    else steps.start()
  }
  const end = (waits = false) => {
    steps.closePart()
    calls.end(waits)
    if (waits && !showAsked(calls, write)) held.take().forEach(called)
    if (!waits) held.drop()
    steps.finish()
    goesOn = waits
  }
  return {
    begin,
    event,
    end,
    settle: calls.settle,
    take(frame) {
      switch (frame.type) {
        case 'started':
          return begin()
        case 'text':
        case 'reasoning':
          return steps.text(frame.type, frame.text)
        case 'stored':
          return event(frame.stored.event)
        case 'finished': {
          const waits = frame.reason === 'tool_calls'
          if (frame.reason !== 'cancelled' && !waits) steps.start() // the last model call may have said nothing
          end(waits)
          return write.finished(frame.reason)
        }
        case 'failed':
          end()
          return write.failed(frame.error)
        case 'done':
          return write.done()
        case 'calls':
        case 'usage':
        case 'state':
          return
        default:
          frame satisfies never
      }
    },
  }
}
