/** What a provider refuses, what a model is known to refuse, and what an agent asks for itself (contract section 19). */
import { describe, expect } from 'vitest'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { verifies } from '../../verifies.ts'
import { ask, connectionTo, failureIn, requestTo, scene } from '../scene.ts'
import { answered, calling, done, requestFor, respond, text, thinking, tool } from './scene.ts'

describe('what a provider refuses', () => {
  verifies(
    'contract-19.optional-fields',
    'an optional field is asked for once more without it, which is no retry, and is remembered for provider and model',
    async () => {
      const { up, model } = await scene({ providerRetries: 0 })
      const refuse = (call: UpstreamCall, message: string) => call.error(400, { error: { message } })
      up.always((call) => {
        if (call.body.reasoning?.summary)
          return refuse(call, 'Your organization must be verified to generate summaries.')
        if (call.body.include) return refuse(call, 'Encrypted content is not supported with this model.')
        return respond(call, [text('ok')])
      })
      const request = requestFor(up, { reasoning: true, fields: { reasoningEffort: 'low' } })
      for (let time = 0; time < 2; time++) expect((await ask(model, request)).at(-1)).toMatchObject({ type: 'end' })
      expect(up.calls.map(({ body }) => [body.reasoning, body.include !== undefined])).toEqual([
        [{ effort: 'low', summary: 'auto' }, true],
        [{ effort: 'low' }, true],
        [{ effort: 'low' }, false],
        [{ effort: 'low' }, false],
      ])
      await ask(model, { ...request, model: 'gpt-5.4' })
      expect(up.calls).toHaveLength(7)
    },
  )

  verifies(
    ['contract-19.optional-fields', 'contract-19.responses-items-back'],
    'a provider that refuses reasoning is sent the texts and calls of the turn without it, and without their ids',
    async () => {
      const { up, model } = await scene({ providerRetries: 0 })
      const content = [{ type: 'output_text', text: 'I look.', annotations: [] }]
      const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }
      up.next((call) => respond(call, [done(0, thinking), done(1, message), done(2, calling)]))
      const messages = answered([{ role: 'user', content: 'q' }], await ask(model, requestFor(up, { tools: [tool] })))
      const refusal = { error: { message: 'Encrypted content is not supported with this model.' } }
      up.always((call) => (call.body.include ? call.error(400, refusal) : respond(call, [text('ok')])))
      await ask(model, requestFor(up, { tools: [tool], messages }))
      const { id: _, ...plain } = calling
      expect((await up.call(3)).body.input).toEqual([
        { type: 'message', role: 'user', content: 'q' },
        { type: 'message', role: 'assistant', content: 'I look.' },
        plain,
        { type: 'function_call_output', call_id: 'call_1', output: 'of call_1' },
      ])
    },
  )

  verifies(
    'contract-19.tools-beside-effort',
    'chat completions: tools that are refused beside an effort that nobody named are asked for with none',
    async () => {
      const { up, model } = await scene({ providerRetries: 0 })
      up.always((call) => {
        const { tools, reasoning_effort: effort } = call.body
        if (!tools || effort === 'none') return call.finish()
        const message =
          "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'."
        return call.error(400, { error: { message, param: 'reasoning_effort' } })
      })
      const request = requestTo(up, { provider: connectionTo(up.url, 'openai'), model: 'gpt-5.6' })
      const high = { fields: { reasoningEffort: 'high' } } as const
      await ask(model, { ...request, tools: [tool] })
      await ask(model, { ...request, tools: [tool] })
      await ask(model, { ...request, ...high })
      expect(up.calls.map(({ body }) => body.reasoning_effort)).toEqual([undefined, 'none', 'none', 'high'])
      // One that the request or the agent names is never replaced.
      for (const named of [high, { agentFields: { reasoningEffort: 'low' } } as const]) {
        const { message } = failureIn(await ask(model, { ...request, tools: [tool], ...named }))
        expect(message).toContain('use /v1/responses')
      }
      expect(up.calls.slice(4).map(({ body }) => body.reasoning_effort)).toEqual(['high', 'low'])
    },
  )

  verifies(
    'contract-19.optional-fields',
    'it is remembered for the retries too: where the call without it fails in another way',
    async () => {
      const { up, model } = await scene({ providerRetries: 2 })
      let failures = 2
      up.always((call) => {
        if (call.body.stream_options) return call.error(400, { error: { message: 'stream_options: unknown field' } })
        return failures-- > 0 ? call.error(500) : call.finish()
      })
      expect((await ask(model, requestTo(up))).at(-1)).toMatchObject({ type: 'end' })
      expect(up.calls.map(({ body }) => 'stream_options' in body)).toEqual([true, false, false, false])
    },
  )

  verifies(
    'contract-19.optional-fields',
    "Anthropic: reasoning and the answer's limit of ours are remembered for the retries too",
    async () => {
      const { up, model } = await scene({ providerRetries: 1 })
      let failures = 1
      up.always((call) => {
        const { thinking, max_tokens: most } = call.body
        if (most > 4096) return call.error(400, { error: { message: `max_tokens: ${most} > 4096, which is the most` } })
        if (thinking) return call.error(400, { error: { message: 'thinking is not supported' } })
        return failures-- > 0 ? call.error(529) : call.error(401)
      })
      const request = requestTo(up, { provider: connectionTo(up.url, 'anthropic'), reasoning: true })
      failureIn(await ask(model, { ...request, model: 'claude-sonnet-4-5' }))
      expect(up.calls.map(({ body }) => [body.max_tokens, body.thinking !== undefined])).toEqual([
        [64_000, true],
        [64_000, false],
        [4096, false],
        [4096, false],
      ])
    },
  )
})

verifies(
  'contract-19.sampling-left-out',
  'sampling that reasoning models refuse is left out on chat completions too',
  async () => {
    const { up, model } = await scene()
    up.always((call) => call.finish())
    const config = { temperature: 0.4, topP: 0.9, topK: 5 }
    for (const name of ['gpt-5-mini', 'o3', 'openai/gpt-5.2', 'gpt-4.1', 'gpt-5-chat-latest', 'gpt-oss-20b']) {
      await ask(model, requestTo(up, { model: name, config }))
    }
    expect(up.calls.map(({ body }) => [body.model, body.temperature, body.top_p, body.top_k])).toEqual([
      ['gpt-5-mini', undefined, undefined, undefined],
      ['o3', undefined, undefined, undefined],
      ['openai/gpt-5.2', undefined, undefined, undefined],
      ['gpt-4.1', 0.4, 0.9, 5],
      ['gpt-5-chat-latest', 0.4, 0.9, 5],
      ['gpt-oss-20b', 0.4, 0.9, 5],
    ])
  },
)

verifies(
  'contract-19.agent-fields',
  "the agent's effort and limit are sent, a request's own win, a fallback that does not take one is asked without it",
  async () => {
    const { up, model } = await scene({ providerRetries: 0 })
    up.next((call) => call.error(503))
    up.always((call) => call.finish())
    const agentFields = { maxTokens: 500, reasoningEffort: 'xhigh' } as const
    const fallbacks = [{ provider: { ...connectionTo(up.url, 'mistral'), id: 'p2' }, model: 'mistral-large' }]
    await ask(model, requestTo(up, { agentFields, fallbacks }))
    await ask(model, requestTo(up, { agentFields, fields: { maxTokens: { name: 'max_tokens', value: 9 } } }))
    expect(up.calls.map(({ body }) => [body.max_tokens, body.reasoning_effort])).toEqual([
      [500, 'xhigh'],
      [500, undefined],
      [9, 'xhigh'],
    ])
  },
)
