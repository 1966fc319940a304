/** How each provider is asked to go on behind a text that was interrupted (contract section 21). */
import { describe, expect } from 'vitest'
import type { ModelRequest } from '../../../src/actors/ports/index.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { verifies } from '../../verifies.ts'
import { startAnthropic, turn } from '../native/anthropic-server.ts'
import { requestFor, respond, text } from '../responses/scene.ts'
import { ask, connectionTo, failureIn, requestTo, scene, spoken, textOf } from '../scene.ts'

const before = 'The quick brown fox jumps over'
const messages: ModelRequest['messages'] = [
  { role: 'user', content: 'Tell!' },
  { role: 'assistant', content: before, isBeginning: true },
]
const told = [
  { role: 'user', content: 'Tell!' },
  { role: 'assistant', content: before },
  { role: 'user', content: expect.stringContaining('interrupted') },
]

const goesOn = async (call: UpstreamCall) => {
  await call.text(' the lazy dog.')
  await call.finish('stop')
}

const repeats = async (call: UpstreamCall) => {
  await call.text('brown fox jumps')
  await call.text(' over the lazy dog.')
  await call.finish('stop')
}

describe('with the text as the beginning of the answer', () => {
  verifies('contract-21.beginning', 'OpenRouter and Ollama take it as the last message', async () => {
    const { up, model } = await scene()
    up.always(goesOn)
    for (const type of ['openrouter', 'ollama']) {
      const events = await ask(model, requestTo(up, { provider: connectionTo(up.url, type), messages }))
      expect(textOf(events)).toBe(' the lazy dog.')
      expect(up.calls.at(-1)?.body.messages).toEqual([told[0], told[1]])
    }
  })

  verifies('contract-21.beginning', 'Mistral wants a mark, and its answer has the text in it', async () => {
    const { up, model } = await scene()
    up.always(async (call) => {
      await call.text('The quick')
      await call.text(' brown fox jumps over the')
      await call.text(' lazy dog.')
      await call.finish('stop')
    })
    const events = await ask(model, requestTo(up, { provider: connectionTo(up.url, 'mistral'), messages }))
    expect(textOf(events)).toBe(' the lazy dog.')
    expect(up.calls[0]?.body.messages.at(-1)).toEqual({ role: 'assistant', content: before, prefix: true })
  })

  verifies('contract-21.beginning', 'DeepSeek takes it at its beta API', async () => {
    const { up, model } = await scene()
    up.always(goesOn)
    await ask(model, requestTo(up, { provider: connectionTo(up.url, 'deepseek'), messages }))
    await ask(model, requestTo(up, { provider: connectionTo(up.url, 'deepseek') }))
    expect(up.calls.map(({ path }) => path)).toEqual(['/beta/chat/completions', '/v1/chat/completions'])
    expect(up.calls[0]?.body.messages.at(-1)).toEqual({ role: 'assistant', content: before, prefix: true })
  })

  verifies('contract-21.beginning', 'Anthropic takes it as the last message', async () => {
    await using up = await startAnthropic()
    const { model } = await scene()
    up.always((call) => call.raw(turn({ text: [' the lazy dog.'] })))
    const provider = connectionTo(up.base, 'anthropic')
    const events = await ask(model, requestTo(null, { provider, model: 'claude-sonnet-4-5', messages }))
    expect(textOf(events)).toBe(' the lazy dog.')
    const blocks = up.calls[0]?.body.messages.at(-1)
    expect(blocks).toEqual({ role: 'assistant', content: [{ type: 'text', text: before }] })
  })
})

describe('told in a last message', () => {
  verifies('contract-21.beginning', 'servers of unknown make are told, and what they repeat is left out', async () => {
    const { up, model } = await scene()
    up.always(repeats)
    const events = await ask(model, requestTo(up, { messages }))
    expect(textOf(events)).toBe(' the lazy dog.')
    expect(up.calls[0]?.body.messages).toEqual(told)
  })

  verifies('contract-21.beginning', 'so are models that think', async () => {
    const { up, model } = await scene()
    up.always(goesOn)
    const provider = connectionTo(up.url, 'openrouter')
    await ask(model, requestTo(up, { provider, messages, reasoning: true }))
    await ask(
      model,
      requestTo(up, { provider: connectionTo(up.url, 'deepseek'), model: 'deepseek-reasoner', messages }),
    )
    expect(up.calls.map(({ body }) => body.messages)).toEqual([told, told])
  })

  verifies(
    'contract-21.beginning',
    'a model that refuses the beginning is told at once, which is no retry, and from then on',
    async () => {
      const { up, model } = await scene({ providerRetries: 0 })
      up.always((call) => {
        if (call.body.messages.at(-1).role === 'user') return repeats(call)
        const message =
          'This model does not support assistant message prefill. The conversation must end with a user message.'
        return call.error(400, { error: { message } })
      })
      const request = requestTo(up, { provider: connectionTo(up.url, 'openrouter'), messages })
      for (let time = 0; time < 2; time++) expect(textOf(await ask(model, request))).toBe(' the lazy dog.')
      expect(up.calls.map(({ body }) => body.messages.length)).toEqual([2, 3, 3])
    },
  )

  verifies('contract-21.beginning', 'so is Claude behind OpenRouter where the text ends with a space', async () => {
    const { up, model } = await scene()
    up.always(goesOn)
    const spaced: ModelRequest['messages'] = [
      { role: 'user', content: 'Tell!' },
      { role: 'assistant', content: `${before} `, isBeginning: true },
    ]
    const provider = connectionTo(up.url, 'openrouter')
    for (const name of ['anthropic/claude-sonnet-4', 'other/model']) {
      await ask(model, requestTo(up, { provider, model: name, messages: spaced }))
    }
    await ask(model, requestTo(up, { provider, model: 'anthropic/claude-sonnet-4', messages }))
    expect(up.calls.map(({ body }) => body.messages.at(-1).role)).toEqual(['user', 'assistant', 'assistant'])
  })

  verifies('contract-21.beginning', 'so is whoever refuses a text that ends with a space', async () => {
    const { up, model } = await scene({ providerRetries: 0 })
    const raw =
      '{"type":"error","error":{"type":"invalid_request_error","message":"messages: final assistant content cannot end with trailing whitespace"}}'
    up.next((call) => call.error(400, { error: { message: 'Provider returned error', metadata: { raw } } }))
    up.always(goesOn)
    const provider = connectionTo(up.url, 'openrouter')
    expect(textOf(await ask(model, requestTo(up, { provider, messages })))).toBe(' the lazy dog.')
    expect(up.calls.at(-1)?.body.messages).toEqual(told)
  })

  verifies('contract-21.overlap', 'what waits is shown before a call, and at the end', async () => {
    const { up, model } = await scene()
    up.next(async (call) => {
      await call.text('brown fox jumps')
      await call.toolCall({ name: 'look', arguments: '{}' })
      await call.finish('tool_calls')
    })
    const events = spoken(await ask(model, requestTo(up, { messages })))
    expect(events.map(({ type }) => type)).toEqual(['text', 'tool_call', 'end'])
    expect(textOf(events)).toBe('brown fox jumps')
  })
})

verifies(
  'contract-10.no-second-call',
  'a model that has gone on is not asked again, whatever the error behind its text says',
  async () => {
    for (const error of [
      { code: 404, message: 'no such thing' },
      { code: 400, message: 'The conversation must end with a user message.' },
    ]) {
      const { up, model } = await scene({ providerRetries: 2 })
      up.always(async (call) => {
        await call.text(' the lazy dog.')
        await call.data({ error })
        call.end()
      })
      const request = requestTo(up, { provider: connectionTo(up.url, 'openrouter'), messages })
      const events = await ask(model, request)
      expect(textOf(events)).toBe(' the lazy dog.')
      expect(failureIn(events).message).toContain(error.message)
      expect(up.calls).toHaveLength(1)
    }
  },
)

verifies(
  'contract-19.responses-request',
  'a maximum of which less than 16 is left is 16 on the Responses API alone',
  async () => {
    const { up, model } = await scene()
    up.always((call) => (call.path.endsWith('/responses') ? respond(call, [text(' the lazy dog.')]) : goesOn(call)))
    const left = { messages, fields: { maxTokens: { name: 'max_tokens', value: 1 } } } as const
    await ask(model, requestFor(up, left))
    await ask(model, requestTo(up, left))
    expect(up.calls.map(({ body }) => body.max_output_tokens ?? body.max_tokens)).toEqual([16, 1])
  },
)
