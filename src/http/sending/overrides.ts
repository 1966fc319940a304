/** The settings and tools that the playground sets for one reply, and for those that continue it. */
import { createHash } from 'node:crypto'
import type { components } from '../../../openapi/generated/schema.ts'
import { toolChoiceInput } from '../../../openapi/schemas/records/tools.ts'
import { DEFAULT_TOOL_CALLS } from '../../actors/generate/generate.ts'
import type { GenerationConfig } from '../../actors/ports/index.ts'
import type { AnySql } from '../../persistence/postgres/database.ts'
import type { AgentForCompletion } from '../../persistence/records/agent-lookup.ts'
import { findPrompt } from '../../persistence/records/prompts.ts'
import { findConnection } from '../../persistence/records/providers.ts'
import { promptProblem } from '../../templates/prompt-template.ts'
import { badRequest, HttpError } from '../server/http-error.ts'
import { choiceFor, type ToolField } from './tool-choice.ts'

export interface OverrideDependencies {
  sql: AnySql
  builtInTools: readonly { id: string }[]
}

type ChatRequest = components['schemas']['PlaygroundChatRequest']

export type Overrides = Pick<ChatRequest, 'configOverrides' | ToolField>
const overrideFields: ReadonlySet<string> = new Set(['configOverrides', ...Object.keys(toolChoiceInput)])

/** Returns null when the request sets nothing. */
export function overridesOf(request: ChatRequest): Overrides | null {
  const set = Object.entries(request).filter(([field, value]) => overrideFields.has(field) && value !== undefined)
  return set.length === 0 ? null : Object.fromEntries(set)
}

/**
 * Returns the agent with the request's overrides and tools; what they leave out (or null) stays. Throws 400 for an
 * unknown provider or tool.
 */
export async function overridden(
  deps: OverrideDependencies,
  agent: AgentForCompletion,
  chat: Overrides,
): Promise<AgentForCompletion> {
  const overrides = chat.configOverrides ?? {}
  const { providerId, model, promptId, systemPrompt } = overrides
  const provider = providerId == null ? agent.provider : await findConnection(deps.sql, providerId)
  if (provider === null) return badRequest('configOverrides.providerId: there is no such provider')
  const config: GenerationConfig = { ...agent.generationConfig }
  for (const key of ['temperature', 'topP', 'topK', 'maxToolCalls', 'maxOutputTokens'] as const) {
    const value = overrides[key]
    if (value != null) config[key] = value
  }
  if (overrides.reasoningEffort != null) config.reasoningEffort = overrides.reasoningEffort
  const spoken = await promptFor(deps, agent, { promptId, systemPrompt })
  const tools = await choiceFor(deps, agent, chat)
  return { ...agent, ...spoken, provider, model: model ?? agent.model, generationConfig: config, tools }
}

/** Returns a system prompt that the request brings, or names, or the agent's. Throws 400 for an unknown one. */
async function promptFor(
  { sql }: OverrideDependencies,
  { system, prompt }: AgentForCompletion,
  { promptId, systemPrompt }: { promptId: string | null | undefined; systemPrompt: string | null | undefined },
): Promise<Pick<AgentForCompletion, 'system' | 'prompt'>> {
  if (systemPrompt != null) {
    const problem = promptProblem(systemPrompt)
    if (problem !== null) badRequest(`configOverrides.systemPrompt: ${problem}`)
    return { system: systemPrompt, prompt: null }
  }
  if (promptId == null) return { system, prompt }
  const named = await findPrompt(sql, promptId)
  if (named === null) return badRequest('configOverrides.promptId: there is no such prompt')
  const { id, name, content } = named
  return { system: content, prompt: { id, name, sha256: createHash('sha256').update(content).digest('hex') } }
}

/**
 * Returns the agent of a reply that continues another one, months later maybe: where what was set is gone, the agent is
 * as it is. A session in which nothing could be decided would wait for ever.
 */
export async function stillOverridden(
  deps: OverrideDependencies,
  agent: AgentForCompletion,
  overrides: object | null,
): Promise<AgentForCompletion> {
  if (overrides === null) return agent
  try {
    return await overridden(deps, agent, overrides)
  } catch (error) {
    if (error instanceof HttpError && error.status === 400) return agent
    throw error
  }
}

/** Returns the settings that lower an agent's number of tool calls to this one. Null where it is not above it. */
export function fewerCalls(
  { generationConfig }: Pick<AgentForCompletion, 'generationConfig'>,
  most: number | undefined,
): Overrides | null {
  if (most === undefined || most >= (generationConfig.maxToolCalls ?? DEFAULT_TOOL_CALLS)) return null
  return { configOverrides: { maxToolCalls: most } }
}

/** Returns the agent with at most this number of tool calls. */
export function withFewerCalls(agent: AgentForCompletion, most: number | undefined): AgentForCompletion {
  const maxToolCalls = fewerCalls(agent, most)?.configOverrides?.maxToolCalls
  return maxToolCalls == null ? agent : { ...agent, generationConfig: { ...agent.generationConfig, maxToolCalls } }
}

/** Returns the settings of a continued reply, with the lower one of both numbers of tool calls. */
export function lowerOverrides(carried: object | null, own: Overrides | null | undefined): object | null {
  const most = own?.configOverrides?.maxToolCalls
  if (most == null) return carried
  const { configOverrides, ...others }: Overrides = carried ?? {}
  const maxToolCalls = Math.min(most, configOverrides?.maxToolCalls ?? most)
  return { ...others, configOverrides: { ...configOverrides, maxToolCalls } }
}
