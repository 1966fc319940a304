import type { TransitionRecorder } from '../../src/actors/ports/index.ts'

/** A recorder that records nothing. */
export const noRecorder: TransitionRecorder = {
  record() {},
  settle: (_, settle) => settle(),
  flush: async () => {},
}
