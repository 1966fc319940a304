/**
 * The provider types of contract section 2, and the differences between those that share the chat-completions adapter.
 */
import type { ProviderConnection, WireApi } from '../actors/ports/index.ts'
import { withoutEnd } from '../untrusted/without-end.ts'
import { ProviderProblem } from './wire/failure.ts'

/** A row of `GET /api/v1/provider-types`. */
export interface ProviderType {
  id: string
  name: string
  description: string
  requiresApiKey: boolean
  requiresBaseUrl: boolean
  defaultBaseUrl: string | null
}

/** The differences of a vendor's chat-completions API from the common one. */
export interface Dialect {
  /** Support of `top_k`, which is no field of the common format: sent only where the vendor's API has it. */
  topK: boolean
  /**
   * Support of `stream_options`, which requests usage; vendors without it report usage unasked and refuse unknown
   * fields.
   */
  usageOption: boolean
  /**
   * Whether reasoning that led to tool calls is sent back with their results. Some vendors refuse the turn without it,
   * others think worse. `required`: earlier replies, whose reasoning is never sent, carry a blank instead. `asked`:
   * only where the request turns reasoning on, or where the server has demanded it, since an unknown server may reject
   * it.
   */
  reasoningBack: 'required' | 'always' | 'asked' | 'never'
  /** True when a user's message directly after a tool result is refused. */
  answersResults: boolean
  /** True when tool call ids must be nine letters and digits. */
  shortCallIds: boolean
  /** The mark on the beginning of an answer, for vendors that require one. DeepSeek also requires another API. */
  beginning: 'prefix' | 'beta' | null
  /** The path of a request that checks the key, for vendors whose list of models is public. */
  keyCheckPath: string | null
}

const keyed = { requiresApiKey: true, requiresBaseUrl: false }

/** All types that a provider may have; the order is the one shown. */
export const providerTypes = [
  {
    id: 'openai',
    name: 'OpenAI',
    description: 'GPT models from their maker. You need an OpenAI API key.',
    ...keyed,
    defaultBaseUrl: 'https://api.openai.com/v1',
  },
  {
    id: 'anthropic',
    name: 'Anthropic',
    description:
      'Claude models from their maker. Models after 4.6 take no temperature, Top P or Top K: they are left out.',
    ...keyed,
    defaultBaseUrl: 'https://api.anthropic.com',
  },
  {
    id: 'gemini',
    name: 'Google Gemini',
    description: 'Gemini models from their maker. A key from Google AI Studio is enough.',
    ...keyed,
    defaultBaseUrl: 'https://generativelanguage.googleapis.com',
  },
  {
    id: 'mistral',
    name: 'Mistral',
    description: 'Mistral models from their maker.',
    ...keyed,
    defaultBaseUrl: 'https://api.mistral.ai/v1',
  },
  {
    id: 'openrouter',
    name: 'OpenRouter',
    description: 'Models of many vendors with one key and one bill.',
    ...keyed,
    defaultBaseUrl: 'https://openrouter.ai/api/v1',
  },
  {
    id: 'groq',
    name: 'Groq',
    description: 'Open models such as Llama and GPT-OSS, answered very fast.',
    ...keyed,
    defaultBaseUrl: 'https://api.groq.com/openai/v1',
  },
  {
    id: 'deepseek',
    name: 'DeepSeek',
    description: 'DeepSeek models from their maker.',
    ...keyed,
    defaultBaseUrl: 'https://api.deepseek.com/v1',
  },
  {
    id: 'xai',
    name: 'xAI',
    description: 'Grok models from their maker.',
    ...keyed,
    defaultBaseUrl: 'https://api.x.ai/v1',
  },
  {
    id: 'ollama',
    name: 'Ollama',
    description: 'Open models on your own machine: free, private, no key.',
    requiresApiKey: false,
    requiresBaseUrl: false,
    // Not `localhost`: Ollama listens on IPv4 only.
    defaultBaseUrl: 'http://127.0.0.1:11434/v1',
  },
  {
    id: 'openai-compatible',
    name: 'OpenAI-compatible',
    description: 'A server of your own or any other service with the same API: vLLM, llama.cpp, LM Studio.',
    requiresApiKey: false,
    requiresBaseUrl: true,
    defaultBaseUrl: null,
  },
  {
    id: 'demo',
    name: 'Demo',
    description: 'Built in, to try things without a model: it tells what it was sent. Say /slow 20 or /fail 5 to it.',
    requiresApiKey: false,
    requiresBaseUrl: false,
    defaultBaseUrl: null,
  },
] as const satisfies readonly ProviderType[]

export type ProviderTypeId = (typeof providerTypes)[number]['id']

/** The common dialect. */
export const commonDialect: Dialect = {
  topK: false,
  usageOption: true,
  reasoningBack: 'never',
  answersResults: false,
  shortCallIds: false,
  beginning: null,
  keyCheckPath: null,
}

/** The dialect of each type. Null when the type has an adapter of its own. */
const dialects: Readonly<Record<ProviderTypeId, Dialect | null>> = {
  openai: commonDialect,
  anthropic: null,
  gemini: null,
  mistral: { ...commonDialect, usageOption: false, answersResults: true, shortCallIds: true, beginning: 'prefix' },
  openrouter: { ...commonDialect, topK: true, reasoningBack: 'always', keyCheckPath: '/key' },
  groq: commonDialect,
  deepseek: { ...commonDialect, reasoningBack: 'required', beginning: 'beta' },
  xai: commonDialect,
  ollama: commonDialect,
  // vLLM, llama.cpp, LM Studio and TGI take it; a stricter server says so, and the agent's topK can be cleared.
  'openai-compatible': { ...commonDialect, topK: true, reasoningBack: 'asked' },
  demo: null,
}

export const findProviderType = (id: string): (ProviderType & { id: ProviderTypeId }) | null =>
  providerTypes.find((type) => type.id === id) ?? null

/** Returns the dialect. Null when the type is unknown or has an adapter of its own. */
export function dialectOf(type: string): Dialect | null {
  const known = findProviderType(type)
  return known && dialects[known.id]
}

/**
 * Returns the dialect of a provider without an adapter of its own. Throws ProviderProblem for a type that this version
 * does not know.
 */
export function requireDialect(type: string): Dialect {
  const dialect = dialectOf(type)
  if (dialect) return dialect
  const name = findProviderType(type)?.name ?? type
  throw new ProviderProblem({ kind: 'unusable', reason: `${name} models cannot be called by this version.` })
}

/** Returns the API that a provider is called by. Null when its type has one API only. */
export function wireApiOf({ type, wireApi }: Pick<ProviderConnection, 'type' | 'wireApi'>): WireApi | null {
  return type === 'openai' || type === 'openai-compatible' ? (wireApi ?? 'chat_completions') : null
}

/**
 * Returns the URL that paths such as `/chat/completions` are added to; null where the type has no default and none is
 * set.
 */
export function endpointOf(connection: Pick<ProviderConnection, 'type' | 'baseUrl'>): string | null {
  const base = connection.baseUrl ?? findProviderType(connection.type)?.defaultBaseUrl ?? null
  if (base === null || !URL.canParse(base)) return null
  const trimmed = withoutEnd(base, '/')
  // People know Ollama by its bare address; its chat-completions API lies below /v1.
  const bare = connection.type === 'ollama' && new URL(base).pathname === '/'
  return bare ? `${trimmed}/v1` : trimmed
}
