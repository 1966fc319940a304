/** What vendors and gateways really send around an answer (contract sections 19 and 25), in small examples of our own. */
import { describe, expect, test } from 'vitest'
import type { ModelEvent } from '../../src/actors/ports/index.ts'
import type { UpstreamCall } from '../support/network/upstream.ts'
import { verifies } from '../verifies.ts'
import { ask, connectionTo, failureIn, requestTo, scene, spoken } from './scene.ts'

/** Of one kind, joined: how a text is cut into events says nothing. */
const joined = (events: readonly ModelEvent[], type: 'text' | 'reasoning') =>
  events.map((event) => (event.type === type ? event.text : '')).join('')

const callsIn = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'tool_call' ? [[event.call.name, event.call.arguments]] : []))

async function answered(script: (call: UpstreamCall) => unknown, reasoning = true) {
  const { up, model } = await scene({ providerRetries: 0 })
  up.next(script)
  return ask(model, requestTo(up, { reasoning }))
}

const piece = (index: number, fields: object) => ({ tool_calls: [{ index, ...fields }] })

describe('reasoning', () => {
  verifies('contract-19.slips', 'think tags at the beginning are reasoning, however they are cut', async () => {
    for (const pieces of [
      ['<think>why</think>Because.'],
      ['<th', 'ink>w', 'hy</', 'think>Bec', 'ause.'],
      ['\n<think>why</think>Because.'],
    ]) {
      const events = await answered(async (call) => {
        for (const text of pieces) await call.text(text)
        await call.finish()
      })
      expect([joined(events, 'reasoning'), joined(events, 'text')]).toEqual(['why', 'Because.'])
    }
  })
  verifies(
    'contract-19.slips',
    'a think tag that is not closed is reasoning to the end; one within a text is text',
    async () => {
      const open = await answered(async (call) => {
        await call.text('<think>for ev')
        await call.text('er <')
        await call.finish('length')
      })
      expect([joined(open, 'reasoning'), joined(open, 'text')]).toEqual(['for ever <', ''])
      const within = await answered(async (call) => {
        await call.text('A tag: <think>')
        await call.finish()
      })
      expect([joined(within, 'reasoning'), joined(within, 'text')]).toEqual(['', 'A tag: <think>'])
      const start = await answered(async (call) => {
        await call.text('<thi')
        await call.finish()
      })
      expect(joined(start, 'text')).toBe('<thi')
    },
  )
  test('it is not shown as text where nobody asked for it', async () => {
    const events = await answered(async (call) => {
      await call.text('<think>why</think>Because.')
      await call.finish()
    }, false)
    expect([joined(events, 'reasoning'), joined(events, 'text')]).toEqual(['', 'Because.'])
  })
  verifies('contract-19.slips', 'it is read from parts of the content, and from details alone', async () => {
    const parts = await answered(async (call) => {
      await call.delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'why' }] }] })
      await call.delta({ content: [{ type: 'text', text: 'Because.' }] })
      await call.finish()
    })
    expect([joined(parts, 'reasoning'), joined(parts, 'text')]).toEqual(['why', 'Because.'])
    const details = await answered(async (call) => {
      await call.delta({ reasoning_details: [{ type: 'reasoning.text', text: 'why', index: 0 }] })
      await call.text('Because.')
      await call.finish()
    })
    expect(joined(details, 'reasoning')).toBe('why')
  })
})

describe('calls', () => {
  verifies('contract-19.slips', 'an empty function call is none', async () => {
    const events = await answered(async (call) => {
      await call.text('All done.')
      await call.delta({ function_call: { name: '', arguments: '' } }, 'stop')
      await call.finish('stop')
    })
    expect(callsIn(events)).toEqual([])
    expect(events.at(-1)).toMatchObject({ reason: 'stop' })
  })
  verifies('contract-19.slips', 'arguments mean one object: behind {}, once more, or null', async () => {
    for (const [sent, meant] of [
      ['{}{"a":"1"}', '{"a":"1"}'],
      ['{"a":"1"}{"a": "1"}', '{"a":"1"}'],
      ['null', '{}'],
      ['', '{}'],
      ['{"a":"1"}{"a":"2"}', '{"a":"1"}{"a":"2"}'],
      ['{"a"', '{"a"'],
    ]) {
      const events = await answered(async (call) => {
        await call.delta(piece(0, { id: 'c', function: { name: 'f', arguments: sent } }))
        await call.finish('tool_calls')
      })
      expect(callsIn(events)).toEqual([['f', meant]])
    }
  })
  verifies('contract-19.slips', 'arguments alone under the next index belong to the call before', async () => {
    const events = await answered(async (call) => {
      await call.delta(piece(0, { id: 'c', function: { name: 'f', arguments: '' } }))
      await call.delta(piece(1, { function: { arguments: '{"a":' } }))
      await call.delta(piece(1, { function: { arguments: '1}' } }))
      await call.finish('tool_calls')
    })
    expect(callsIn(events)).toEqual([['f', '{"a":1}']])
  })
})

describe('the end', () => {
  verifies('contract-19.slips', 'a whole answer without a finish reason is whole', async () => {
    const events = await answered((call) =>
      call.json({
        choices: [{ message: { role: 'assistant', content: 'Here.' } }],
        usage: { prompt_tokens: 1, completion_tokens: 1 },
      }),
    )
    expect(spoken(events)).toMatchObject([
      { type: 'text', text: 'Here.' },
      { type: 'end', reason: 'stop' },
    ])
  })
  verifies('contract-19.slips', 'a stream that ends with its usage and [DONE] alone is whole', async () => {
    const chunk = (fields: object) => ({ object: 'chat.completion.chunk', created: 0, id: '', model: 'm', ...fields })
    const delta = (content: string) => ({ content, refusal: '', role: 'assistant', tool_calls: null })
    const events = await answered(async (call) => {
      for (const content of ['4', ''])
        await call.data(
          chunk({ choices: [{ index: 0, delta: delta(content), logprobs: { content: null, refusal: null } }] }),
        )
      await call.data(chunk({ choices: [], usage: { prompt_tokens: 22, completion_tokens: 5, total_tokens: 27 } }))
      await call.data('[DONE]')
      call.end()
    })
    expect(joined(events, 'text')).toBe('4')
    expect(events.at(-1)).toEqual({ type: 'end', reason: 'stop', usage: { promptTokens: 22, completionTokens: 5 } })
  })
  verifies(
    'contract-19.slips',
    'text that stands beside the delta too is not told twice, null usage is none',
    async () => {
      const events = await answered(async (call) => {
        for (const content of ['Be', 'cause.']) {
          const choice = { index: 0, text: content, seed: null, delta: { token_id: 7, role: 'assistant', content } }
          await call.data({ choices: [{ ...choice, finish_reason: null }], usage: null })
        }
        await call.finish('stop', { prompt_tokens: 3, completion_tokens: 2 }, true)
      })
      expect(joined(events, 'text')).toBe('Because.')
      expect(events.at(-1)).toMatchObject({ usage: { promptTokens: 3, completionTokens: 2 } })
    },
  )
  verifies('contract-19.slips', 'a whole answer of thinking that the limit broke off has no text', async () => {
    const events = await answered((call) =>
      call.json({
        choices: [{ finish_reason: 'length', message: { role: 'assistant', content: '<think>\nHm', tool_calls: [] } }],
        usage: { prompt_tokens: 4, completion_tokens: 100 },
      }),
    )
    expect([joined(events, 'reasoning').trim(), joined(events, 'text')]).toEqual(['Hm', ''])
    expect(events.at(-1)).toMatchObject({ type: 'end', reason: 'length' })
  })
  verifies('contract-19.slips', "an unknown reason without text is an error with the provider's words", async () => {
    const events = await answered((call) => call.finish('quota_of_the_moon'))
    expect(failureIn(events)).toMatchObject({ message: expect.stringContaining('quota_of_the_moon') })
    const text = await answered(async (call) => {
      await call.text('Here.')
      await call.finish('quota_of_the_moon')
    })
    expect(text.at(-1)).toMatchObject({ type: 'end', reason: 'stop' })
  })
  verifies(
    'contract-25.done-is-done',
    'after a finish reason the turn is over, though the socket stays open',
    async () => {
      const { up, model } = await scene({ providerRetries: 0, idleTimeoutMs: 30_000 })
      up.next(async (call) => {
        await call.text('Here.')
        await call.delta({}, 'stop')
        await call.closed
      })
      expect((await ask(model, requestTo(up))).at(-1)).toMatchObject({ type: 'end', reason: 'stop' })
    },
  )
  verifies('contract-19.slips', 'an error behind status 200 is told in its words, and not asked again', async () => {
    for (const body of [
      { code: 400, message: 'no such thing' },
      { detail: 'no such thing' },
      { errors: [{ message: 'no such thing' }] },
    ]) {
      const { up, model } = await scene({ providerRetries: 2 })
      up.next((call) => call.json(body))
      up.next(async (call) => {
        await call.data(body)
        call.end()
      })
      for (let n = 1; n <= 2; n++) {
        expect(failureIn(await ask(model, requestTo(up))).message).toContain('no such thing')
        expect(up.calls).toHaveLength(n)
      }
    }
  })
})

verifies('contract-35.words', 'an error that says nothing, beside text, is none', async () => {
  for (const error of ['', ' ', null, false, 0, {}, [], { message: '', code: null, details: [] }]) {
    const events = await answered(async (call) => {
      await call.data({ choices: [{ index: 0, delta: { content: 'Good' } }], error })
      await call.data({ choices: [{ index: 0, delta: { content: '.' }, error }] })
      await call.finish()
    })
    expect([joined(events, 'text'), events.at(-1)?.type]).toEqual(['Good.', 'end'])
  }
})

verifies('contract-35.words', 'arguments beyond 1 MiB are told in words', async () => {
  const text = `{"a":"${'x'.repeat(600_000)}"}`
  const events = await answered(async (call) => {
    for (const index of [0, 1])
      await call.delta(piece(index, { id: `${index}`, function: { name: 'f', arguments: text } }))
    await call.finish('tool_calls')
  })
  expect(failureIn(events).message).toContain('tool arguments beyond 1 MiB')
})

describe('usage', () => {
  verifies('contract-19.usage', 'reasoning beside the completion counts, and details are kept', async () => {
    const events = await answered(async (call) => {
      await call.text('Here.')
      const details = { prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 5 } }
      const counts = { prompt_tokens: 100, completion_tokens: 1, total_tokens: 391, ...details }
      await call.finish('stop', { ...counts, completion_tokens_details: { reasoning_tokens: 290 } } as never)
    })
    expect(events.at(-1)).toEqual({
      type: 'end',
      reason: 'stop',
      usage: {
        ...{ promptTokens: 100, completionTokens: 291 },
        ...{ cachedTokens: 60, cacheWriteTokens: 5, reasoningTokens: 290 },
      },
    })
  })
})

verifies('contract-19.slips', 'why a filter took effect comes with the end', async () => {
  const events = await answered((call) =>
    call.json({
      choices: [
        {
          finish_reason: 'content_filter',
          content_filter_results: { hate: { filtered: true }, self_harm: { filtered: false } },
        },
      ],
    }),
  )
  expect(events.at(-1)).toMatchObject({ reason: 'content_filter', refusal: 'filtered for hate' })
})

verifies('contract-19.slips', 'ids of calls are short enough for OpenAI, the same for call and result', async () => {
  const { up, model } = await scene()
  up.always((call) => call.finish())
  const id = `call_${'x'.repeat(60)}`
  await ask(
    model,
    requestTo(up, {
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: '', toolCalls: [{ id, name: 'f', arguments: '{}' }] },
        { role: 'tool', toolCallId: id, content: 'r' },
      ],
    }),
  )
  const [, made, result] = (await up.call(1)).body.messages
  expect(made.tool_calls[0].id.length).toBeLessThanOrEqual(40)
  expect(result.tool_call_id).toBe(made.tool_calls[0].id)
})

verifies('contract-19.slips', 'Claude behind OpenRouter is told what to cache', async () => {
  const { up, model } = await scene()
  up.always((call) => call.finish())
  const provider = connectionTo(up.url, 'openrouter')
  await ask(model, requestTo(up, { provider, model: 'anthropic/claude-sonnet-4.6', system: 'Be kind.' }))
  await ask(model, requestTo(up, { provider, model: 'openai/gpt-4.1', system: 'Be kind.' }))
  const marked = (text: string) => [{ type: 'text', text, cache_control: { type: 'ephemeral' } }]
  expect((await up.call(1)).body.messages.map(({ content }: { content: unknown }) => content)).toEqual([
    marked('Be kind.'),
    marked('hi'),
  ])
  expect((await up.call(2)).body.messages[0].content).toBe('Be kind.')
})
