/**
 * Errors for "your input is too long for this model", in the words of each vendor (contract section 19). The table is
 * read from top to bottom; a pattern may name the model's `limit` and what the request takes, in tokens as that vendor
 * counts them: `size` for the input and `answer` for the answer, or `total` for both.
 */
export interface Overflow {
  /** The model's limit. Null when the provider does not name it. */
  limit: number | null
  /** The size of the input, without the answer where that is named. Null when the provider does not name it. */
  size: number | null
  /** The room for the answer that counts against the limit. Null when the provider names none. */
  answer: number | null
}

interface Words {
  /** The vendors with this error. */
  by: string
  pattern: RegExp
  /** The status with which these words have another meaning. */
  except?: number
}

const words: readonly Words[] = [
  {
    // "At least" so many: the rest of the input was not counted.
    by: 'vLLM, and Bedrock and Cloudflare with it',
    pattern:
      /maximum context length is (?<limit>\d+) tokens.{0,20}?requested (?<answer>\d+) output tokens(?: and your prompt contains (?<size>\d+) input tokens)?/s,
  },
  {
    by: 'vLLM, where the input alone is counted',
    pattern:
      /maximum context length is (?<limit>\d+) tokens.{0,20}?(?:your request has|the prompt contains) (?<size>\d+) input tokens(?: \((?<answer>\d+) > )?/s,
  },
  {
    by: 'OpenAI, vLLM, DeepSeek, OpenRouter',
    pattern:
      /maximum context length is (?<limit>\d+) tokens?\b(?:.{0,80}?(?:resulted in|requested(?: about)?) (?<total>\d+)(?: tokens \([^)]{0,120}?(?<answer>\d+) in the (?:completion|output))?)?/s,
  },
  {
    by: 'OpenAI and Groq, for tokens a minute',
    pattern: /Request too large for .{0,400}?Limit (?<limit>\d+), Requested (?<size>\d+)/s,
  },
  { by: 'Anthropic', pattern: /prompt is too long(?:: (?<size>\d+) tokens > (?<limit>\d+))?/i },
  {
    by: 'Anthropic, with the answer',
    pattern: /input length and `max_tokens` exceed context limit: (?<size>\d+) \+ (?<answer>\d+) > (?<limit>\d+)/,
  },
  {
    by: 'Gemini',
    pattern:
      /input token count(?: \((?<size>\d+)\))? exceeds the maximum number of tokens allowed(?: \(?(?<limit>\d+)\)?)?/i,
  },
  { by: 'Mistral', pattern: /Prompt contains (?<size>\d+) tokens.{0,80}?too large for model with (?<limit>\d+)/s },
  { by: 'xAI', pattern: /maximum prompt length is (?<limit>\d+) but the request contains (?<size>\d+)/ },
  { by: 'llama.cpp', pattern: /exceed_context_size_error|exceeds the available context size/ },
  {
    by: 'LiteLLM, SGLang, Together',
    pattern:
      /exceeds the model's maximum context length(?: of (?<limit>\d+) tokens)?(?:.{0,80}?requested a total of (?<total>\d+)(?: tokens: \d+ tokens from the input messages and (?<answer>\d+))?)?/s,
  },
  {
    by: 'Moonshot',
    pattern: /exceeded model token limit(?:: (?<limit>\d+)(?: \(requested: (?<total>\d+)\))?)?/,
  },
  { by: 'DashScope', pattern: /Range of input length should be \[\d+, ?(?<limit>\d+)\]/ },
  { by: 'TGI', pattern: /`inputs` must have less than (?<limit>\d+) tokens(?:\. Given: (?<size>\d+))?/ },
  {
    by: 'TGI, with the answer',
    pattern:
      /`inputs` tokens \+ `max_new_tokens` must be <= (?<limit>\d+)(?:\. Given: (?<size>\d+) `inputs` tokens and (?<answer>\d+))?/,
  },
  {
    by: 'LM Studio',
    pattern: /greater than the context length(?: \(n_keep: (?<size>\d+) >= n_ctx: (?<limit>\d+)\))?/,
  },
  {
    by: 'LM Studio, before',
    pattern: /keep the first (?<size>\d+) tokens when.{0,100}?context length of only (?<limit>\d+) tokens/s,
  },
  { by: 'Bedrock', pattern: /Input is too long for requested model|Input Tokens Exceeded/i },
  { by: 'the code of OpenAI, and of many others', pattern: /context_length_exceeded|ContextWindowExceeded/ },
  {
    by: 'others',
    pattern:
      /(?:exceeds?|exceeded|exceeding|longer than|larger than|too (?:long|large) for) (?:the |this |its |your )?(?:model'?s? )?(?:maximum |max )?(?:context|input)(?:[ _](?:length|window|size|limit))|context (?:length|window|size|limit) (?:is |was )?exceeded|reduce the length of (?:the|your) (?:messages|prompt|input)|(?:prompt|input|request|conversation) (?:is|was) too long/i,
  },
  {
    by: 'others, unless it is a rate',
    pattern: /too many (?:input |prompt )?tokens\b(?! per)(?!.{0,80}please wait)/is,
    except: 429,
  },
]

/** Reads the numbers of llama.cpp, which has them as fields. */
const fields = { limit: /"n_ctx"\s*:\s*(\d+)/, size: /"n_prompt_tokens"\s*:\s*(\d+)/ }

/** Errors that do not mean the input is too long: the answer's limit is, or an account is used up. */
const others = /max_tokens is too large|max_(?:completion_|output_)?tokens: \d+ >|insufficient_quota|API_KEY_INVALID/

/** Errors about the size in bytes, of gateways and of Anthropic, which count bytes: less history has fewer of them. */
const tooManyBytes = /request_too_large|(?:entity|payload|content|request) too large|exceeds the maximum size/i

/** Returns whether an error with this status may be an overflow. A wrong key or an unknown model never is. */
const mayBe = (status: number | null): boolean => status === null || ![401, 403, 404].includes(status)

const numberIn = (text: string | undefined): number | null => (text === undefined ? null : Number(text))

/** Recognises an overflow. `text`: the provider's words. Null for any other error. */
export function overflowIn(status: number | null, text: string): Overflow | null {
  if (!mayBe(status) || others.test(text)) return null
  for (const { pattern, except } of words) {
    const found = status === except ? null : pattern.exec(text)
    if (!found) continue
    const named = overflowOf(found.groups ?? {}, text)
    return fits(named) ? null : named
  }
  return status === 413 && tooManyBytes.test(text) ? { limit: null, size: null, answer: null } : null
}

function overflowOf(named: Record<string, string | undefined>, text: string): Overflow {
  const answer = numberIn(named.answer)
  const total = numberIn(named.total)
  return {
    limit: numberIn(named.limit ?? fields.limit.exec(text)?.[1]),
    size: total === null ? numberIn(named.size ?? fields.size.exec(text)?.[1]) : total - (answer ?? 0),
    answer,
  }
}

/**
 * Returns whether the request fits the named limit. A limit of tokens a minute that it fits is only used up for now.
 */
const fits = ({ limit, size, answer }: Overflow): boolean =>
  limit !== null && size !== null && size + (answer ?? 0) <= limit
