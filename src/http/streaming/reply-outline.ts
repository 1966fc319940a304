/**
 * A reply's frames → its outline: model calls (steps), the texts in them, tool calls and what became of them. Pure, and
 * a function of the frames' order alone, so that a replay and every instance find the same outline. UI streams
 * (contract section 12) have marks where these begin and end; chat completions have none.
 */
import { unknownOutcome } from '../../actors/history/tool-turns.ts'
import type { FinishReason, Frame, ReplyError, ReplyEvent, WaitKind } from '../../actors/reply/reply-event.ts'

/** Each run of one kind is a part of its own. */
export type TextKind = 'text' | 'reasoning'

export interface OutlinedCall {
  id: string
  name: string
  /** JSON text as the model wrote it; it may not parse. */
  arguments: string
}

/** What is written of a reply, called in order. Parts are numbered from 0 through the whole reply. */
export interface OutlineWriter {
  started(): void
  stepStarted(): void
  stepFinished(): void
  partStarted(kind: TextKind, part: number): void
  delta(kind: TextKind, text: string): void
  partFinished(kind: TextKind, part: number): void
  called(call: OutlinedCall): void
  /** `ok` is null when the reply ended before a result was stored. */
  answered(call: OutlinedCall, ok: boolean | null, content: string): void
  /** The reply ends, and the call waits until it is approved or rejected. */
  asked(call: OutlinedCall): void
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
  /** No reply continues it: what became of the calls that are still open, by their ids. */
  settle(outcomes: ReadonlyMap<string, CallOutcome>): void
}

/** `pending`: it still waits. */
export type CallOutcome = 'pending' | { denied: boolean; text: string }

/** What the client is shown of such a call, in fewer words than the model gets. */
const UNKNOWN_OUTCOME = 'The outcome is unknown: the reply ended before a result of this call was stored.'

type CallEvent = Extract<ReplyEvent, { type: 'tool_call' }>

/** The calls without a result. */
function createCalls() {
  const open = new Map<string, CallEvent>()
  return {
    open(call: CallEvent): OutlinedCall {
      open.set(call.id, call)
      return call
    },
    /** Undefined when no call of this id is open. */
    close(id: string): OutlinedCall | undefined {
      const call = open.get(id)
      open.delete(id)
      return call
    },
    isEmpty: () => open.size === 0,
    waiting: (kind: WaitKind): OutlinedCall[] => [...open.values()].filter(({ waits }) => waits === kind),
    /** `waits`: pending calls stay. */
    rest(waits: boolean): OutlinedCall[] {
      const gone = [...open.values()].filter((one) => !waits || one.waits === undefined)
      for (const { id } of gone) open.delete(id)
      return gone
    },
  }
}

/** The model call and the part that are open. */
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

/** The calls of a turn that holds some of the caller's own are shown when it is the caller's turn. */
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

function settleCalls(
  open: readonly OutlinedCall[],
  outcomes: ReadonlyMap<string, CallOutcome>,
  write: OutlineWriter,
): void {
  for (const call of open) {
    const fate = outcomes.get(call.id)
    if (fate === undefined || fate === 'pending') continue
    if (fate.denied) write.denied(call, fate.text)
    else write.answered(call, null, fate.text)
  }
}

function tellResult(
  one: Extract<ReplyEvent, { type: 'tool_result' | 'tool_unknown' }>,
  call: OutlinedCall,
  write: OutlineWriter,
): void {
  if (one.type === 'tool_unknown') write.answered(call, null, unknownOutcome)
  else if (one.denied) write.denied(call, one.content)
  else write.answered(call, one.ok, one.content)
}

export function createOutline(write: OutlineWriter): Outline {
  const calls = createCalls()
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
      case 'tool_unknown': {
        const call = calls.close(one.id)
        if (call === undefined) return
        tellResult(one, call, write)
        // All calls of a turn are stored before its first result, and the model is asked again after the last one.
        if (calls.isEmpty()) steps.finish()
        return
      }
      case 'tool_begun':
      case 'model':
        return // whose words they are is not shown
      default:
        one satisfies never
    }
  }
  const begin = () => {
    write.started()
    // Decisions come first in a reply that goes on: they belong to the model call that asked.
    if (!goesOn) steps.start()
  }
  const end = (waits = false) => {
    steps.closePart()
    for (const call of calls.rest(waits)) write.answered(call, null, UNKNOWN_OUTCOME)
    const approvals = waits ? calls.waiting('approval') : []
    for (const call of approvals) write.asked(call)
    if (waits && approvals.length === 0) held.take().forEach(called)
    if (!waits) held.drop()
    steps.finish()
    goesOn = waits
  }
  return {
    begin,
    event,
    end,
    settle: (outcomes) => settleCalls([...calls.waiting('approval'), ...calls.waiting('caller')], outcomes, write),
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
          // The last model call may have said nothing.
          if (frame.reason !== 'cancelled' && !waits) steps.start()
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
      }
    },
  }
}
