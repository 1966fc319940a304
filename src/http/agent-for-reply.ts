/** The agent that a request is for: found, with what its model is asked and the tools it may call. */
import type { AnswerFields, ModelRequest, OpenToolbox, Toolbox } from '../actors/ports.ts'
import type { Sql } from '../persistence/postgres/database.ts'
import type { AgentForCompletion, AgentLookup } from '../persistence/records/agent-lookup.ts'
import * as stored from '../persistence/records/agent-request.ts'
import type { ToolChoice } from '../persistence/records/agent-tools.ts'
import type { Secrets } from '../persistence/records/secrets.ts'
import { noFields } from './answer-fields.ts'
import { badRequest, HttpError, missing } from './http-error.ts'
import { noRetry } from './refusals.ts'

export interface AgentRooms {
  sql: Sql
  secrets: Secrets
  agents: AgentLookup
  /** The chosen tools, as far as they answer. */
  openToolbox(choice: ToolChoice, signal: AbortSignal): Promise<Toolbox>
  fieldRefusal: FieldRefusal
}

/** Why a model cannot be asked for these fields, beginning with the field's name. Null: it can. */
export type FieldRefusal = (
  target: { provider: { type: string }; model: string },
  fields: AnswerFields,
) => string | null

/** Throws 404 for an unknown agent. */
export async function loadAgent({ agents }: Pick<AgentRooms, 'agents'>, agentId: string): Promise<AgentForCompletion> {
  return (await agents.find(agentId)) ?? missing('agent')
}

/**
 * The request without what depends on who asks. Throws 400 for fields that the agent's provider does not take, 500 when the
 * provider's key cannot be opened.
 */
export function agentRequest(
  { secrets, fieldRefusal }: Pick<AgentRooms, 'secrets' | 'fieldRefusal'>,
  agent: AgentForCompletion,
  fields?: AnswerFields,
): Omit<ModelRequest, 'messages' | 'tools' | 'reasoning'> {
  try {
    const request = stored.agentRequest(secrets, agent, fields)
    const refusal = fieldRefusal(request, request.fields ?? noFields)
    return refusal === null ? request : badRequest(refusal)
  } catch (error) {
    if (error instanceof stored.UnreadableKey) throw new HttpError(500, error.message, noRetry)
    throw error
  }
}

/** The agent's tools, found and connected once its reply begins. */
export const agentToolbox =
  ({ openToolbox }: AgentRooms, { tools }: AgentForCompletion): OpenToolbox =>
  (signal) =>
    openToolbox(tools, signal)
