/** The recorder of steps, as the core needs it. Types only: features/traces implements it. */

import type { Settled } from './journal.ts'
import type { TransitionRecord } from './steps.ts'

export interface TransitionRecorder {
  record(step: TransitionRecord): void
  /**
   * Settles a reply by `settle`, which gets the steps of the reply that are not stored yet, to store them along: one
   * statement and one row less. `last` ends the reply, and is the last of them. Without steps, `last` is still to be recorded.
   */
  settle(
    last: TransitionRecord & { messageId: string },
    settle: (steps?: readonly TransitionRecord[]) => Promise<Settled>,
  ): Promise<Settled>
  /** Resolves when everything recorded so far is stored, or the database is away. */
  flush(): Promise<void>
}
