/** The forms in which a user's export has sessions and messages: those of the deploy API, with outputs of calls. */
import { shownDecisions } from '../../../features/approvals/index.ts'
import type { Message } from '../../../features/sessions/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { wireMessage } from '../chat/messages.ts'
import { wireSession } from '../chat/sessions.ts'
import { exportedOutputs } from '../responses/output/exported-outputs.ts'

export const exportedForms = (sql: Sql) => ({
  session: wireSession,
  message: wireMessage,
  outputs: (message: Message) => exportedOutputs(sql, message),
  decisions: shownDecisions(sql),
})
