/** The parts of a stream that begins again with each connection: those that came before are left out. */

/** A part of the AI SDK's UI message stream. Deltas of one text may be divided in another way when they are sent again. */
export interface UiChunk {
  type: string
  id?: string
  delta?: string
}

/** A part, or all deltas of a text between two other parts: their letters. */
type Seen = { kind: 'part' } | { kind: 'text'; letters: number }

export interface Repeats {
  /** Marks that a connection begins, and with it the stream. */
  begin(): void
  /** Returns the part, the rest of a delta, or null where all of it came before. */
  rest(chunk: UiChunk): UiChunk | null
}

export function withoutRepeats(): Repeats {
  const seen: Seen[] = []
  /** The place in `seen`, and the letters of the text there that this connection has brought. */
  let at = 0
  let letters = 0

  function restOfDelta(chunk: UiChunk, delta: string): UiChunk | null {
    const text = seen[at] ?? { kind: 'text', letters: 0 }
    if (text.kind !== 'text') return chunk // the order differs: nothing is to be lost
    seen[at] = text
    const before = Math.max(text.letters - letters, 0)
    letters += delta.length
    text.letters = Math.max(text.letters, letters)
    return before >= delta.length ? null : { ...chunk, delta: delta.slice(before) }
  }

  return {
    begin() {
      at = 0
      letters = 0
    },
    rest(chunk) {
      if (typeof chunk.delta === 'string') return restOfDelta(chunk, chunk.delta)
      if (seen[at]?.kind === 'text') at += 1
      letters = 0
      const isNew = at >= seen.length
      if (isNew) seen.push({ kind: 'part' })
      at += 1
      return isNew ? chunk : null
    },
  }
}
