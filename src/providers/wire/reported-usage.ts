/** Token usage of a turn, as the vendors report it. Pure. */

import type { Counted } from '../../actors/ports/index.ts'
import { isObject } from '../../untrusted/is-object.ts'
import type { Fields } from './provider-json.ts'

// The columns are 32-bit integers.
const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 31

/** Returns the first of the values that is a count, under its name. */
function named<Name extends string>(name: Name, ...values: unknown[]): Partial<Record<Name, number>> {
  const found = values.find(isCount)
  const counted: Partial<Record<Name, number>> = {}
  if (found !== undefined) counted[name] = found
  return counted
}

const fieldsIn = (value: unknown): Fields => (isObject(value) ? value : {})

/**
 * Reads the chat-completions format. Some vendors count reasoning apart from the completion, so that only their total
 * includes it. Cached tokens are in one of four places.
 */
export function chatUsage(usage: unknown): Counted | null {
  if (!isObject(usage)) return null
  const { prompt_tokens: promptTokens, completion_tokens: completion, total_tokens: total } = usage
  if (!isCount(promptTokens) || !isCount(completion)) return null
  const prompt = fieldsIn(usage.prompt_tokens_details)
  const written = fieldsIn(usage.completion_tokens_details)
  return {
    promptTokens,
    completionTokens: isCount(total) ? Math.max(completion, total - promptTokens) : completion,
    ...named(
      'cachedTokens',
      ...[prompt.cached_tokens, usage.prompt_cache_hit_tokens, usage.num_cached_tokens, usage.cached_tokens],
    ),
    ...named('cacheWriteTokens', prompt.cache_write_tokens),
    ...named('reasoningTokens', written.reasoning_tokens, usage.reasoning_tokens),
  }
}

export function responsesUsage(usage: unknown): Counted | null {
  if (!isObject(usage)) return null
  const { input_tokens: promptTokens, output_tokens: completion, total_tokens: total } = usage
  if (!isCount(promptTokens) || !isCount(completion)) return null
  const read = fieldsIn(usage.input_tokens_details)
  return {
    promptTokens,
    completionTokens: isCount(total) ? Math.max(completion, total - promptTokens) : completion,
    ...named('cachedTokens', read.cached_tokens),
    ...named('cacheWriteTokens', read.cache_write_tokens),
    ...named('reasoningTokens', fieldsIn(usage.output_tokens_details).reasoning_tokens),
  }
}

/**
 * Reads Gemini's counts. The prompt's count includes cached tokens. Thoughts are billed like text, and counted apart
 * from it.
 */
export function geminiUsage(usage: unknown): Counted | null {
  if (!isObject(usage) || !isCount(usage.promptTokenCount)) return null
  const count = (name: string): number => (isCount(usage[name]) ? usage[name] : 0)
  const promptTokens = usage.promptTokenCount + count('toolUsePromptTokenCount')
  const completion = count('candidatesTokenCount') + count('thoughtsTokenCount')
  return {
    promptTokens,
    completionTokens: Math.max(completion, count('totalTokenCount') - promptTokens),
    ...named('cachedTokens', usage.cachedContentTokenCount),
    ...named('reasoningTokens', usage.thoughtsTokenCount),
  }
}

/** Gathers Anthropic's counts as they grow. `input_tokens` exclude cached tokens, though all were sent. */
export function gatherAnthropicUsage() {
  const counts: Record<string, number> = {}
  const names = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens']
  return {
    /** Takes a report. Counts are cumulative; those of the end name only what changed. */
    take(usage: unknown): void {
      if (!isObject(usage)) return
      const details = fieldsIn(usage.output_tokens_details)
      const given = { ...usage, thinking_tokens: details.thinking_tokens }
      for (const [name, value] of Object.entries(given)) {
        if (isCount(value) && (names.includes(name) || name === 'thinking_tokens')) counts[name] = value
      }
    },
    total(): Counted | null {
      const {
        input_tokens,
        cache_creation_input_tokens: written,
        cache_read_input_tokens: read,
        output_tokens,
      } = counts
      if (names.every((name) => counts[name] === undefined)) return null
      return {
        promptTokens: (input_tokens ?? 0) + (written ?? 0) + (read ?? 0),
        completionTokens: output_tokens ?? 0,
        ...named('cachedTokens', read),
        ...named('cacheWriteTokens', written),
        ...named('reasoningTokens', counts.thinking_tokens),
      }
    },
  }
}
