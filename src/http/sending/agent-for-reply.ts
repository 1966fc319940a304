/** The agent that a request is for: found, with what its model is asked and the tools it may call. */

import type {
  Actions,
  AgentFields,
  AnswerFields,
  CheckedToolbox,
  GenerationConfig,
  ModelRequest,
  ModelTarget,
  OpenToolboxFor,
  ProviderConnection,
} from '../../actors/ports/index.ts'
import { type CallerTools, type CheckContent, noTools, refuseTaken } from '../../features/approvals/index.ts'
import type { Sql } from '../../persistence/postgres/database.ts'
import type { Secrets } from '../../persistence/records/access/secrets.ts'
import type { AgentForCompletion, AgentLookup } from '../../persistence/records/agent-lookup.ts'
import { keyContext } from '../../persistence/records/providers.ts'
import type { ToolsOfAgent } from '../../persistence/records/tools/tool-approvals.ts'
import { choosesRecords } from '../../persistence/records/tools/tool-kinds.ts'
import type { ReplyValues } from '../../templates/placeholders.ts'
import { badRequest, HttpError, missing } from '../server/http-error.ts'
import { noRetry } from './refusals.ts'

export interface AgentDependencies {
  sql: Sql
  secrets: Secrets
  agents: AgentLookup
  /** Returns the chosen tools, as far as they answer. `values`: for their calls; absent when none is made. */
  openToolbox(choice: ToolsOfAgent, signal: AbortSignal, values?: ReplyValues, depth?: number): Promise<CheckedToolbox>
  checkContent: CheckContent
  fieldRefusal: FieldRefusal
  partRefusal: PartRefusal
}

/** The reason why a model cannot be asked for these fields, beginning with the field's name. Null when it can. */
export type FieldRefusal = (
  target: { provider: Pick<ProviderConnection, 'type' | 'wireApi'>; model: string },
  fields: AnswerFields,
) => string | null

/** The reason why a model cannot be asked about what has these media types. Null when it can. */
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

/** No key of this installation decrypts the provider's stored API key. The message may be shown to callers. */
class UnreadableKey extends Error {
  override readonly name = 'UnreadableKey'
  constructor() {
    super("The provider's stored key cannot be opened: SECRET_KEY is not the one it was stored under.")
  }
}

/** Returns the provider's key in plain text. Throws UnreadableKey. */
function openKey(secrets: Pick<Secrets, 'open'>, { id, apiKey }: AgentForCompletion['provider']): string | null {
  try {
    return apiKey && secrets.open(apiKey, keyContext(id))
  } catch {
    throw new UnreadableKey()
  }
}

/**
 * Opens the fallbacks' keys. A fallback whose key cannot be opened is left out: it must not keep the first provider
 * from answering.
 */
function openFallbacks(secrets: Pick<Secrets, 'open'>, { fallbacks }: AgentForCompletion): ModelTarget[] {
  return fallbacks.flatMap(({ provider, model }) => {
    try {
      return [{ provider: { ...provider, apiKey: openKey(secrets, provider) }, model }]
    } catch (error) {
      if (error instanceof UnreadableKey) return []
      throw error
    }
  })
}

/** Returns what an agent's settings say of the answer itself. */
export const agentFields = ({ reasoningEffort, maxOutputTokens }: GenerationConfig): AgentFields => ({
  ...(maxOutputTokens !== undefined && { maxTokens: maxOutputTokens }),
  ...(reasoningEffort !== undefined && { reasoningEffort }),
})

/** Returns the same fields as requests name them. */
export const answerFieldsOf = ({ maxTokens, reasoningEffort }: AgentFields): AnswerFields => ({
  ...(maxTokens !== undefined && { maxTokens: { name: 'max_tokens' as const, value: maxTokens } }),
  ...(reasoningEffort !== undefined && { reasoningEffort }),
})

/** Returns the same as `agentRequest`, whatever the agent's provider takes. Throws UnreadableKey. */
export const uncheckedRequest = (
  secrets: Pick<Secrets, 'open'>,
  agent: AgentForCompletion,
  fields: AnswerFields = {},
): Omit<ModelRequest, 'messages' | 'tools' | 'reasoning'> => ({
  provider: { ...agent.provider, apiKey: openKey(secrets, agent.provider) },
  model: agent.model,
  system: agent.system,
  config: agent.generationConfig,
  fields: agent.responseFormat ? { responseFormat: agent.responseFormat, ...fields } : fields,
  agentFields: agentFields(agent.generationConfig),
  ...(agent.historyMaxTokens !== null && { historyMaxTokens: agent.historyMaxTokens }),
  ...(agent.compaction === 'auto' && { compacts: true as const }),
  fallbacks: openFallbacks(secrets, agent),
})

/**
 * Returns the request without what depends on the caller. `fields`: the request's own, before the agent's. Throws 400
 * for fields, pictures and files that the agent's provider does not take, 500 when the provider's key cannot be opened.
 */
export function agentRequest(
  { secrets, fieldRefusal, partRefusal }: Pick<AgentDependencies, 'secrets' | 'fieldRefusal' | 'partRefusal'>,
  agent: AgentForCompletion,
  fields?: AnswerFields,
  mediaTypes: readonly string[] = [],
): Omit<ModelRequest, 'messages' | 'tools' | 'reasoning'> {
  try {
    const request = uncheckedRequest(secrets, agent, fields)
    const refusal = fieldRefusal(request, { ...answerFieldsOf(request.agentFields ?? {}), ...request.fields })
    if (refusal !== null) return badRequest(refusal)
    const unseen = partRefusal(request, mediaTypes)
    if (unseen !== null)
      return badRequest(`messages: the agent ${JSON.stringify(agent.name)} cannot be asked: ${unseen}`)
    return mediaTypes.length === 0 ? request : { ...request, mediaTypes }
  } catch (error) {
    if (error instanceof UnreadableKey) throw new HttpError(500, error.message, noRetry)
    throw error
  }
}

/** Returns the agent's tools for a reply that so many MCP calls in a row led to, found and connected once its reply begins. */
export const agentToolbox =
  ({ openToolbox }: AgentDependencies, { tools, onMissingTools }: AgentForCompletion, depth = 0): OpenToolboxFor =>
  async (signal, values) => {
    const toolbox = await openToolbox(tools, signal, values, depth)
    const { missing } = toolbox
    return missing ? { ...toolbox, missing: { ...missing, fails: onMissingTools === 'fail' } } : toolbox
  }

/**
 * Returns whether values of the session may stand in what a reply of the agent sends. Most agents need none, and none
 * is read.
 */
export const usesValues = ({ system, tools }: AgentForCompletion): boolean =>
  (system?.includes('{{') ?? false) || choosesRecords(tools)

/**
 * Returns what a reply may do with tools. `canWait`: in a session. A caller that brings tools is shown their calls;
 * `includeActions` shows what waits for an approval too.
 */
export function agentActions(asked: {
  callerTools?: CallerTools | undefined
  includeActions?: boolean | undefined
  canWait: boolean
  expiresAfterS?: number | null
  turnsApart?: boolean | undefined
}): Omit<Actions, 'continued'> {
  const { callerTools = noTools, includeActions = false, canWait, expiresAfterS = null, turnsApart = false } = asked
  return {
    ...(turnsApart && { turnsApart, uniqueIds: true }),
    callerTools: callerTools.tools,
    toolChoice: callerTools.choice,
    canWait,
    expiresAfterS,
    shows: { approval: includeActions, caller: includeActions || callerTools.tools.length > 0 },
  }
}

/** Throws 400 for a tool of the caller's that has the name of one of the agent's. Those that answer are asked for theirs. */
export async function refuseTakenNames(
  { openToolbox }: Pick<AgentDependencies, 'openToolbox'>,
  { tools }: AgentForCompletion,
  callerTools: CallerTools,
  values: () => Promise<ReplyValues>,
): Promise<void> {
  if (callerTools.tools.length === 0) return
  const own = await openToolbox(tools, new AbortController().signal, await values())
  refuseTaken(callerTools, new Set(own.tools.map(({ name }) => name)))
}
