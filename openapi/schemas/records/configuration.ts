/** Providers, prompts and agents. */
import Type, { type TProperties } from 'typebox'
import { documented, webAddress } from '../../documented.ts'
import { asRead, id, listOf, name, nullable, oneOf, optional, timestamps } from '../basics.ts'
import { reasoningEfforts, responseFormatKeywords } from '../conversation/completion-fields.ts'
import { limitsInput, limitsOf, priceWarning } from '../limits.ts'
import { versionFields } from './drafts.ts'

export const providerTypeIds = [
  'openai',
  'anthropic',
  'gemini',
  'mistral',
  'openrouter',
  'groq',
  'deepseek',
  'xai',
  'ollama',
  'openai-compatible',
  'demo',
] as const

export const ProviderType = Type.Object(
  {
    id: oneOf(providerTypeIds, "The value of a provider's `providerType`."),
    name: Type.String(),
    description: Type.String(),
    requiresApiKey: Type.Boolean(),
    requiresBaseUrl: Type.Boolean(),
    defaultBaseUrl: nullable(Type.String({ description: 'Used when the provider has no `baseUrl`.' })),
  },
  { title: 'ProviderType' },
)
export const ProviderTypeList = Type.Object({ providerTypes: Type.Array(ProviderType) }, { title: 'ProviderTypeList' })

const baseUrl = nullable(
  Type.String({
    description: 'Base URL of the API, without user and password. Null stands for the default of the type.',
    ...webAddress,
  }),
)

export const wireApis = ['chat_completions', 'responses'] as const

const wireApi = nullable(
  oneOf(
    wireApis,
    'The API by which it is called. Only types `openai` and `openai-compatible` have a choice, others null. Default: `responses` for `openai` without a `baseUrl`, else `chat_completions`.',
  ),
)

export const Provider = Type.Object(
  {
    id: id('Id of the provider.'),
    name: name('Unique among providers.'),
    providerType: oneOf(providerTypeIds, 'See `GET /api/v1/provider-types`.'),
    baseUrl,
    wireApi,
    hasApiKey: Type.Boolean({ description: 'Whether a key is stored. The key itself is never returned.' }),
    apiKeyHint: nullable(
      Type.String({ description: 'The last four characters of the key; null for keys shorter than 12.' }),
    ),
    ...timestamps,
  },
  { title: 'Provider' },
)
export const ProviderList = listOf('ProviderList', 'providers', Provider)

const secret = nullable(Type.String({ format: 'password', description: 'Encrypted at rest, never returned.' }))
export const ProviderCreate = Type.Object(
  {
    name: name('Unique among providers.'),
    providerType: oneOf(providerTypeIds, 'See `GET /api/v1/provider-types`.'),
    apiKey: Type.Optional(secret),
    baseUrl: Type.Optional(baseUrl),
    wireApi: Type.Optional(wireApi),
  },
  {
    title: 'ProviderCreate',
    description: '`apiKey` is required where the type needs a key, `baseUrl` for `openai-compatible`.',
  },
)
export const ProviderUpdate = Type.Object(
  optional({
    name: name('Unique among providers.'),
    apiKey: nullable(
      Type.String({ format: 'password', description: 'When absent, the stored key is kept. Null removes it.' }),
    ),
    baseUrl,
    wireApi,
    providerType: Type.String({
      description: 'Ignored if equal to the stored one, else 400: the type cannot change.',
    }),
  }),
  { title: 'ProviderUpdate', description: 'A `baseUrl` with another origin must come with `apiKey`, else 400.' },
)
export const ProviderTest = Type.Object(
  {
    ok: Type.Boolean(),
    latencyMs: Type.Integer({ minimum: 0, description: 'Milliseconds.' }),
    message: Type.String({ description: 'The result, or what went wrong.' }),
    models: Type.Array(Type.String(), { description: 'The models listed by the provider; may be empty.' }),
  },
  { title: 'ProviderTest' },
)

const promptFields = { name: name('Name of the prompt.'), content: Type.String({ description: 'The system prompt.' }) }
export const Prompt = Type.Object(
  {
    id: id('Id of the prompt.'),
    ...promptFields,
    ...timestamps,
    warning: Type.Optional(
      Type.String({ description: 'What becomes of `{{now.time}}` in it; in answers to saving alone.' }),
    ),
  },
  { title: 'Prompt' },
)
export const PromptList = listOf('PromptList', 'prompts', Prompt)
export const PromptCreate = Type.Object(promptFields, { title: 'PromptCreate', ...asRead })
export const PromptUpdate = Type.Object(optional(promptFields), { title: 'PromptUpdate' })

const settings = {
  temperature: Type.Number({ minimum: 0, maximum: 2 }),
  topP: Type.Number({ minimum: 0, maximum: 1 }),
  topK: Type.Integer({ minimum: 1 }),
  maxToolCalls: Type.Integer({ minimum: 0, maximum: 100, description: '10 by default. With 0 no tools are offered.' }),
  reasoningEffort: oneOf(
    reasoningEfforts,
    "How long the model may think. A request's `reasoning_effort` wins; a value that the provider does not take is 400.",
  ),
  maxOutputTokens: Type.Integer({
    minimum: 1,
    description: "Most tokens of one answer of the model, reasoning included. A request's `max_tokens` wins.",
  }),
}
/** The same settings where null means absent. */
export const settingsInput = optional(
  Object.fromEntries(Object.entries(settings).map(([key, rule]) => [key, nullable(rule)])),
)

export const GenerationConfig = Type.Object(optional(settings), {
  title: 'GenerationConfig',
  description: 'Absent settings are left to the provider.',
})
export const GenerationConfigInput = Type.Unsafe({
  ...Type.Object(settingsInput),
  type: ['object', 'null'],
  description: 'Replaced as a whole. Null, here or inside, means absent.',
})

const promptId = nullable(
  Type.String({ description: 'Id of a prompt. Null when there is no system prompt. Unknown: 400.' }),
)
export const systemPrompt = nullable(
  Type.String({
    description:
      'A prompt text of the agent’s own. An agent has either a `promptId` or a `systemPrompt`: setting one sets the other to null; both in one body: 400.',
  }),
)
/** Fallbacks of an agent. */
export const MAX_FALLBACKS = 3

export const fallbacksOf = (provider: TProperties) =>
  Type.Unsafe({
    ...Type.Array(Type.Object({ ...provider, model: name('Model name, as that provider knows it.') })),
    type: ['array', 'null'],
    maxItems: MAX_FALLBACKS,
    description:
      'Asked in this order when a call fails before any output: after retries of what may pass, a 429 that asks for too long, a time-out, or a refused key. Replaced as a whole; null: none.',
  })

/** Checked by a handler, as a request's `response_format` is. */
export const responseFormatInput = Type.Unsafe({
  description:
    "Form of the answers, as a completion request's `response_format`; a request's own wins. Null when there is none.",
  ...documented(responseFormatKeywords),
})

const replyInput = {
  responseFormat: responseFormatInput,
  fallbacks: fallbacksOf({ providerId: Type.String({ description: 'Id of a provider. Unknown: 400.' }) }),
}

const origins = {
  type: 'array',
  maxItems: 20,
  items: { type: 'string', maxLength: 300 },
  description:
    'Web pages of these origins may call the deploy API of the agent: `scheme://host[:port]` as a browser sends it, without wildcards.',
}
export const historyMaxTokens = nullable(
  Type.Integer({
    minimum: 1000,
    maximum: 100_000_000,
    description:
      'Most tokens of all that stands before the newest message: prompt, tools, pictures and files count. When null, `HISTORY_MAX_TOKENS` counts.',
  }),
)

/** The treatment of instructions that an agent's callers send. */
const callerInstructions = oneOf(
  ['refuse', 'append', 'responses'],
  'What becomes of instructions, and of system and developer messages, of a request: `append` puts their text behind the agent’s prompt, for that request alone; `refuse` answers 400 (the chat endpoints of front ends leave them out); `responses` appends on the Responses API, and refuses elsewhere.',
)
/** The field as it is written: null sets the default, `responses`. */
export const callerInstructionsInput = nullable(callerInstructions)
const WHOSE = 'of each user of the agent, as sessions and stateless requests name it'
export const userLimitsInput = limitsInput(WHOSE)
const compaction = oneOf(
  ['none', 'auto'],
  'What becomes of a history that no longer fits: `none` leaves its oldest turns out; `auto` has the agent’s own model summarise them once the history takes more than 80 % of its budget, and sends the summary in their place.',
)
/** The field as it is written: null sets the default, `none`. */
export const compactionInput = nullable(compaction)
const onLoss = oneOf(
  ['error', 'continue'],
  'What becomes of a running reply whose instance is lost or must stop: `error` ends it with what it has, `continue` lets another instance go on with it (docs/operating/run.md, “What a user sees”).',
)
/** Null means the default, `error`. */
export const onLossInput = nullable(onLoss)
const onMissingTools = oneOf(
  ['tell', 'fail'],
  'What becomes of a reply when an MCP server gives no list of tools: `tell` goes on without them and tells the model, `fail` ends the reply with the code `tools_unavailable` before any call.',
)
/** Null means the default, `tell`. */
export const onMissingToolsInput = nullable(onMissingTools)
export const allowSharing = Type.Boolean({
  description: 'Whether client secrets may share the sessions of their user. No version holds it.',
})
/** Null means none. */
export const allowedOriginsInput = Type.Unsafe({ ...origins, type: ['array', 'null'] })
const agentInput = {
  name: name('Name of the agent.'),
  providerId: Type.String({ description: 'Id of a provider. Unknown: 400.' }),
  model: name('Model name, as the provider knows it.'),
}
export const Agent = Type.Object(
  {
    id: id('Id of the agent, in the deploy paths.'),
    name: name('Name of the agent.'),
    providerId: id('Id of its provider.'),
    model: name('Model name, as the provider knows it.'),
    promptId: nullable(id('Id of its prompt. Null when it has none.')),
    systemPrompt,
    generationConfig: GenerationConfig,
    responseFormat: Type.Unsafe({
      ...responseFormatKeywords,
      description:
        "Form of the answers, where a request brings no `response_format`. Null stands for the provider's default.",
    }),
    fallbacks: Type.Array(
      Type.Object({ providerId: id('Id of a provider.'), model: name('Model name, as that provider knows it.') }),
      { maxItems: MAX_FALLBACKS, description: 'Other models, in the order in which they are asked.' },
    ),
    allowedOrigins: Type.Unsafe(origins),
    allowSharing,
    historyMaxTokens,
    callerInstructions,
    userLimits: limitsOf(WHOSE),
    warning: priceWarning,
    compaction,
    onLoss,
    onMissingTools,
    ...versionFields,
    ...timestamps,
  },
  { title: 'Agent' },
)
export const AgentList = listOf('AgentList', 'agents', Agent)
const agentOptions = {
  promptId,
  systemPrompt,
  generationConfig: GenerationConfigInput,
  allowedOrigins: allowedOriginsInput,
  allowSharing,
  historyMaxTokens,
  callerInstructions: callerInstructionsInput,
  userLimits: userLimitsInput,
  compaction: compactionInput,
  onLoss: onLossInput,
  onMissingTools: onMissingToolsInput,
  ...replyInput,
}
export const AgentCreate = Type.Object(
  {
    ...agentInput,
    ...optional(agentOptions),
  },
  { title: 'AgentCreate' },
)
export const AgentUpdate = Type.Object(
  optional({
    ...agentInput,
    ...agentOptions,
  }),
  { title: 'AgentUpdate' },
)
