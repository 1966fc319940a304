/**
 * A reply's frames → its outline: model calls (steps), the texts in them, tool calls and what became of them. Pure, and
 * a function of the frames' order alone, so that a replay and every instance find the same outline. UI streams
 * (contract section 12) have marks where these begin and end; chat completions have none.
 */

import type { Frame, ReplyEvent } from '../../actors/reply/reply-event.ts'
import type { PendingCall } from '../../features/sessions/index.ts'
import {
  type CallEvent,
  createCalls,
  createHeld,
  type Outcomes,
  type OutlineWriter,
  showAsked,
  type TextKind,
} from './outlined-calls.ts'

export interface Outline {
  /**
   * Takes the next frame. `below`: what sessions below ask. Returns false where the reply ends to wait for sessions below, and
   * `below` is absent: the frame is not taken.
   */
  take(frame: Frame, below?: readonly PendingCall[]): boolean
  /**
   * Builds the outline of replies that are no frames any more: begin, their events in order, and end unless they still
   * run. `waits`: it ended for a decision; the next reply goes on from there, with the calls that are open.
   */
  begin(): void
  event(event: ReplyEvent): void
  end(waits?: boolean, below?: readonly PendingCall[]): void
  /** Ends the outline where no reply continues it: calls that do not wait any more are closed as their outcomes say. */
  settle(): void
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

/** The parts of an outline that events change. */
interface OutlineState {
  calls: ReturnType<typeof createCalls>
  held: ReturnType<typeof createHeld>
  steps: ReturnType<typeof createSteps>
}

/** Takes events into the outline. `called` shows a call. */
function createEvents(write: OutlineWriter, { calls, held, steps }: OutlineState) {
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
  return { called, event }
}

/** Makes an outline. `outcomes`: of calls that waited, by their ids. */
export function createOutline(write: OutlineWriter, outcomes: Outcomes = new Map()): Outline {
  const calls = createCalls(write, outcomes)
  const held = createHeld()
  const steps = createSteps(write)
  let goesOn = false
  const { called, event } = createEvents(write, { calls, held, steps })
  const begin = () => {
    write.started()
    // Decisions come first in a reply that goes on: they belong to the model call that asked.
    if (goesOn) calls.tellDecisions()
    else steps.start()
  }
  const end = (waits = false, below: readonly PendingCall[] = []) => {
    steps.closePart()
    calls.end(waits)
    if (waits && !showAsked(calls, below, write)) held.take().forEach(called)
    if (!waits) held.drop()
    steps.finish()
    goesOn = waits
  }
  return {
    begin,
    event,
    end,
    settle: calls.settle,
    take(frame, below) {
      switch (frame.type) {
        case 'started':
          begin()
          break
        case 'text':
        case 'reasoning':
          steps.text(frame.type, frame.text)
          break
        case 'stored':
          event(frame.stored.event)
          break
        case 'finished': {
          const waits = frame.reason === 'tool_calls'
          if (waits && below === undefined && calls.asksAny()) return false
          if (frame.reason !== 'cancelled' && !waits) steps.start() // the last model call may have said nothing
          end(waits, below)
          write.finished(frame.reason)
          break
        }
        case 'failed':
          end()
          write.failed(frame.error)
          break
        case 'done':
          write.done()
          break
        case 'calls':
        case 'usage':
        case 'state':
          break
        default:
          frame satisfies never
      }
      return true
    },
  }
}
