/** The stored replies as coordination needs them. Persistence implements this port, compose/ passes it in. */
import type { Intent, LostReply, OwnedRow } from '../actors/ports/index.ts'

/** An intent, as `removeIntents` takes it. */
export type StoredIntent = Intent & { id: string }

export interface StoredReplies {
  /** Reads the replies that stream under an instance and epoch. */
  streaming(owner: { id: string; epoch: number }): Promise<OwnedRow[]>
  /**
   * Ends replies whose owner no longer holds the epoch of their admission; resolves to the ones that it ended, which
   * are not all where the database fails meanwhile. Rejects where it could end none. Calls `onLost` before, if there
   * are any: those that do not end can be taken over from then on.
   */
  settleLost(instanceId: string, onLost: () => void): Promise<LostReply[]>
  /** Reads the requests of other instances to this one, oldest first. */
  intents(instanceId: string): Promise<StoredIntent[]>
  /**
   * Removes intents that were applied. The cancel of a reply that still runs stays, and is read again: it holds for the
   * next owner, too.
   */
  removeIntents(intents: readonly StoredIntent[]): Promise<void>
  /** Returns the ids of those agents that are deleted. */
  missingAgents(agentIds: readonly string[]): Promise<string[]>
}
