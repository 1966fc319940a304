/** A stream of a chaos run, read to any kind of end. */
import { createParser } from 'eventsource-parser'
import { readFrame, type SessionSeen } from '../chaos-witness.ts'
import type { Crowd } from './chaos-requests.ts'

export interface Reading {
  /** Resolves with the first text, or at the end. */
  hasText: Promise<void>
  /** Resolves at the end, to whether its last frame came; rejects when the reader gave up. */
  isWhole: Promise<boolean>
}

/** Its frames go to the witness, like everything that clients see. */
export function readToEnd({ witness }: Crowd, session: SessionSeen, answer: Response): Reading {
  const watch = witness.watch(session, 0)
  const { promise: hasText, resolve } = Promise.withResolvers<void>()
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      watch.take({ id, event, data })
      if (readFrame(data).kind === 'text') resolve()
    },
  })
  const read = async (): Promise<boolean> => {
    const decoder = new TextDecoder()
    try {
      for await (const piece of answer.body ?? []) parser.feed(decoder.decode(piece, { stream: true }))
      watch.ended()
    } catch (error) {
      if (error instanceof Error && error.name === 'AbortError') throw error
    } finally {
      resolve()
    }
    return watch.isOver
  }
  const isWhole = read()
  isWhole.catch(() => {}) // reported to the code that awaits its end
  return { hasText, isWhole }
}
