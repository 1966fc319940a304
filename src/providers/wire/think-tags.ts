/** `<think>…</think>` at the beginning of a turn: models that are served without a parser write their reasoning so. Pure. */
const OPEN = '<think>'
const CLOSE = '</think>'

export interface Thinking {
  /** What is shown of the next piece of text, by kind. Empty when that is not known yet. */
  push(text: string): { reasoning: string; text: string }
  /** What is still held back, at the turn's end. */
  rest(): { reasoning: string; text: string }
}

/** Whether `text` ends in the beginning of `tag`: so many characters have to wait for what follows. */
function partOf(tag: string, text: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return length
  }
  return 0
}

export function readThinkTags(): Thinking {
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
  }
}
