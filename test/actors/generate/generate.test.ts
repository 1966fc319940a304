/** The generate loop (contract sections 1, 2, 3 and 6), with a scripted model and toolbox. */
import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { createGeneration } from '../../../src/actors/generate/generate.ts'
import type { MessagePart, Model, ModelEvent, ModelRequest } from '../../../src/actors/ports/index.ts'
import { verifies } from '../../verifies.ts'
import { ask, type Call, end, never, request, run, say, script, textOf } from './generation-scene.ts'

test('text passes as it comes, the ending is the model’s', async () => {
  const { events, ending, usage } = await run(script([say('a'), { type: 'activity' }, say('b'), end('length')]))
  expect(events).toEqual([
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ])
  expect(ending).toEqual({ type: 'finished', reason: 'length' })
  expect(usage).toEqual({ promptTokens: 1, completionTokens: 1, estimated: false })
})

verifies(
  'contract-4.clean-text',
  'a pair split over two deltas is joined, half a one at the end replaced',
  async () => {
    const { events } = await run(script([say('a\ud83d'), say('\ude00\0'), say('\ud83d'), end()]))
    expect(textOf(events)).toBe('a😀\ufffd\ufffd')
  },
)

describe('tools', () => {
  verifies(
    'contract-25.call-ids',
    'calls that share an id, or have none, are each made once under ids of their own',
    async () => {
      const made: [string, string][] = []
      const call: Call = async ({ id }, _signal, key) => {
        made.push([id, key])
        return { ok: true, content: `of ${id}` }
      }
      const turns = [
        [ask('c'), ask('c'), ask(''), end('tool_calls')],
        [ask('c_2'), ask('c'), ask(''), end('tool_calls')],
      ]
      const model = script(...turns, [say('done'), end()])
      const { events } = await run(model, { call })
      const ids = ['c', 'c_2', 'call', 'c_2_2', 'c_3', 'call_2']
      expect(made).toEqual(ids.map((id, index) => [id, `r:${index + 1}`]))
      const results = events.flatMap((event) => (event.type === 'tool_result' ? [[event.id, event.content]] : []))
      expect(results).toEqual(ids.map((id) => [id, `of ${id}`]))
      const told = model.requests
        .at(-1)
        ?.messages.flatMap((one) => (one.role === 'tool' ? [[one.toolCallId, one.content]] : []))
      expect(told).toEqual(results)
    },
  )

  verifies('contract-25.tool-pictures', 'what a tool shows is told to the model, and stored nowhere', async () => {
    const picture = (size: number): MessagePart => ({
      ...{ type: 'image_url', mediaType: 'image/png', filename: null, detail: null, sourceUrl: null, place: 0 },
      ...{ size, sha256: 'a'.repeat(64), async *read() {} },
    })
    const pictures = [picture(1), picture(20 * 2 ** 20), picture(2)]
    const model = script([ask('c'), end('tool_calls')], [say('done'), end()])
    const { events } = await run(model, { call: async () => ({ ok: true, content: 'text', pictures }) })
    const result = events.find(({ type }) => type === 'tool_result')
    expect(result).toEqual({ type: 'tool_result', id: 'c', ok: true, content: 'text', durationMs: expect.any(Number) })
    const told = model.requests[1]?.messages.at(-1)
    expect(told).toMatchObject({ role: 'tool', content: 'text', pictures: [{ size: 1 }, { size: 2 }] })
  })

  test('calls of one turn run side by side, results come as they are made, and the model is told in call order', async () => {
    const running: string[] = []
    const release = Promise.withResolvers<void>()
    const call: Call = async ({ id }) => {
      running.push(id)
      if (running.length === 2) release.resolve()
      await release.promise
      if (id === 'one') await new Promise((resolve) => setImmediate(resolve))
      return { ok: id === 'one', content: id }
    }
    const model = script([say('before '), ask('one'), ask('two'), end('tool_calls')], [say('after'), end()])
    const { events, ending } = await run(model, { call })
    expect(
      events.map((event) => ('text' in event ? event.text : `${event.type} ${'id' in event && event.id}`)),
    ).toEqual([...['before ', 'tool_call one', 'tool_call two', 'tool_result two', 'tool_result one', 'after']])
    expect(ending).toEqual({ type: 'finished', reason: 'stop' })
    expect(model.requests[1]?.messages.slice(1)).toMatchObject([
      { role: 'assistant', content: 'before ', toolCalls: [{ id: 'one' }, { id: 'two' }] },
      { role: 'tool', toolCallId: 'one', content: 'one' },
      { role: 'tool', toolCallId: 'two', content: 'two' },
    ])
  })

  test('maxToolCalls counts over the whole reply; then the model is asked once more without tools', async () => {
    let called = 0
    const call: Call = async () => ({ ok: true, content: String(++called) })
    const model = script([ask('a'), ask('b'), end('tool_calls')])
    const { ending } = await run(model, { config: { maxToolCalls: 3 }, call })
    expect(called).toBe(3)
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 1, 0])
    expect(ending).toEqual({ type: 'finished', reason: 'stop' })
  })

  test('maxToolCalls 0 offers no tools and calls none; absent means ten', async () => {
    let called = 0
    const call: Call = async () => ({ ok: true, content: String(++called) })
    const none = script([ask('a'), end('tool_calls')])
    await run(none, { config: { maxToolCalls: 0 }, call })
    expect([called, none.requests.map(({ tools }) => tools.length)]).toEqual([0, [0]])
    await run(script([ask('a'), end('tool_calls')]), { call })
    expect(called).toBe(10)
  })

  test('calls beyond the limit of a turn are not made; the model reads so', async () => {
    const model = script([ask('a'), ask('b'), end('tool_calls')], [say('done'), end()])
    const { events } = await run(model, { config: { maxToolCalls: 1 } })
    const results = events.filter((event) => event.type === 'tool_result')
    expect(results.toSorted((a, b) => a.id.localeCompare(b.id))).toMatchObject([
      { id: 'a', ok: true, content: 'result of a' },
      { id: 'b', ok: false, content: expect.stringContaining('limit') },
    ])
    expect(model.requests[1]).toMatchObject({ tools: [] })
  })

  test('a tool that fails or is unknown is told to the model, and the reply goes on', async () => {
    const call: Call = async ({ name }) => ({ ok: false, content: `There is no tool ${name}.\0` })
    const { events, ending } = await run(script([ask('a', 'made-up'), end('tool_calls')], [say('sorry'), end()]), {
      call,
    })
    expect(events.find(({ type }) => type === 'tool_result')).toMatchObject({
      ok: false,
      content: 'There is no tool made-up.\ufffd',
    })
    expect([textOf(events), ending]).toEqual(['||sorry', { type: 'finished', reason: 'stop' }])
  })

  test('the toolbox is opened once a reply, and not at all where no calls are allowed', async () => {
    let opened = 0
    const openToolbox = async () => {
      opened += 1
      return { tools: [], call: async () => ({ ok: true, content: '' }) }
    }
    const drain = async (config: ModelRequest['config']) => {
      const model = script([ask('a'), end('tool_calls')], [ask('b'), end('tool_calls')], [end()])
      const generation = createGeneration(
        { ...request, config },
        { replyId: 'r', model, openToolbox, timeoutMs: 60_000 },
      )
      await generation.run(never, () => undefined)
    }
    await drain({})
    expect(opened).toBe(1)
    await drain({ maxToolCalls: 0 })
    expect(opened).toBe(1)
  })

  test('usage is estimated as soon as one turn reports none, and keeps what was reported', async () => {
    const silent: ModelEvent = { type: 'end', reason: 'stop', usage: null }
    const { usage } = await run(script([say('12345'), ask('a'), end('tool_calls', 100)], [say('abc'), silent]))
    const prompt = 'sys'.length + 'hello'.length + '12345'.length + 'result of a'.length
    expect(usage).toEqual({ promptTokens: 100 + prompt, completionTokens: 100 + 3, estimated: true })
  })

  test('what a vendor wants back goes with the calls, as it came', async () => {
    const echo = {}
    const model = script([ask('a'), { type: 'end', reason: 'tool_calls', usage: null, echo }], [say('x'), end()])
    await run(model)
    const said = model.requests[1]?.messages.find(({ role }) => role === 'assistant')
    expect(said?.role === 'assistant' && said.echo).toBe(echo)
  })

  test('usage is summed over the turns; what was reported is not counted', async () => {
    const model = script([ask('a'), end('tool_calls', 10)], [say('x'), end('stop', 5)])
    const { usage } = await run(model)
    expect(usage).toEqual({ promptTokens: 15, completionTokens: 15, estimated: false })
    expect(model.counted).toEqual([])
  })

  test('turns without a report are counted together, each text once', async () => {
    const silent = (reason: 'stop' | 'tool_calls'): ModelEvent => ({ type: 'end', reason, usage: null })
    const model = script([say('12345'), ask('a'), silent('tool_calls')], [say('abc'), silent('stop')])
    const { usage } = await run(model)
    expect(model.counted.map((texts) => [...texts].sort())).toEqual([['12345', 'abc', 'hello', 'result of a', 'sys']])
    const first = 'sys'.length + 'hello'.length
    const second = first + '12345'.length + 'result of a'.length
    expect(usage).toEqual({ promptTokens: first + second, completionTokens: 5 + 3, estimated: true })
  })
})

describe('ends', () => {
  test('a failure is passed on with its words, and what was used is estimated', async () => {
    const failure = { code: 'provider_error', message: 'm', detail: 'd' } as const
    const { events, ending, usage } = await run(script([say('half'), { type: 'failed', failure }]))
    expect(textOf(events)).toBe('half')
    expect(ending).toEqual({ type: 'failed', error: failure })
    expect(usage).toEqual({ promptTokens: 'sys'.length + 'hello'.length, completionTokens: 4, estimated: true })
  })

  test('of a turn that broke off, what the provider has counted goes before the estimate', async () => {
    const failed = { type: 'failed', failure: { code: 'provider_error', message: 'm', detail: 'd' } } as const
    const counted = (promptTokens: number, completionTokens: number): ModelEvent => ({
      type: 'usage',
      usage: { promptTokens, completionTokens },
    })
    const { usage } = await run(script([counted(70, 1), say('half'), failed]))
    expect(usage).toEqual({ promptTokens: 70, completionTokens: 4, estimated: true })
    const more = await run(script([counted(70, 1), counted(70, 90), say('half'), failed]))
    expect(more.usage).toEqual({ promptTokens: 70, completionTokens: 90, estimated: true })
    const whole = await run(script([counted(70, 1), say('all'), end('stop', 5)]))
    expect(whole.usage).toEqual({ promptTokens: 5, completionTokens: 5, estimated: false })
    const read: ModelEvent = { type: 'usage', usage: { promptTokens: 70, completionTokens: 9, cachedTokens: 60 } }
    expect((await run(script([read, say('half'), failed]))).usage).toMatchObject({ cachedTokens: 60 })
  })

  test('a model that ends without an end is a fault', async () => {
    expect((await run(script([say('a')]))).ending).toMatchObject({ type: 'failed', error: { code: 'internal' } })
  })

  verifies('contract-1.timeouts', 'the whole reply has a limit: provider_timeout, text before it stays', async () => {
    const { events, ending } = await run(script([say('a'), 'hang']), { timeoutMs: 20 })
    expect(textOf(events)).toBe('a')
    expect(ending).toMatchObject({ type: 'failed', error: { code: 'provider_timeout' } })
  })

  verifies(
    'contract-1.timeouts',
    'the limit holds while tools are opened, and while a tool lets nobody go',
    async () => {
      const stuck = new Promise<never>(() => {})
      const timedOut = { type: 'failed', error: { code: 'provider_timeout' } }
      const { ending } = await run(script([ask('a'), end('tool_calls')]), { call: () => stuck, timeoutMs: 20 })
      expect(ending).toMatchObject(timedOut)
      const model = script([end()])
      const generation = createGeneration(request, { replyId: 'r', model, openToolbox: () => stuck, timeoutMs: 20 })
      expect(await generation.run(never, () => undefined)).toMatchObject(timedOut)
      expect(model.requests).toEqual([])
    },
  )

  test('a fault of the model or of the toolbox is thrown, not taken for a time-out', async () => {
    const broken: Model = {
      countTokens: async () => [],
      stream() {
        throw new Error('a fault')
      },
    }
    await expect(run(broken)).rejects.toThrow('a fault')
    await expect(
      run(script([ask('a'), end('tool_calls')]), { call: () => Promise.reject(new Error('b')) }),
    ).rejects.toThrow('b')
  })

  test('a signal that has aborted already asks no model, and leaves no listener behind', async () => {
    const model = script([say('a'), end()])
    await expect(run(model, { signal: AbortSignal.abort() })).rejects.toThrow()
    expect(model.requests).toEqual([])
    const controller = new AbortController()
    await run(model, { signal: controller.signal })
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  test('an abort stops the model, and running tools', async () => {
    const controller = new AbortController()
    let stopped = false
    const call: Call = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          stopped = true
          reject(new Error('aborted'))
        })
        queueMicrotask(() => controller.abort())
      })
    await run(script([ask('a'), end('tool_calls')]), { call, signal: controller.signal }).catch(() => {})
    expect(stopped).toBe(true)
  })

  test('where there is no room, the model waits', async () => {
    const room = Promise.withResolvers<void>()
    const taken: string[] = []
    const generation = createGeneration(request, {
      replyId: 'r',
      model: script([say('a'), say('b'), end()]),
      openToolbox: async () => ({ tools: [], call: async () => ({ ok: false, content: '' }) }),
      timeoutMs: 1000,
    })
    const ending = generation.run(never, (events) => {
      taken.push(textOf([...events]))
      return taken.length === 1 ? room.promise : undefined
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(taken).toEqual(['a'])
    room.resolve()
    expect(await ending).toEqual({ type: 'finished', reason: 'stop' })
    expect(taken).toEqual(['a', 'b'])
  })
})
