/** Text that is kept up to a length, and counted beyond it. */

export const MOST_CHARACTERS = 400_000

/** The time after which a text that is cut already is not counted on. */
const COUNTING_MS = 5000

export interface Text {
  write(text: string): void
  /** Counts characters that are not kept. */
  skip(count: number): void
  append(other: Text): void
  /** Returns the beginning that is kept. */
  kept(): string
  /** Returns the number of all characters. */
  length(): number
}

/** Makes an empty text. */
export function createText(): Text {
  let pieces: string[] = []
  let kept = 0
  let all = 0
  const write = (text: string) => {
    all += text.length
    if (kept >= MOST_CHARACTERS) return
    const piece = text.slice(0, MOST_CHARACTERS - kept)
    kept += piece.length
    pieces.push(piece)
  }
  return {
    write,
    skip(count) {
      all += count
    },
    append(other) {
      const text = other.kept()
      write(text)
      all += other.length() - text.length
    },
    kept() {
      pieces = [pieces.join('')]
      return pieces[0] ?? ''
    },
    length: () => all,
  }
}

/** Returns whether no more of a document needs to be read. */
export const isEnough = (text: Text) => () => text.length() > MOST_CHARACTERS && performance.now() > COUNTING_MS

/** Returns the text, with a last line about what is cut off. No character is cut in two. */
export function cutText(text: Text): string {
  const kept = text.kept()
  if (text.length() <= MOST_CHARACTERS) return kept
  const whole = kept.isWellFormed() ? kept : kept.slice(0, -1)
  return `${whole}\n[Cut: ${whole.length} of ${text.length()} characters.]`
}
