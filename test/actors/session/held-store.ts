/** A recorder on a store whose writes the test answers, and steps for it. */
import { vi } from 'vitest'
import type { TransitionRecord } from '../../../src/actors/ports/index.ts'
import { createTransitionRecorder } from '../../../src/features/traces/transitions.ts'
import { turn } from '../turn.ts'

export const step = (event: string): TransitionRecord => ({
  sessionId: 's',
  at: new Date(),
  from: 'a',
  to: 'b',
  event,
  messageId: null,
  detail: {},
})

/** The time in which steps gather. */
export const gathered = async () => {
  await vi.advanceTimersByTimeAsync(100)
  await turn()
}

/** A store whose writes the test answers. */
export function heldStore() {
  const batches: string[][] = []
  const waiting: PromiseWithResolvers<void>[] = []
  const errors: unknown[] = []
  const record = (batch: readonly TransitionRecord[]) => {
    batches.push(batch.map(({ event }) => event))
    const answer = Promise.withResolvers<void>()
    waiting.push(answer)
    return answer.promise
  }
  const recorder = createTransitionRecorder({ record }, (error) => errors.push(error))
  return { batches, waiting, errors, recorder }
}

/** A step with what its model was sent, of so many MiB. */
export const sending = (event: string, mebibytes: number): TransitionRecord => ({
  ...step(event),
  request: {
    turn: 1,
    at: new Date(),
    providerId: 'p',
    model: 'm',
    body: '{}',
    historyFrom: null,
    left: null,
    texts: [{ hash: event, content: 'x'.repeat(mebibytes * 2 ** 20) }],
  },
})
