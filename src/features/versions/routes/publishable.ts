/** A version as it can be published again: with the records that are there now. */
import { conflict } from '../../../http/server/http-error.ts'
import type { Tx } from '../../../persistence/postgres/database.ts'
import { findPrompt } from '../../../persistence/records/prompts.ts'
import { type Snapshot, type WholeSnapshot, withoutGoneTools } from '../store/snapshot.ts'

/** Returns what the agent is to be. Throws 409 where a provider is gone. */
export async function publishable(tx: Tx, held: WholeSnapshot, number: number): Promise<Snapshot> {
  await requireProviders(tx, held, number)
  const { agent, prompt, ...rest } = await withoutGoneTools(tx, held)
  const stored = agent.promptId === null ? null : await findPrompt(tx, agent.promptId)
  // No prompt, and no other agent, is changed by it.
  const isOwn = agent.promptId !== null && stored?.content !== prompt
  return { ...rest, agent: isOwn ? { ...agent, promptId: null, systemPrompt: prompt } : agent }
}

async function requireProviders(tx: Tx, { agent, names }: WholeSnapshot, number: number): Promise<void> {
  const ids = [agent.providerId, ...agent.fallbacks.map(({ providerId }) => providerId)]
  const rows = await tx<{ id: string }[]>`
    select id from providers where id = any (${ids}::uuid[]) order by id for key share`
  const gone = ids.find((id) => !rows.some((row) => row.id === id))
  if (gone === undefined) return
  conflict(`The provider ${JSON.stringify(names.providers[gone] ?? gone)} of version ${number} is gone.`)
}
