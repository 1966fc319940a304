/** The columns that capabilities contribute to what is stored of a message and of its reply. */
import { admittedDecisions, settledWait } from '../features/approvals/store/stored-decisions.ts'
import { admittedSession } from '../features/branches/store/given-messages.ts'
import { admittedLimits } from '../features/limits/store/limits.ts'
import { admittedParts } from '../features/parts/store/parts.ts'
import { admittedInput } from '../features/queue/store/stored-input.ts'
import { settledSteps } from '../features/traces/store/step-runs.ts'
import type { Contributions } from '../persistence/replies/contributions.ts'

export const contributions: Contributions = {
  admission: {
    queue: admittedInput,
    limits: admittedLimits,
    parts: admittedParts,
    approval: admittedDecisions,
    session: (session) => admittedSession(session, admittedParts),
  },
  settlement: { waiting: settledWait, steps: settledSteps },
}
