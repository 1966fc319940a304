/** What this room needs of the stored replies: persistence implements it, compose/ hands it in. */
import type { Intent, ReplyInfo } from '../actors/ports.ts'

/** An intent that is removed by its id once it was obeyed. */
export type StoredIntent = Intent & { id: string }

/** What rows know of a reply whose owner was lost. */
export interface LostReply {
  replyId: string
  sessionId: string
  agentId: string | null
  providerId: string | null
  model: string | null
  /** The owner. */
  instanceId: string
  /** Since its admission (milliseconds, by the database's clock). */
  ms: number
}

export interface StoredReplies {
  /** Those that stream under an instance and this epoch of it. */
  streaming(owner: { id: string; epoch: number }): Promise<ReplyInfo[]>
  /** Ends those whose owner no longer holds the epoch they were admitted under; resolves to the ones that it ended. */
  settleLost(instanceId: string): Promise<LostReply[]>
  /** What others ask of the instance, oldest first. */
  intents(instanceId: string): Promise<StoredIntent[]>
  removeIntents(intents: readonly StoredIntent[]): Promise<void>
  /** Which of these agents are deleted. */
  missingAgents(agentIds: readonly string[]): Promise<string[]>
}
