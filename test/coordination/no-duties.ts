/** An instance's coordination without the work that it calls for. */
import type { Duties } from '../../src/coordination/coordination.ts'

export const noDuties: Duties = { tick() {}, takeOver: async () => {}, answer: async () => {} }
