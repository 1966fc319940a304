/** Contract section 19: a conversation that is too long for its model, as providers say it. */
import { describe, expect, test } from 'vitest'
import { overflowIn } from '../../../src/providers/context/overflow.ts'
import { verifies } from '../../verifies.ts'

/** In our own words; numbers as vendors name them: the limit, what the input takes, and what the answer may take. */
const said: [string, number | null, string, number | null, number | null, number?][] = [
  [
    'a limit and a sum',
    400,
    "This model's maximum context length is 100 tokens. However, your messages resulted in 150 tokens.",
    100,
    150,
  ],
  [
    'about',
    400,
    "This endpoint's maximum context length is 100 tokens. However, you requested about 150 tokens (140 of text input).",
    100,
    150,
  ],
  [
    'tokens a minute',
    429,
    'Request too large for m on tokens per min (TPM): Limit 100, Requested 150. Reduce it.',
    100,
    150,
  ],
  ['a size before its limit', 400, 'prompt is too long: 150 tokens > 100 maximum', 100, 150],
  [
    'with the answer',
    400,
    'input length and `max_tokens` exceed context limit: 60 + 64 > 100, decrease input length',
    100,
    60,
    64,
  ],
  [
    'a sum with the answer',
    400,
    "This model's maximum context length is 100 tokens. However, you requested 108 tokens (8 in the messages, 100 in the completion). Please reduce the length of the messages or completion.",
    100,
    8,
    100,
  ],
  [
    'a sum with tools and the answer',
    400,
    "This model's maximum context length is 100 tokens. However, you requested 150 tokens (60 in the messages, 20 in the functions, and 70 in the completion).",
    100,
    80,
    70,
  ],
  [
    'about, with the output',
    400,
    "This endpoint's maximum context length is 100 tokens. However, you requested about 150 tokens (60 of text input, 20 of tool input, 70 in the output).",
    100,
    80,
    70,
  ],
  [
    'the input alone',
    400,
    "This model's maximum context length is 100 tokens. However, your request has 150 input tokens. Please reduce the length of the input messages.",
    100,
    150,
  ],
  [
    'the answer first',
    400,
    "'max_tokens' or 'max_completion_tokens' is too large: 96. This model's maximum context length is 100 tokens and your request has 8 input tokens (96 > 100 - 8).",
    100,
    8,
    96,
  ],
  [
    'output tokens',
    400,
    "This model's maximum context length is 100 tokens. However, you requested 64 output tokens and your prompt contains 60 input tokens, for a total of 124 tokens.",
    100,
    60,
    64,
  ],
  [
    'output tokens, and input counted only as far as it matters',
    400,
    "This model's maximum context length is 100 tokens. However, you requested 64 output tokens and your prompt contains at least 37 input tokens, for a total of at least 101 tokens.",
    100,
    null,
    64,
  ],
  [
    'a count in brackets',
    400,
    'The input token count (150) exceeds the maximum number of tokens allowed (100).',
    100,
    150,
  ],
  ['no size', 400, 'The input token count exceeds the maximum number of tokens allowed 100.', 100, null],
  [
    'draft tokens',
    400,
    'Prompt contains 150 tokens and 0 draft tokens, too large for model with 100 maximum context length',
    100,
    150,
  ],
  ['a prompt length', 400, "This model's maximum prompt length is 100 but the request contains 150 tokens.", 100, 150],
  ['fields', 400, '{"error":{"type":"exceed_context_size_error","n_prompt_tokens":150,"n_ctx":100}}', 100, 150],
  [
    'a gateway',
    400,
    "Requested token count exceeds the model's maximum context length of 100 tokens. You requested a total of 150 tokens",
    100,
    150,
  ],
  [
    'a gateway, with the answer',
    400,
    "Requested token count exceeds the model's maximum context length of 100 tokens. You requested a total of 150 tokens: 80 tokens from the input messages and 70 tokens for the completion.",
    100,
    80,
    70,
  ],
  ['a token limit', 400, 'Invalid request: Your request exceeded model token limit: 100 (requested: 150)', 100, 150],
  ['a token limit alone', 400, 'Your request exceeded model token limit: 100', 100, null],
  ['a range', 400, '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 100]', 100, null],
  ['less than', 422, 'Input validation error: `inputs` must have less than 100 tokens. Given: 150', 100, 150],
  [
    'inputs and new tokens',
    422,
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 100. Given: 80 `inputs` tokens and 70 `max_new_tokens`',
    100,
    80,
    70,
  ],
  [
    'tokens to keep',
    400,
    'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 150 >= n_ctx: 100). Try to load the model with a larger context length, or provide a shorter input',
    100,
    150,
  ],
  [
    'the first tokens',
    null,
    'Trying to keep the first 150 tokens when context the overflows. However, the model is loaded with context length of only 100 tokens, which is not enough.',
    100,
    150,
  ],
  ['too many', 400, 'Too many input tokens.', null, null],
  ['a code alone', null, '{"code":"context_length_exceeded","message":"Too much."}', null, null],
  ['a window', 400, 'Your input exceeds the context window of this model.', null, null],
  ['no words', 413, '<html>Payload Too Large</html>', null, null],
]

describe('the words of vendors', () => {
  for (const [name, status, text, limit, size, answer = null] of said) {
    verifies('contract-19.overflow-words', `${name}: ${limit}, ${size}, ${answer}`, () => {
      expect(overflowIn(status, text)).toEqual({ limit, size, answer })
    })
  }
  test.each([
    [
      429,
      'Rate limit reached for m on tokens per min (TPM): Limit 100, Used 90, Requested 20. Please try again in 4ms.',
    ],
    [429, 'Request too large for m on tokens per min (TPM): Limit 100, Requested 90.'],
    [400, 'max_tokens is too large: 100000. This model supports at most 4096 completion tokens.'],
    [400, 'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens'],
    [429, '{"code":"insufficient_quota","message":"You exceeded your current quota"}'],
    [401, 'prompt is too long: 150 tokens > 100 maximum'],
    [400, "Unsupported parameter: 'temperature' is not supported with this model."],
    [429, 'Too many tokens per minute'],
    [429, 'litellm.RateLimitError: BedrockException - {"message":"Too many tokens, please wait before trying again."}'],
    [429, 'Too many tokens'],
    [400, 'Too many tokens, please wait before trying again.'],
  ])('%i %s is none', (status, text) => {
    expect(overflowIn(status, text)).toBeNull()
  })
})
