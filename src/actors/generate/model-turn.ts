/** A single call of the model, and the events that it brought. */

import type { Sending } from '../history/conversation.ts'
import type { ModelEvent, ModelFailure, ModelRequest, Take, ToolCall } from '../ports/index.ts'
import type { ModelCallEnd, Pace } from '../ports/observer.ts'
import type { ReplyEvent } from '../reply/reply-event.ts'
import { endedEarly } from './endings.ts'
import { holdsText } from './held-text.ts'
import type { Running } from './running.ts'
import { createTextCleaner } from './text-cleaner.ts'
import { cleanCall } from './tool-calls.ts'
import type { CountedTurn } from './usage-tally.ts'

/** The result of a model turn. */
interface Turn extends CountedTurn {
  calls: ToolCall[]
  failure: ModelFailure | null
  /** The turn's text, if it was not shown as it came. Else empty. */
  held: string
}

const nothing = { promptTokens: 0, completionTokens: 0 }

/** Makes one model call. Text and reasoning pass through as they come, calls are kept for after it. */
export async function runTurn(
  sent: ReturnType<Sending['next']>,
  offer: Pick<ModelRequest, 'tools' | 'toolChoice'>,
  { request, actions, model, tally, models, reasoning, observer, signal, take }: Running,
): Promise<Turn> {
  const turn: Turn = { text: '', reasoning: '', calls: [], counted: nothing, end: null, failure: null, held: '' }
  const isHeld = holdsText(request, actions, offer.tools)
  const cleaner = createTextCleaner()
  const pace = newPace()
  const observed = observer.modelCall()
  tally.begin(sent.messages, turn)
  models.beginTurn()
  const onEvents: Take<ModelEvent> = (events) => {
    if (signal.aborted) return undefined
    const emitted: ReplyEvent[] = []
    for (const event of events) {
      if (event.type === 'text') {
        if (reasoning.isOpen()) addReasoning(turn, reasoning.close(), emitted)
        keepPace(pace)
        addText(turn, cleaner.push(event.text), isHeld ? [] : emitted)
      } else if (event.type === 'reasoning') addReasoning(turn, reasoning.push(event.text), emitted)
      else if (event.type === 'model') models.answers(event)
      else keep(turn, event)
    }
    return emitted.length === 0 ? undefined : take([...models.changeEvents(), ...emitted])
  }
  try {
    await observed.within(() =>
      model.stream({ ...request, ...sent, ...offer, calls: models.countingCalls(observed.on) }, signal, onEvents),
    )
  } finally {
    observed.on({ type: 'ended', pace, end: endOf(turn, signal) })
  }
  const rest: ReplyEvent[] = models.changeEvents()
  addReasoning(turn, reasoning.close(), rest)
  addText(turn, cleaner.end(), isHeld ? [] : rest)
  if (isHeld) turn.held = turn.text
  if (rest.length > 0) await take(rest)
  if (turn.end === null && turn.failure === null) turn.failure = endedEarly
  tally.end(turn)
  return turn
}

function addText(turn: Turn, text: string, emitted: ReplyEvent[]): void {
  if (text === '') return
  turn.text += text
  emitted.push({ type: 'text', text })
}

function addReasoning(turn: Turn, text: string, emitted: ReplyEvent[]): void {
  if (text === '') return
  turn.reasoning += text
  emitted.push({ type: 'reasoning', text })
}

/** Keeps the events of a turn other than its text and reasoning. */
function keep(turn: Turn, event: Exclude<ModelEvent, { type: 'text' | 'reasoning' | 'model' }>): void {
  switch (event.type) {
    case 'tool_call':
      turn.calls.push(cleanCall(event.call))
      return
    case 'usage':
      turn.counted = event.usage
      return
    case 'failed':
      turn.failure = event.failure
      return
    case 'end':
      turn.end = event
      return
    case 'activity':
      return
    default:
      event satisfies never
  }
}

function endOf({ failure, end }: Turn, signal: AbortSignal): ModelCallEnd['end'] {
  if (failure !== null) return failure.code
  return end ?? (signal.aborted ? null : endedEarly.code)
}

const newPace = (): Pace => ({ firstAt: null, lastAt: 0, texts: 0, longestGapMs: 0 })

/** Notes a text's time. It is called for every text: numbers only. */
function keepPace(pace: Pace): void {
  const now = performance.now()
  if (pace.firstAt === null) pace.firstAt = now
  else if (now - pace.lastAt > pace.longestGapMs) pace.longestGapMs = now - pace.lastAt
  pace.lastAt = now
  pace.texts += 1
}
