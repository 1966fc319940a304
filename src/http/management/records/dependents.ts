/** Finds the records that name one that is deleted: they change with it (contract section 23). */
import type { Dependent } from '../../../features/audit/index.ts'
import { findKey, lockKeysOf } from '../../../features/keys/index.ts'
import { findWebhook, lockWebhooksOf } from '../../../features/webhooks/index.ts'
import type { Tx } from '../../../persistence/postgres/database.ts'
import { lockAgent } from '../../../persistence/records/agents.ts'
import { findAgentTools, lockAgentsWith } from '../../../persistence/records/tools/agent-tools.ts'

/** Returns the choices of agents that have this tool, locked. */
export async function choicesWith(tx: Tx, toolId: string): Promise<Dependent[]> {
  const agents = await lockAgentsWith(tx, toolId)
  return agents.map(({ id, name, choice }) => ({
    kind: 'agentTools',
    id,
    name,
    before: choice,
    read: () => findAgentTools(tx, id),
  }))
}

/** Returns keys and webhooks of this agent, locked behind the agent itself, in the order in which a change locks them. */
export async function recordsNaming(tx: Tx, agentId: string): Promise<Dependent[]> {
  await lockAgent(tx, agentId)
  const of = (kind: string, find: typeof findKey | typeof findWebhook, records: { id: string; name: string }[]) =>
    records.map((before) => ({ kind, id: before.id, name: before.name, before, read: () => find(tx, before.id) }))
  return [
    ...of('key', findKey, await lockKeysOf(tx, agentId)),
    ...of('webhook', findWebhook, await lockWebhooksOf(tx, agentId)),
  ]
}
