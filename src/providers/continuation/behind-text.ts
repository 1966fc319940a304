/** Removes the part of an interrupted text that a model repeats when it continues. Pure. */

/** The fewest characters of a repetition, in code points: fewer may be by chance. */
const LEAST = 16
const MOST = 200

export interface Repetition {
  /** Returns the part of the text so far that is new. Text that may still prove to be a repetition waits. */
  push(text: string): string
  /** Returns the text that still waits, at the end. */
  end(): string
}

const isWordsBeginning = (characters: readonly string[], at: number): boolean =>
  /[^\s]/u.test(characters[at] ?? '') && (at === 0 || /[^\p{L}\p{N}_]/u.test(characters[at - 1] ?? ''))

/**
 * Returns the ends of a text that a model may repeat when it continues, each from a word's beginning, the longest
 * first.
 */
export function endsOf(text: string): string[] {
  // The longest end needs the character before it, too. A character takes at most two UTF-16 units.
  const characters = Array.from(text.slice(-2 * (MOST + 1)))
  const ends: string[] = []
  for (let length = Math.min(MOST, characters.length); length >= LEAST; length--) {
    const at = characters.length - length
    if (isWordsBeginning(characters, at)) ends.push(characters.slice(at).join(''))
  }
  return ends
}

/** Creates a filter that removes the first of `texts` that the answer begins with. */
export function leavingOut(texts: readonly string[]): Repetition {
  let pending = ''
  let isDecided = texts.length === 0
  const decide = (): string => {
    isDecided = true
    const repeated = texts.find((text) => pending.startsWith(text)) ?? ''
    return pending.slice(repeated.length)
  }
  return {
    push(text) {
      if (isDecided) return text
      pending += text
      const mayBeLonger = texts.some((one) => one.length > pending.length && one.startsWith(pending))
      return mayBeLonger ? '' : decide()
    },
    end: () => (isDecided ? '' : decide()),
  }
}
