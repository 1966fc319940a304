/**
 * `<think>…</think>` at the beginning of a turn: models served without a parser write their reasoning this way. Pure.
 */
import type { ModelEvent } from '../../actors/ports/index.ts'
import { addActivity, type Turn } from './turn-stream.ts'

const OPEN = '<think>'
const CLOSE = '</think>'

export interface Thinking {
  /** Returns the part of the next piece that is shown, by kind. Empty while that is not known yet. */
  push(text: string): { reasoning: string; text: string }
  /** Returns the text that is still held back, at the turn's end. */
  rest(): { reasoning: string; text: string }
  /** Returns whether all further output is text. */
  isOver(): boolean
}

/** Wraps a turn of any wire format: text between think tags becomes reasoning. `isAsked`: reasoning is shown. */
export function readingThinkTags(turn: Turn, isAsked: boolean): Turn {
  const { events } = turn
  const tags = readThinkTags()

  function show({ reasoning, text }: { reasoning: string; text: string }): void {
    if (reasoning !== '' && isAsked) events.push({ type: 'reasoning', text: reasoning })
    if (text !== '') events.push({ type: 'text', text })
    else if (reasoning === '' || !isAsked) addActivity(events, true)
  }
  function split(sent: readonly ModelEvent[]): void {
    for (const event of sent) {
      if (event.type === 'text') show(tags.push(event.text))
      else events.push(event)
    }
  }
  return {
    events,
    problem: turn.problem,
    done: turn.done,
    finished: turn.finished,
    take(data, eventName) {
      const from = events.length
      turn.take(data, eventName)
      if (!tags.isOver() && events.length > from) split(events.splice(from))
    },
    alive: turn.alive,
    close() {
      const rest = tags.rest()
      if (rest.reasoning !== '' || rest.text !== '') show(rest)
      return [...events.splice(0), ...turn.close()]
    },
  }
}

/** Returns how many characters at the end of `text` may begin `tag` and have to wait. */
function partOf(tag: string, text: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return length
  }
  return 0
}

function readThinkTags(): Thinking {
  let state: 'beginning' | 'thinking' | 'text' = 'beginning'
  let held = ''
  const nothing = { reasoning: '', text: '' }

  function begin(): { reasoning: string; text: string } {
    const start = held.trimStart()
    if (OPEN.startsWith(start) && start.length < OPEN.length) return nothing
    if (start.startsWith(OPEN)) {
      state = 'thinking'
      held = start.slice(OPEN.length)
      return think()
    }
    state = 'text'
    const text = held
    held = ''
    return { reasoning: '', text }
  }
  function think(): { reasoning: string; text: string } {
    const end = held.indexOf(CLOSE)
    if (end >= 0) {
      const shown = { reasoning: held.slice(0, end), text: held.slice(end + CLOSE.length) }
      state = 'text'
      held = ''
      return shown
    }
    const waits = partOf(CLOSE, held)
    const reasoning = held.slice(0, held.length - waits)
    held = held.slice(held.length - waits)
    return { reasoning, text: '' }
  }
  return {
    push(text) {
      if (state === 'text') return { reasoning: '', text }
      held += text
      return state === 'beginning' ? begin() : think()
    },
    rest() {
      const shown = state === 'thinking' ? { reasoning: held, text: '' } : { reasoning: '', text: held }
      held = ''
      return shown
    },
    isOver: () => state === 'text',
  }
}
