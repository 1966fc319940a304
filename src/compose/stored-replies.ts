/** Implements coordination's port for stored replies on top of persistence. */
import type { StoredReplies } from '../coordination/stored-replies.ts'
import type { Sql } from '../persistence/postgres/database.ts'
import { missingAgents } from '../persistence/records/agents.ts'
import { readIntents, removeIntents } from '../persistence/replies/settling/intents.ts'
import { settleLost } from '../persistence/replies/settling/lost-owners.ts'
import { streamingReplies } from '../persistence/replies/settling/orphans.ts'

/**
 * Returns the stored replies for coordination. `withinS`: CONTINUE_WITHIN_S. `deriveTitle`: for a session whose first
 * reply was lost; null when none can be derived.
 */
export const storedReplies = (
  sql: Sql,
  deriveTitle: (text: string) => string | null,
  log: { warn(details: object, message: string): void },
  withinS: number,
): StoredReplies => ({
  streaming: (owner) => streamingReplies(sql, owner, withinS),
  settleLost: (instanceId, onLost) =>
    settleLost(sql, {
      instanceId,
      onLost,
      withinS,
      deriveTitle,
      onFault: (fault) => log.warn(fault, 'A lost reply cannot be settled.'),
      onUnmoved: (err) => log.warn({ err }, 'Flushes of a lost instance could not be moved.'),
    }),
  intents: (instanceId) => readIntents(sql, instanceId),
  removeIntents: (intents) => removeIntents(sql, intents),
  missingAgents: (agentIds) => missingAgents(sql, agentIds),
})
