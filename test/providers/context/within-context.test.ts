/** Contract section 19: a conversation that is too long for its model. */
import { describe, expect } from 'vitest'
import { correctionOf } from '../../../src/actors/history/estimate.ts'
import type { ModelMessage, ModelRequest, Shortening } from '../../../src/actors/ports/index.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { verifies } from '../../verifies.ts'
import { ask, connectionTo, failureIn, requestTo, sayOk, scene } from '../scene.ts'

/** Turns of a token each, before the newest message. */
const turns = (count: number): ModelMessage[] =>
  Array.from({ length: count }, (_, index): ModelMessage => ({ role: 'user', content: `${index}` }))

const newest: ModelMessage = { role: 'user', content: 'newest' }

function withTurns(count: number): Pick<ModelRequest, 'messages' | 'shortening'> {
  const shortening: Shortening = {
    tokens: count + 1,
    historyTokens: count,
    correction: (counted) => correctionOf({ estimated: count + 1, reported: counted }),
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

describe('a conversation that is refused the second time too is asked for no more', () => {
  const outcomeOf = async (words: string, changes: Partial<ModelRequest>) => {
    const { up, model } = await scene({ providerRetries: 2 })
    up.always((call) => call.error(400, { error: { message: words } }))
    const request = requestTo(up, { ...withTurns(10), ...changes })
    const provider = { ...request.provider, ...changes.provider, baseUrl: up.url }
    return { code: failureIn(await ask(model, { ...request, provider })).code, calls: up.calls }
  }
  const openai = { ...connectionTo(null, 'openai'), wireApi: 'responses' } as const
  const anthropic = { provider: connectionTo(null, 'anthropic'), model: 'claude-sonnet-4-5' }

  verifies('contract-19.too-long', "on OpenAI's Responses API, whatever its words name", async () => {
    const words = 'Your input exceeds the context window of this model. Please include less, or send a summary.'
    const { code, calls } = await outcomeOf(words, { provider: openai, model: 'gpt-5.6', reasoning: true })
    expect([code, calls.map(({ body }) => body.input.length)]).toEqual(['context_length_exceeded', [11, 6]])
  })

  verifies('contract-19.too-long', 'on Anthropic, with reasoning', async () => {
    const { code, calls } = await outcomeOf('prompt is too long', { ...anthropic, reasoning: true })
    expect(code).toBe('context_length_exceeded')
    expect(calls.map(({ body }) => body.thinking !== undefined)).toEqual([true, true])
  })

  verifies(
    'contract-19.too-long',
    'on Anthropic, where the answer counts: a limit of ours gives way first',
    async () => {
      const words = 'input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000, decrease it'
      const { code, calls } = await outcomeOf(words, anthropic)
      expect(code).toBe('context_length_exceeded')
      expect(calls.map(({ body }) => body.max_tokens)).toEqual([64_000, 10_000])
      const full = words.replace('190000', '199500')
      const { calls: shorter } = await outcomeOf(full, anthropic)
      expect(shorter.map(({ body }) => body.max_tokens)).toEqual([64_000, 64_000])
      const own = await outcomeOf(words, { ...anthropic, ...answering(64_000) })
      expect(own.calls.map(({ body }) => body.max_tokens)).toEqual([64_000, 64_000])
    },
  )
})

verifies('contract-19.too-long', 'too many tokens for now are waited for, and the history stays whole', async () => {
  const { up, model } = await scene({ providerRetries: 1 })
  up.next((call) => call.error(429, { error: { message: 'Too many tokens, please wait before trying again.' } }))
  up.always(sayOk)
  expect((await ask(model, requestTo(up, withTurns(10)))).at(-1)).toMatchObject({ type: 'end' })
  expect(sizes(up.calls)).toEqual([11, 11])
})

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
    await ask(model, { ...request, provider: { ...request.provider, id: 'another' } })
    expect([sizes(up.calls).at(3), sizes(up.calls).at(5)]).toEqual([21, 21])
  },
)

verifies('contract-19.named-limit', 'so is one that is named when half of the history is refused', async () => {
  const { up, model } = await scene({ providerRetries: 0 })
  up.next((call) => call.error(400, { error: { message: 'prompt is too long' } }))
  up.next((call) => call.error(400, { error: { message: 'prompt is too long: 11 tokens > 10 maximum' } }))
  up.always(sayOk)
  const request = requestTo(up, withTurns(20))
  expect(failureIn(await ask(model, request)).code).toBe('context_length_exceeded')
  await ask(model, request)
  expect(sizes(up.calls)).toEqual([21, 11, 9])
})

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
