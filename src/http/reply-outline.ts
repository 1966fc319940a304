/**
 * A reply's frames → its outline: model calls (steps), the texts in them, tool calls and what became of them. Pure, and
 * a function of the frames' order alone, so that a replay and every instance find the same outline. UI streams
 * (contract section 12) have marks where these begin and end; chat completions have none.
 */
import type { FinishReason, Frame, ReplyError, ReplyEvent } from '../actors/reply-event.ts'

/** Each run of one kind is a part of its own. */
export type TextKind = 'text' | 'reasoning'

export interface OutlinedCall {
  /** The model's own id, or one made from it: models repeat ids, and readers know calls by them. */
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
  /** `ok` null: the reply ended before a result was stored. */
  answered(call: OutlinedCall, ok: boolean | null, content: string): void
  finished(reason: FinishReason): void
  failed(error: ReplyError): void
  done(): void
}

export interface Outline {
  take(frame: Frame): void
  /** For replies that are no frames any more: begin, their events in order, and end unless they still run. */
  begin(): void
  event(event: ReplyEvent): void
  end(): void
}

/** What a model is told of such a call, in fewer words. */
const UNKNOWN_OUTCOME = 'The outcome is unknown: the reply ended before a result of this call was stored.'

/** Gives each call an id that is its own, and finds the call that a result belongs to. */
function createCalls() {
  const ids = new Set<string>()
  const open: { modelId: string; call: OutlinedCall }[] = []
  return {
    open(event: OutlinedCall): OutlinedCall {
      let id = event.id
      for (let n = 2; ids.has(id); n++) id = `${event.id}_${n}`
      ids.add(id)
      const call = { id, name: event.name, arguments: event.arguments }
      open.push({ modelId: event.id, call })
      return call
    },
    /** The oldest call of this id that has no result. Null: there is none. */
    close(modelId: string): OutlinedCall | null {
      const index = open.findIndex((one) => one.modelId === modelId)
      return index < 0 ? null : (open.splice(index, 1)[0]?.call ?? null)
    },
    isEmpty: () => open.length === 0,
    rest: () => open.splice(0).map(({ call }) => call),
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

export function createOutline(write: OutlineWriter): Outline {
  const calls = createCalls()
  const steps = createSteps(write)
  const event = (one: ReplyEvent) => {
    switch (one.type) {
      case 'text':
      case 'reasoning':
        return steps.text(one.type, one.text)
      case 'tool_call':
        steps.closePart()
        steps.start()
        return write.called(calls.open(one))
      case 'tool_result': {
        const call = calls.close(one.id)
        if (call === null) return
        write.answered(call, one.ok, one.content)
        // All calls of a turn are stored before its first result, and the model is asked again after the last one.
        if (calls.isEmpty()) steps.finish()
        return
      }
      case 'model':
        return // whose words they are is not shown
      default:
        one satisfies never
    }
  }
  const begin = () => {
    write.started()
    steps.start()
  }
  const end = () => {
    steps.closePart()
    for (const call of calls.rest()) write.answered(call, null, UNKNOWN_OUTCOME)
    steps.finish()
  }
  return {
    begin,
    event,
    end,
    take(frame) {
      switch (frame.type) {
        case 'started':
          return begin()
        case 'text':
        case 'reasoning':
          return steps.text(frame.type, frame.text)
        case 'stored':
          return event(frame.stored.event)
        case 'finished':
          if (frame.reason !== 'cancelled') steps.start() // the last model call may have said nothing
          end()
          return write.finished(frame.reason)
        case 'failed':
          end()
          return write.failed(frame.error)
        case 'done':
          return write.done()
        case 'usage':
        case 'state':
          return
      }
    },
  }
}
