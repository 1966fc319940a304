/** What a model repeats of the text that it goes on behind is left out. Pure. */

/** Characters of a repetition, in code points: fewer may be by chance. */
const LEAST = 16
const MOST = 200

export interface Repetition {
  /** What of the text so far is new; what may still prove a repetition waits. */
  push(text: string): string
  /** What is still pending, at the end of the text. */
  end(): string
}

const isWordsBeginning = (characters: readonly string[], at: number): boolean =>
  /[^\s]/u.test(characters[at] ?? '') && (at === 0 || /[^\p{L}\p{N}_]/u.test(characters[at - 1] ?? ''))

/** Ends of a text that a model which was told to go on may repeat, from a word's beginning: the longest first. */
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

/** Leaves out the first of `texts` that what follows begins with. */
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
