/** Summaries of a session's path (contract section 19), made now and listed, on both of its paths. */

import type { FastifyRequest } from 'fastify'
import type { Conversation } from '../../../actors/history/conversation.ts'
import { newId } from '../../../actors/reply/new-id.ts'
import { agentRequest, agentToolbox } from '../../../http/sending/agent-for-reply.ts'
import { agentOfSession } from '../../../http/sending/agent-of-session.ts'
import { noRetry, refuse, refuseBusy } from '../../../http/sending/refusals.ts'
import type { SendDependencies } from '../../../http/sending/send-message.ts'
import { badRequest, HttpError, missing } from '../../../http/server/http-error.ts'
import { originOf } from '../../../http/server/observe-requests.ts'
import type { AgentForCompletion } from '../../../persistence/records/agent-lookup.ts'
import { type ReplyValues, valuesWithoutSession } from '../../../templates/placeholders.ts'
import { type CallerLimits, inItsPlaces, type LimitDependencies, limitStateless } from '../../limits/index.ts'
import { findSession } from '../../sessions/index.ts'
import type { SummaryOrder, Summed } from '../compact-session.ts'
import type { Made } from '../compaction.ts'
import { countedMetadata, listCheckpoints, type StoredCheckpoint } from '../store/checkpoints.ts'

interface Place {
  agent_id: string
  session_id: string
}

export interface CompactionDependencies extends SendDependencies, LimitDependencies {}

/**
 * Throws 400 where there is nothing to summarise, 404, 409 while the session is held or waits, 429 over a limit, 500 and 503.
 * `counted`: null where no limit counts it. `appended`: the text that follows the agent's prompt.
 */
export async function compactNow(
  deps: CompactionDependencies,
  { agent_id, session_id }: Place,
  request: FastifyRequest,
  counted: CallerLimits | null,
  appended: string | null = null,
): Promise<StoredCheckpoint> {
  const { sql, compactions } = deps
  const agent = await agentOfSession(deps, { agent_id, session_id })
  const session = (await findSession(sql, agent.id, session_id)) ?? missing('session')
  const { id: sessionId, user } = session
  const metadata = await countedMetadata(sql, sessionId)
  const id = newId()
  const values = { user, metadata, sessionId, at: new Date().toISOString() }
  const order = orderOf(deps, agent, { id, values, appended, request, counted })
  const compacted = await compactions.compact({ ...order, sessionId })
  switch (compacted.outcome) {
    case 'compacted': {
      const [checkpoint] = await listCheckpoints(sql, sessionId, compacted.id)
      return checkpoint ?? missing('session')
    }
    case 'deleted':
      return missing('session')
    case 'busy':
      return refuseBusy(await findSession(sql, agent.id, sessionId))
    default:
      return refuseSummary(compacted)
  }
}

/** A conversation that is stored nowhere, and whose it is. */
export interface GivenToSummarise {
  id: string
  conversation: Conversation
  user: string | null
  request: FastifyRequest
  /** The media types of its parts. */
  mediaTypes: readonly string[]
  counted: CallerLimits | null
  appended: string | null
}

/** Has a conversation summarised, and stores nothing. Throws 400 where there is nothing to summarise, 429, 500 and 503. */
export async function summariseNow(
  deps: CompactionDependencies,
  agent: AgentForCompletion,
  { conversation, mediaTypes, ...asked }: GivenToSummarise,
): Promise<Made> {
  const values = { ...valuesWithoutSession(), user: asked.user }
  const order = orderOf(deps, agent, { ...asked, values, mediaTypes })
  const summed = await deps.compactions.summarise({ ...order, sessionId: null }, conversation)
  return summed.outcome === 'summarised' ? summed.made : refuseSummary(summed)
}

interface Asked {
  id: string
  values: ReplyValues
  appended: string | null
  request: FastifyRequest
  counted: CallerLimits | null
  mediaTypes?: readonly string[]
}

function orderOf(
  deps: CompactionDependencies,
  agent: AgentForCompletion,
  { id, values, appended, request, counted, mediaTypes = [] }: Asked,
): Omit<SummaryOrder, 'sessionId'> {
  const limited = counted && limitStateless(deps, { id, agent, user: values.user, counted })
  return {
    id,
    countsFor: limited?.countsFor,
    inPlaces: async (begin, work) => {
      if (limited === null) return await work(begin())
      const made = await inItsPlaces(limited, begin, work)
      await limited.counted()
      return made
    },
    agentId: agent.id,
    agentName: agent.name,
    // Neither the agent's format nor its other fields: a summary is text.
    request: { ...agentRequest(deps, { ...agent, responseFormat: null }, {}, mediaTypes), reasoning: false },
    values,
    appended,
    openToolbox: agentToolbox(deps, agent),
    origin: originOf(request),
  }
}

function refuseSummary(summed: Exclude<Summed, { outcome: 'summarised' }>): never {
  switch (summed.outcome) {
    case 'failed':
      throw new HttpError(500, summed.message, noRetry)
    case 'nothing':
      return badRequest('There is nothing to summarise.')
    default:
      return refuse(summed.outcome)
  }
}

/** Throws 404. */
export async function checkpointsOf(
  { sql }: Pick<SendDependencies, 'sql'>,
  { agent_id, session_id }: Place,
): Promise<StoredCheckpoint[]> {
  const session = (await findSession(sql, agent_id, session_id)) ?? missing('session')
  return await listCheckpoints(sql, session.id)
}
