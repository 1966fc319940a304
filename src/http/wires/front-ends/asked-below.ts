/** The entries of sessions below that a reply waits for, as front ends show them at its end (contract section 30). */
import type { Frame } from '../../../actors/reply/reply-event.ts'
import { pendingBelow } from '../../../features/approvals/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import type { Outline } from '../../streaming/reply-outline.ts'
import type { EncodeBatch } from '../../streaming/reply-stream.ts'

/** The encoder of a front end: frames go to its outline, between `begin` and `text`. */
export interface FrontEndEncoder {
  outline: Outline
  begin(): void
  text(): string
}

/** Encodes frames of a reply that waits for no session below. */
export function encodeFrames({ outline, begin, text }: FrontEndEncoder, frames: readonly Frame[]): string {
  begin()
  for (const frame of frames) outline.take(frame, [])
  return text()
}

/** Returns the encoding of batches. What sessions below ask is read where the reply ends to wait for them. */
export function knowingBelow(sql: Sql, replyId: string, { outline, begin, text }: FrontEndEncoder): EncodeBatch {
  /** Takes frames from the n-th on. Null when nothing had to be read between them. */
  function take(frames: readonly Frame[], n: number): Promise<void> | null {
    for (const [index, frame] of frames.slice(n).entries()) {
      if (outline.take(frame)) continue
      return pendingBelow(sql, replyId).then(async (below) => {
        outline.take(frame, below)
        await take(frames, n + index + 1)
      })
    }
    return null
  }
  return (frames) => {
    begin()
    const reading = take(frames, 0)
    return reading === null ? text() : reading.then(text)
  }
}
