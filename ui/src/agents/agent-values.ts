/** An agent as its form has it: numbers may be empty, tools lie beside the rest. */
import type { components } from '../../../openapi/generated/schema.ts'
import { parseExact, writeExact } from '../../../src/untrusted/exact-json.ts'
import { type LimitValues, limitsOfValues, valuesOfLimits } from '../limits/limit-values.ts'
import { type Approval, sentApproval, typedApproval } from './approvals.ts'
import { noTools } from './tool-kinds.ts'

type Agent = components['schemas']['Agent']
type AgentTools = components['schemas']['AgentTools']
type AgentFields = components['schemas']['AgentCreate']

/** '' is "not set": the provider's default applies. */
type Setting = number | string

export type ReasoningEffort = NonNullable<Agent['generationConfig']['reasoningEffort']>

export const reasoningEfforts: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

export interface AgentValues extends Omit<AgentTools, 'approvals'> {
  /** `*` among them: every tool. */
  approvals: Approval[]
  name: string
  providerId: string
  model: string
  promptId: string | null
  /** The agent's own text, where it has no prompt; '': none. */
  systemPrompt: string
  fallbacks: Agent['fallbacks']
  /** JSON text; '': none. */
  responseFormat: string
  /** The origins, one a line. */
  allowedOrigins: string
  callerInstructions: Agent['callerInstructions']
  userLimits: LimitValues
  compaction: Agent['compaction']
  onLoss: Agent['onLoss']
  onMissingTools: Agent['onMissingTools']
  historyMaxTokens: Setting
  generationConfig: {
    temperature: Setting
    topP: Setting
    topK: Setting
    maxToolCalls: Setting
    maxOutputTokens: Setting
    /** '': the provider's default. */
    reasoningEffort: ReasoningEffort | ''
  }
}

export function valuesOf(agent: Partial<Agent>, tools: AgentTools = noTools): AgentValues {
  const {
    name = '',
    providerId = '',
    model = '',
    promptId = null,
    systemPrompt,
    allowedOrigins = [],
    generationConfig = {},
  } = agent
  const { temperature = '', topP = '', topK = '', maxToolCalls = '' } = generationConfig
  const { maxOutputTokens = '', reasoningEffort = '' } = generationConfig
  const { fallbacks = [], responseFormat: format = null, historyMaxTokens = null } = agent
  const { callerInstructions = 'responses', compaction = 'none', userLimits = null } = agent
  const { onLoss = 'error', onMissingTools = 'tell' } = agent
  return {
    name,
    providerId,
    model,
    promptId,
    systemPrompt: systemPrompt ?? '',
    fallbacks,
    responseFormat: format === null ? '' : writeExact(format, 2),
    allowedOrigins: allowedOrigins.join('\n'),
    callerInstructions,
    userLimits: valuesOfLimits(userLimits),
    compaction,
    onLoss,
    onMissingTools,
    historyMaxTokens: historyMaxTokens ?? '',
    generationConfig: { temperature, topP, topK, maxToolCalls, maxOutputTokens, reasoningEffort },
    ...tools,
    approvals: tools.approvals === '*' ? ['*'] : tools.approvals.map(typedApproval),
  }
}

/** Returns an error that the server cannot report: the text is not sent unless it is JSON. */
export function badJson(text: string): string | null {
  try {
    formatOf(text)
    return null
  } catch {
    return 'Must be JSON.'
  }
}

const formatOf = (text: string): Agent['responseFormat'] => (text.trim() === '' ? null : Object(parseExact(text)))

/** Returns the lines that hold something. */
export const originsOf = (lines: string): string[] =>
  lines
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** Returns the value to send. The server checks it. */
const sent = (setting: Setting): number | null => (setting === '' ? null : Number(setting))

export function fieldsOf(values: AgentValues): AgentFields & { tools: AgentTools } {
  const { name, providerId, model, promptId, systemPrompt, fallbacks, responseFormat, allowedOrigins, ...rest } = values
  const {
    generationConfig,
    historyMaxTokens,
    callerInstructions,
    compaction,
    userLimits,
    onLoss,
    onMissingTools,
    ...tools
  } = rest
  const { temperature, topP, topK, maxToolCalls, maxOutputTokens, reasoningEffort } = generationConfig
  return {
    name,
    providerId,
    model: model.trim(),
    promptId,
    systemPrompt: promptId === null && systemPrompt !== '' ? systemPrompt : null,
    fallbacks: fallbacks.map((one) => ({ providerId: one.providerId, model: one.model.trim() })),
    responseFormat: formatOf(responseFormat),
    allowedOrigins: originsOf(allowedOrigins),
    historyMaxTokens: sent(historyMaxTokens),
    callerInstructions,
    userLimits: limitsOfValues(userLimits),
    compaction,
    onLoss,
    onMissingTools,
    generationConfig: {
      temperature: sent(temperature),
      topP: sent(topP),
      topK: sent(topK),
      maxToolCalls: sent(maxToolCalls),
      maxOutputTokens: sent(maxOutputTokens),
      reasoningEffort: reasoningEffort || null,
    },
    tools: { ...tools, approvals: tools.approvals.includes('*') ? '*' : tools.approvals.map(sentApproval) },
  }
}
