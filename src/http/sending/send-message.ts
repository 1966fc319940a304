/**
 * Sends a caller's message to its session, with its agent as it is now. Every surface that continues sessions sends
 * through here, the playground too (contract section 4).
 */
import type { HostSent, Pinned, Sent, SessionHost } from '../../actors/session/host.ts'
import type { SessionMakingDependencies } from '../../features/branches/index.ts'
import type { Compactions } from '../../features/compaction/index.ts'
import { type CallerLimits, refuseOver } from '../../features/limits/index.ts'
import type { PartDependencies, PreparedParts } from '../../features/parts/index.ts'
import type { Queue } from '../../features/queue/index.ts'
import { agentOfVersion, pinOf } from '../../features/versions/index.ts'
import type { AgentForCompletion } from '../../persistence/records/agent-lookup.ts'
import { HttpError, missing } from '../server/http-error.ts'
import { type AgentDependencies, loadAgent } from './agent-for-reply.ts'
import { askedOf, type MessageInput } from './message-input.ts'
import { hashOfDecisions, joinOnly, recordFrom } from './message-record.ts'
import type { OverrideDependencies } from './overrides.ts'

export interface SendDependencies
  extends AgentDependencies,
    PartDependencies,
    SessionMakingDependencies,
    Pick<OverrideDependencies, 'builtInTools'> {
  host: SessionHost
  queue: Pick<Queue, 'dequeue' | 'queued'>
  compactions: Compactions
}

/**
 * Sends from the agent as it was last seen, which spares a look at it: the admission itself says when the configuration
 * is another one by now. Throws 404 for an unknown agent, 400 for fields and parts that its provider does not take, and
 * what decisions and overrides that do not fit are refused with, 429 over a limit.
 */
export async function sendFrom(
  deps: SendDependencies,
  agentId: string,
  input: MessageInput,
  parts?: PreparedParts,
): Promise<Sent> {
  return await releasePartsAfter(parts, () => sendWithFreshAgent(deps, agentId, input, parts))
}

/** Releases parts after the work. Parts are held until the message is stored, or never will be. */
export async function releasePartsAfter(parts: PreparedParts | undefined, send: () => Promise<Sent>): Promise<Sent> {
  let isUnknown = false
  try {
    const sent = await send()
    isUnknown = sent.outcome === 'unknown'
    return sent
  } finally {
    if (!isUnknown) parts?.over()
  }
}

/** Pins that may be changed while a message is sent; then it is as one whose agent changes all the time. */
const MOST_PINS = 3

/** Sends like `sendFrom`, for callers that hold parts (`releasePartsAfter`). */
export async function sendWithFreshAgent(
  deps: SendDependencies,
  agentId: string,
  input: MessageInput,
  parts: PreparedParts | undefined,
): Promise<Sent> {
  let pin: number | null = null
  for (let n = 0; n < MOST_PINS; n += 1) {
    const sent: Sent | Pinned = await sendPinned(deps, agentId, { ...input, pin }, parts).catch(
      async (error: unknown) => {
        if (askedOf(input) !== null || !(error instanceof HttpError) || !mayRepeat.includes(error.status)) throw error
        // A request that the agent does not take as it is, it may take as the session's version has it.
        const now = await pinOf(deps.sql, agentId, input.sessionId)
        if (now === pin) throw error
        return { outcome: 'pinned' as const, pin: now }
      },
    )
    if (sent.outcome !== 'pinned') return sent
    pin = sent.pin
  }
  return { outcome: 'stale' }
}

/** Sends from the agent as the session's pin has it, or as the request asks for it. */
async function sendPinned(
  deps: SendDependencies,
  agentId: string,
  input: MessageInput,
  parts: PreparedParts | undefined,
): Promise<Sent | Pinned> {
  const remembered = deps.agents.remembered(agentId)
  const first = remembered ?? (await loadAgent(deps, agentId))
  const sent = await sendTo(deps, first, input, parts).catch(async (error: unknown) => {
    if (remembered === null || !(error instanceof HttpError)) throw error
    // What the agent does not take as it was last seen, it may take by now.
    const current = await loadAgent(deps, agentId)
    if (current === remembered) throw error
    return await sendTo(deps, current, input, parts)
  })
  if (sent.outcome !== 'stale' && sent.outcome !== 'not_found') return sent
  // The agent as it is since the request has come: that is as new as its reply has to be. Compared once more, it could be
  // refused for as long as anything is changed: three clients that wrote an unrelated prompt made 39 of 150 messages 503.
  const agent = (await deps.agents.read(agentId)) ?? missing('agent')
  return sent.outcome === 'stale' ? await sendTo(deps, { ...agent, configuration: null }, input, parts) : sent
}

/** Statuses of requests that cannot start a reply, and yet may repeat one that did. */
const mayRepeat = [400, 403, 409]

/** Returns the agent as the version has it that the request asks for, or the session's. Throws 400 and 409. */
async function versioned(
  deps: SendDependencies,
  live: AgentForCompletion,
  input: MessageInput,
): Promise<AgentForCompletion> {
  const version = askedOf(input) ?? input.pin ?? null
  return version === null
    ? live
    : await agentOfVersion(deps, live, { version, field: input.asked?.field ?? 'agent_version' })
}

async function sendTo(
  deps: SendDependencies,
  live: AgentForCompletion,
  input: MessageInput,
  parts: PreparedParts | undefined,
): Promise<Sent | Pinned> {
  let agent = live
  try {
    agent = await versioned(deps, live, input)
    const record = await recordFrom(deps, agent, input, parts?.mediaTypes)
    return toldOf(await deps.host.send(record, parts), input.counted)
  } catch (error) {
    const { decisions, isRetry, idempotency } = input
    const mayJoin = isRetry || idempotency !== null
    if (!(error instanceof HttpError) || !mayRepeat.includes(error.status) || !mayJoin) throw error
    // The reply that it repeats may run already: the agent took these fields then, or the decisions were in time.
    const decided = decisions && {
      waitId: null,
      calls: decisions.calls,
      inPart: decisions.inPart,
      hash: hashOfDecisions(decisions),
    }
    const sent = await deps.host.send(joinOnly(deps, agent, input, decided), parts)
    if (sent.outcome === 'joined' || sent.outcome === 'decided_in_part' || (decisions && sent.outcome === 'key_reused'))
      return sent
    throw error
  }
}

/** Throws 429. */
function toldOf(sent: HostSent, counted: CallerLimits | undefined): Sent | Pinned {
  if (sent.outcome === 'limited') return refuseOver(sent)
  if ((sent.outcome === 'started' || sent.outcome === 'queued') && sent.rate) counted?.tell(sent.rate)
  return sent
}
