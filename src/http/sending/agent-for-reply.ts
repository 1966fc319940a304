/** The agent that a request is for: found, with what its model is asked and the tools it may call. */

import type { Actions } from '../../actors/generate/waiting-calls.ts'
import type {
  AnswerFields,
  CheckedToolbox,
  ModelRequest,
  OpenToolboxFor,
  ProviderConnection,
} from '../../actors/ports/index.ts'
import type { Sql } from '../../persistence/postgres/database.ts'
import type { Secrets } from '../../persistence/records/access/secrets.ts'
import type { AgentForCompletion, AgentLookup } from '../../persistence/records/agent-lookup.ts'
import * as stored from '../../persistence/records/agent-lookup.ts'
import type { ToolsOfAgent } from '../../persistence/records/tools/approvals.ts'
import { choosesRecords } from '../../persistence/records/tools/tool-kinds.ts'
import type { ReplyValues } from '../../templates/placeholders.ts'
import { badRequest, HttpError, missing } from '../server/http-error.ts'
import { noRetry } from './refusals.ts'
import { type CallerTools, noTools, refuseTaken } from './request/caller-tools.ts'

export interface AgentDependencies {
  sql: Sql
  secrets: Secrets
  agents: AgentLookup
  /** The chosen tools, as far as they answer. `values`: for their calls; absent when none is made. */
  openToolbox(choice: ToolsOfAgent, signal: AbortSignal, values?: ReplyValues): Promise<CheckedToolbox>
  fieldRefusal: FieldRefusal
  partRefusal: PartRefusal
}

/** Why a model cannot be asked for these fields, beginning with the field's name. Null when it can. */
export type FieldRefusal = (
  target: { provider: Pick<ProviderConnection, 'type' | 'wireApi'>; model: string },
  fields: AnswerFields,
) => string | null

/** Why a model cannot be asked about what has these media types. Null when it can. */
export type PartRefusal = (
  target: { provider: { type: string }; model: string },
  mediaTypes: readonly string[],
) => string | null

/** Throws 404 for an unknown agent. */
export async function loadAgent(
  { agents }: Pick<AgentDependencies, 'agents'>,
  agentId: string,
): Promise<AgentForCompletion> {
  return (await agents.find(agentId)) ?? missing('agent')
}

/**
 * The request without what depends on the caller. Throws 400 for fields, pictures and files that the agent's provider does
 * not take, 500 when the provider's key cannot be opened.
 */
export function agentRequest(
  { secrets, fieldRefusal, partRefusal }: Pick<AgentDependencies, 'secrets' | 'fieldRefusal' | 'partRefusal'>,
  agent: AgentForCompletion,
  fields?: AnswerFields,
  mediaTypes: readonly string[] = [],
): Omit<ModelRequest, 'messages' | 'tools' | 'reasoning'> {
  try {
    const request = stored.agentRequest(secrets, agent, fields)
    const refusal = fieldRefusal(request, { ...stored.answerFieldsOf(request.agentFields ?? {}), ...request.fields })
    if (refusal !== null) return badRequest(refusal)
    const unseen = partRefusal(request, mediaTypes)
    if (unseen !== null)
      return badRequest(`messages: the agent ${JSON.stringify(agent.name)} cannot be asked: ${unseen}`)
    return mediaTypes.length === 0 ? request : { ...request, mediaTypes }
  } catch (error) {
    if (error instanceof stored.UnreadableKey) throw new HttpError(500, error.message, noRetry)
    throw error
  }
}

/** The agent's tools, found and connected once its reply begins. */
export const agentToolbox =
  ({ openToolbox }: AgentDependencies, { tools }: AgentForCompletion): OpenToolboxFor =>
  (signal, values) =>
    openToolbox(tools, signal, values)

/** Whether values of the session may stand in what a reply of the agent sends. Most agents need none, and none is read. */
export const usesValues = ({ system, tools }: AgentForCompletion): boolean =>
  (system?.includes('{{') ?? false) || choosesRecords(tools)

/** `canWait`: in a session. A caller that brings tools is shown their calls; `includeActions` shows what waits for an approval too. */
export function agentActions(asked: {
  callerTools?: CallerTools | undefined
  includeActions?: boolean | undefined
  canWait: boolean
}): Omit<Actions, 'continued'> {
  const { callerTools = noTools, includeActions = false, canWait } = asked
  return {
    callerTools: callerTools.tools,
    toolChoice: callerTools.choice,
    canWait,
    shows: { approval: includeActions, caller: includeActions || callerTools.tools.length > 0 },
  }
}

/** Throws 400 for a tool of the caller's that has the name of one of the agent's. Those that answer are asked for theirs. */
export async function refuseTakenNames(
  { openToolbox }: Pick<AgentDependencies, 'openToolbox'>,
  { tools }: AgentForCompletion,
  callerTools: CallerTools,
): Promise<void> {
  if (callerTools.tools.length === 0) return
  const own = await openToolbox(tools, new AbortController().signal)
  refuseTaken(callerTools, new Set(own.tools.map(({ name }) => name)))
}
