/** A draft's fields that are typed in this window: they are stored before a message asks for the draft. */
import { type Agent, allAgents } from '../agents/resource.ts'
import { queryClient } from '../query-client.ts'

const writes = new Map<string, () => Promise<void>>()

/** Has `write` called before a message is sent. Returns the function that ends this. */
export function writeBeforeSending(agentId: string, write: () => Promise<void>): () => void {
  writes.set(agentId, write)
  return () => {
    if (writes.get(agentId) === write) writes.delete(agentId)
  }
}

/** Stores what is typed, then returns the part of a playground's request that asks for the draft, where there is one. */
export async function askedVersion(agentId: string): Promise<{ agentVersion?: 'draft' }> {
  await writes.get(agentId)?.()
  const agent = queryClient.getQueryData<Agent[]>(allAgents.queryKey)?.find(({ id }) => id === agentId)
  return agent?.hasDraft === true ? { agentVersion: 'draft' } : {}
}
