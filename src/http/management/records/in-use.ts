/** Why a provider or prompt cannot be deleted. */

import { violatedConstraint } from '../../../persistence/postgres/constraint.ts'
import type { AnySql } from '../../../persistence/postgres/database.ts'
import { agentsUsing } from '../../../persistence/records/agents.ts'
import { conflict } from '../../server/http-error.ts'

// Enough to act on; the rest is counted.
const namedAgents = 5

const referring = {
  provider: ['agents_provider', 'agent_fallbacks_provider', 'agent_draft_providers_provider'],
  prompt: ['agents_prompt', 'agent_drafts_prompt'],
}

/** Runs a deletion; 409 naming the agents when they use the record, however late they began to. */
export async function deleteUnlessInUse(
  sql: AnySql,
  kind: keyof typeof referring,
  id: string,
  remove: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await remove()
  } catch (error) {
    if (!referring[kind].includes(violatedConstraint(error) ?? '')) throw error
    const { names, total } = await agentsUsing(sql, kind, id, namedAgents)
    const quoted = names.map((name) => `"${name}"`).join(', ')
    const rest = total > names.length ? ` and ${total - names.length} more` : ''
    // The agents may have gone while we asked for their names.
    return conflict(`The ${kind} is used by ${total === 0 ? 'an agent' : `the agents ${quoted}${rest}`}.`)
  }
}
