/** An instance's coordination without the work that it calls for. */
import type { ActorReports, Duties } from '../../src/coordination/coordination.ts'

export const noDuties: Duties = { tick() {}, takeOver: async () => {} }

export const noReports: ActorReports = { answer: async () => {}, collect: async () => [] }
