/** Contract section 19: a conversation that is too long for its model, as providers say it. */
import { describe, expect, test } from 'vitest'
import type { ModelMessage, ModelRequest, Shortening } from '../../src/actors/ports/index.ts'
import { overflowIn } from '../../src/providers/context/overflow.ts'
import type { UpstreamCall } from '../support/network/upstream.ts'
import { verifies } from '../verifies.ts'
import { ask, connectionTo, failureIn, requestTo, sayOk, scene } from './scene.ts'

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
  ])('%i %s is none', (status, text) => {
    expect(overflowIn(status, text)).toBeNull()
  })
})

/** Turns of a token each, before the newest message. */
const turns = (count: number): ModelMessage[] =>
  Array.from({ length: count }, (_, index): ModelMessage => ({ role: 'user', content: `${index}` }))

const newest: ModelMessage = { role: 'user', content: 'newest' }

function withTurns(count: number): Pick<ModelRequest, 'messages' | 'shortening'> {
  const shortening: Shortening = {
    tokens: count + 1,
    historyTokens: count,
    to: (tokens) => (Math.floor(tokens) < count ? withTurns(Math.max(0, Math.floor(tokens))) : null),
  }
  return { messages: [...turns(1000).slice(1000 - count), newest], shortening }
}

const refuseAbove = (most: number, message: string) => (call: UpstreamCall) =>
  call.body.messages.length > most ? call.error(400, { error: { message } }) : sayOk(call)

const sizes = (calls: readonly UpstreamCall[]) => calls.map(({ body }) => body.messages.length)

verifies(
  'contract-19.too-long',
  'half the history is sent once more, which is no retry, then the next fallback is asked with all of it',
  async () => {
    const { up, model } = await scene({ providerRetries: 0 })
    up.always(refuseAbove(6, 'Your input exceeds the context window of this model.'))
    const request = requestTo(up, withTurns(10))
    expect((await ask(model, request)).at(-1)).toMatchObject({ type: 'end' })
    expect(sizes(up.calls)).toEqual([11, 6])

    const fallbacks = [{ provider: { ...connectionTo(up.url), id: 'p2' }, model: 'large' }]
    up.always((call) => (call.body.model === 'large' ? sayOk(call) : refuseAbove(2, 'prompt is too long')(call)))
    expect((await ask(model, { ...request, fallbacks })).at(-1)).toMatchObject({ type: 'end' })
    expect(sizes(up.calls.slice(2))).toEqual([11, 6, 11])
  },
)

verifies('contract-19.too-long', 'where nothing can be left out it is asked once, and ends as too long', async () => {
  const { up, model } = await scene({ providerRetries: 2 })
  up.always((call) =>
    call.error(429, { error: { message: 'Request too large for m on tokens per min (TPM): Limit 3, Requested 9' } }),
  )
  expect(failureIn(await ask(model, requestTo(up)))).toMatchObject({
    code: 'context_length_exceeded',
    message: expect.stringContaining('Request too large'),
  })
  expect(up.calls).toHaveLength(1)
})

verifies(
  'contract-19.named-limit',
  'a named limit is respected at once, and from then on, for that provider and model alone',
  async () => {
    const { up, model } = await scene({ providerRetries: 0 })
    up.always((call) => {
      const size = call.body.messages.length
      const message = `This model's maximum context length is 4 tokens. However, your messages resulted in ${size} tokens.`
      return size > 4 ? call.error(400, { error: { message } }) : sayOk(call)
    })
    const request = requestTo(up, withTurns(20))
    for (let time = 0; time < 2; time++) expect((await ask(model, request)).at(-1)).toMatchObject({ type: 'end' })
    expect(up.calls.map(({ body }) => body.messages.length <= 4)).toEqual([false, true, true])
    await ask(model, { ...request, model: 'another' })
    expect(sizes(up.calls).at(3)).toBe(21)
  },
)

const answering = (value: number): Pick<ModelRequest, 'fields'> => ({
  fields: { maxTokens: { name: 'max_tokens', value } },
})

/** A server that counts the answer towards its limit, a token a message. */
const refuseSumAbove = (limit: number) => (call: UpstreamCall) => {
  const { messages, max_tokens: answer = 0 } = call.body
  const message = `This model's maximum context length is ${limit} tokens. However, you requested ${messages.length + answer} tokens (${messages.length} in the messages, ${answer} in the completion).`
  return messages.length + answer > limit ? call.error(400, { error: { message } }) : sayOk(call)
}

verifies(
  'contract-19.named-limit',
  'an answer for which the limit leaves no input is refused with the whole history, and costs no other request any of it',
  async () => {
    const { up, model } = await scene({ providerRetries: 2 })
    up.always(refuseSumAbove(16))
    const request = requestTo(up, withTurns(10))
    for (let time = 0; time < 2; time++) {
      expect(failureIn(await ask(model, { ...request, ...answering(16) }))).toMatchObject({
        code: 'context_length_exceeded',
        message: expect.stringContaining('16 in the completion'),
      })
    }
    expect(sizes(up.calls)).toEqual([11, 11])
    expect((await ask(model, request)).at(-1)).toMatchObject({ type: 'end' })
    expect(sizes(up.calls.slice(2))).toEqual([11])
  },
)

verifies('contract-19.named-limit', 'it leaves room for the answer, which is counted once', async () => {
  const { up, model } = await scene({ providerRetries: 0 })
  up.always(refuseSumAbove(30))
  const request = requestTo(up, { ...withTurns(20), ...answering(20) })
  for (let time = 0; time < 2; time++) expect((await ask(model, request)).at(-1)).toMatchObject({ type: 'end' })
  expect(sizes(up.calls)).toEqual([21, 9, 9])
})

verifies(
  'contract-19.named-limit',
  'how far off the estimate of one request was decides nothing about the next one',
  async () => {
    const { up, model } = await scene({ providerRetries: 0 })
    const message = "This model's maximum context length is 30 tokens. However, your messages resulted in 9000 tokens."
    up.next((call) => call.error(400, { error: { message } }))
    up.always(sayOk)
    const request = requestTo(up, withTurns(20))
    await ask(model, request)
    await ask(model, request)
    // A correction is 3 at the most.
    expect(sizes(up.calls)).toEqual([21, 9, 21])
  },
)
