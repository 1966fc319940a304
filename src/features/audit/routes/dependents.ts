/** Records that name one that is deleted: they change with it, and have entries of their own (contract section 23). */
import type { Tx } from '../../../persistence/postgres/database.ts'
import { lockAgent } from '../../../persistence/records/agents.ts'
import { findAgentTools, lockAgentsWith } from '../../../persistence/records/tools/agent-tools.ts'
import { findKey, lockKeysOf } from '../../keys/store/keys.ts'
import { findWebhook, lockWebhooksOf } from '../../webhooks/store/webhooks.ts'
import type { AuditedChange } from '../store/audit.ts'
import { changesBetween } from './changes.ts'

export interface Dependent {
  kind: string
  id: string
  name: string
  before: object
  read(): Promise<object | null>
}

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

/** Returns the keys and webhooks of this agent as they are when changed. They are locked after the agent itself. */
export async function recordsNaming(tx: Tx, agentId: string): Promise<Dependent[]> {
  await lockAgent(tx, agentId)
  const of = (kind: string, find: typeof findKey | typeof findWebhook, records: { id: string; name: string }[]) =>
    records.map((before) => ({ kind, id: before.id, name: before.name, before, read: () => find(tx, before.id) }))
  return [
    ...of('key', findKey, await lockKeysOf(tx, agentId)),
    ...of('webhook', findWebhook, await lockWebhooksOf(tx, agentId)),
  ]
}

/** Returns the audited changes of dependents. Call it after the deletion. */
export async function changesOf(dependents: readonly Dependent[]): Promise<AuditedChange[]> {
  const found: AuditedChange[] = []
  for (const { kind, id, name, before, read } of dependents) {
    const changes = changesBetween(before, await read())
    if (Object.keys(changes).length > 0) found.push({ action: 'update', kind, recordId: id, recordName: name, changes })
  }
  return found
}
