const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

/**
 * Creates a cleaner that makes a model's text storable: U+0000 and unpaired surrogates become U+FFFD, and a pair that was
 * split over two deltas is joined (contract section 4). PostgreSQL rejects both, and one bad text would fail a whole flush.
 */
export function createTextCleaner() {
  let waiting = ''
  return {
    /** Returns the clean part of the text so far; a high surrogate at its end waits for its low surrogate. */
    push(text: string): string {
      const joined = waiting + text
      const splits = joined.length > 0 && isHighSurrogate(joined.charCodeAt(joined.length - 1))
      waiting = splits ? joined.slice(-1) : ''
      return cleanText(splits ? joined.slice(0, -1) : joined)
    },
    /** Returns the text that is still pending, at its end. */
    end(): string {
      const rest = cleanText(waiting)
      waiting = ''
      return rest
    },
  }
}

/** Returns a whole text, cleaned. */
export const cleanText = (text: string): string =>
  (text.isWellFormed() ? text : text.toWellFormed()).replaceAll('\0', '\ufffd')
