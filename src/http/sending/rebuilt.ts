/**
 * Builds what a stored request asked for, from its agent as it is now: a message that has waited, a reply that was
 * taken over.
 */
import type { AnswerFields } from '../../actors/ports/index.ts'
import type { ReplyError } from '../../actors/reply/reply-event.ts'
import type { MessageRecord, ReplySetup } from '../../actors/session/host.ts'
import { agentOfVersion, begunFacts } from '../../features/versions/index.ts'
import type { AgentForCompletion } from '../../persistence/records/agent-lookup.ts'
import { HttpError } from '../server/http-error.ts'
import { agentRequest, agentToolbox } from './agent-for-reply.ts'
import type { MessageInput } from './message-input.ts'
import { type RecordDependencies, recordFrom, unanswerable } from './message-record.ts'
import { type Overrides, stillOverridden } from './overrides.ts'

/** An input with its overrides as they were stored. */
type StoredInput = Omit<MessageInput, 'overrides'> & { overrides: object | null }

interface RebuiltMessage {
  record: MessageRecord
  /** The reason why the message cannot be answered any more. Null when it can. */
  refusal: ReplyError | null
}

/**
 * Builds a stored message. Null when the agent is gone. `fault` says why the message is refused whatever its agent is; null
 * when nothing is known. Rejects while the database is away.
 */
export async function rebuiltMessage(
  deps: RecordDependencies,
  agentId: string,
  stored: StoredInput,
  mediaTypes: readonly string[],
  fault: string | null,
): Promise<RebuiltMessage | null> {
  const live = await deps.agents.find(agentId)
  if (live === null) return null
  const input: MessageInput = { ...stored, overrides: stored.overrides as Overrides | null }
  let agent = live
  try {
    agent = await asBegun(deps, live, stored.begunAs ?? null)
    if (fault !== null) throw new HttpError(400, fault)
    return { record: await recordFrom(deps, agent, input, mediaTypes), refusal: null }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    return { record: unanswerable(deps, agent, input), refusal: ofProvider(error.message) }
  }
}

const ofProvider = (detail: string): ReplyError => ({ code: 'provider_error', message: detail, detail })

type RebuiltBasis = Pick<ReplySetup, 'agentName' | 'openToolbox'> & {
  expiresAfterS: number | null
  request: Omit<ReplySetup['request'], 'reasoning'>
}

/** Returns the agent in the version with which a reply began. Null: not known, the live one. */
const asBegun = async (deps: RecordDependencies, live: AgentForCompletion, version: number | 'draft' | null) =>
  version === null ? live : await agentOfVersion(deps, live, { version, field: 'agent_version' })

/** Builds what a reply goes on with. Throws 400 where the agent's provider does not take it any more. */
export async function rebuiltBasis(
  deps: RecordDependencies,
  agentId: string,
  { fields, overrides }: { fields: AnswerFields; overrides: object | null },
  mediaTypes: readonly string[],
  replyId: string,
): Promise<RebuiltBasis> {
  const own = await deps.agents.read(agentId)
  if (own === null) throw new Error('The agent is gone.')
  const { version, depth } = await begunFacts(deps.sql, replyId)
  const begun = await asBegun(deps, own, version)
  const agent = await stillOverridden(deps, begun, overrides)
  return {
    agentName: agent.name,
    expiresAfterS: agent.tools.approvalsExpireAfterS,
    request: agentRequest(deps, agent, fields, mediaTypes),
    openToolbox: agentToolbox(deps, agent, depth),
  }
}
