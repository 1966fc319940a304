/** How a model is asked to go on behind a text that was interrupted, and what it repeats of it is left out. Pure. */
import type { ModelMessage } from '../../ports/index.ts'

const instruction =
  'Your answer was interrupted at this point. Go on with it exactly where it stops: do not repeat any of it, do not begin anew and do not mention the interruption. If it is complete already, answer with nothing.'

/** For models that are told: the answer so far, and a last message that says what to do. */
export const toldToGoOn = (text: string): ModelMessage[] => [
  { role: 'assistant', content: text },
  { role: 'user', content: instruction },
]

/** Characters of a repetition: fewer may be by chance. */
const LEAST = 16
const MOST = 200

export interface Overlap {
  /** What of the text so far is new; what may still prove a repetition waits. */
  push(text: string): string
  /** What is still pending, at the end of the text. */
  end(): string
}

/** For a turn that goes on behind nothing. */
export const noOverlap: Overlap = { push: (text) => text, end: () => '' }

const isWordsBeginning = (text: string, at: number): boolean =>
  /[^\s]/u.test(text[at] ?? '') && (at === 0 || /[^\p{L}\p{N}_]/u.test(text[at - 1] ?? '')) && !isLowSurrogate(text, at)

const isLowSurrogate = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff
}

/** Leaves out what the beginning of a text repeats of the end of the text `before`: from a word's beginning. */
export function createOverlap(before: string): Overlap {
  /** Ends of the text that may be repeated, the longest first. */
  const ends: string[] = []
  for (let length = Math.min(MOST, before.length); length >= LEAST; length--) {
    if (isWordsBeginning(before, before.length - length)) ends.push(before.slice(-length))
  }
  let pending = ''
  let isDecided = ends.length === 0
  const decide = (): string => {
    isDecided = true
    const repeated = ends.find((end) => pending.startsWith(end)) ?? ''
    return pending.slice(repeated.length)
  }
  return {
    push(text) {
      if (isDecided) return text
      pending += text
      const mayBeLonger = ends.some((end) => end.length > pending.length && end.startsWith(pending))
      return mayBeLonger ? '' : decide()
    },
    end: () => (isDecided ? '' : decide()),
  }
}
