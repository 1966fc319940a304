/** Silence and abort of a model call, and what it starts: contract section 1, PROVIDER_IDLE_TIMEOUT_S. */
import { getEventListeners, once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ModelEvent } from '../../src/actors/ports/index.ts'
import { heard } from '../support/streams/model-stream.ts'
import { open, vendors } from './native/native-scene.ts'
import { ask, failureIn, okay, requestTo, sayOk, scene, spoken, textOf } from './scene.ts'

describe('PROVIDER_IDLE_TIMEOUT_S', () => {
  test.each([
    ['no answer at all', () => {}],
    ['headers alone', (call: { open(): void }) => call.open()],
  ])('%s: provider_timeout, not tried again, the socket is closed', async (_, script) => {
    const { up, model } = await scene({ idleTimeoutMs: 1500 })
    up.always(script)
    expect(failureIn(await ask(model, requestTo(up))).code).toBe('provider_timeout')
    const call = await up.call(1)
    await call.closed
    expect(call.abandoned).toBe(true)
    expect(up.calls).toHaveLength(1)
  })

  test('silence within the text keeps the text', async () => {
    const { up, model } = await scene({ idleTimeoutMs: 3000 })
    up.next((call) => call.text('so far'))
    const events = await ask(model, requestTo(up))
    expect([textOf(events), failureIn(events).code]).toEqual(['so far', 'provider_timeout'])
    await (await up.call(1)).closed
  })

  test('bytes that make no event are silence', async () => {
    const { up, model } = await scene({ idleTimeoutMs: 60 })
    up.next(async (call) => {
      while (!call.abandoned) {
        await call.raw('d')
        await new Promise(setImmediate)
      }
    })
    expect(failureIn(await ask(model, requestTo(up))).code).toBe('provider_timeout')
  })

  test('time that the consumer takes is no silence of the provider', async () => {
    const { up, model } = await scene({ idleTimeoutMs: 2000 })
    up.next(sayOk)
    const events: ModelEvent[] = []
    for await (const event of heard(model, requestTo(up), new AbortController().signal)) {
      events.push(event)
      if (event.type === 'text') await new Promise((resolve) => setTimeout(resolve, 2300)) // a consumer slower than the limit
    }
    expect(spoken(events)).toEqual(okay)
  })

  test('it reaches the demo too', async () => {
    const { model } = await scene({ idleTimeoutMs: 300 })
    const events = await ask(model, requestTo(null, { messages: [{ role: 'user', content: '/hang' }] }))
    expect(failureIn(events).code).toBe('provider_timeout')
  })
})

/** How many threads the process starts while the test runs. */
async function sceneWithThreads() {
  let started = 0
  const note = () => {
    started += 1
  }
  process.on('worker', note)
  const { up, model } = await scene({}, { reportsUsage: false })
  onTestFinished(async () => {
    process.off('worker', note)
    await model[Symbol.asyncDispose]()
  })
  return { up, model, threads: () => started }
}

describe('the token counter', () => {
  test('starts while the demo speaks', async () => {
    const { model, threads } = await sceneWithThreads()
    const events = await ask(model, requestTo(null, { messages: [{ role: 'user', content: '/echo two words' }] }))
    expect(textOf(events)).toBe('two words')
    expect(threads()).toBe(1)
  })

  test('starts with the first text of a model that is not known to report usage', async () => {
    const { up, model, threads } = await sceneWithThreads()
    const started = once(process, 'worker')
    up.next(async (call) => {
      await call.text('ok')
      await started
      await call.finish('stop')
    })
    const unreported = { type: 'end', reason: 'stop', usage: null }
    expect(spoken(await ask(model, requestTo(up)))).toEqual([{ type: 'text', text: 'ok' }, unreported])
    expect(threads()).toBe(1)
  })

  test('is left alone where a turn begins with usage or announces it, or the one before ended with it', async () => {
    const { up, model, threads } = await sceneWithThreads()
    const usage = { prompt_tokens: 3, completion_tokens: 1 }
    up.next((call) => call.finish('stop', usage, true))
    up.next(async (call) => {
      await call.text('ok')
      await call.finish('stop', usage, true)
    })
    await ask(model, requestTo(up))
    await ask(model, requestTo(up))
    expect(threads()).toBe(0)
    up.next(async (call) => {
      await call.data({ choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: null }], usage: null })
      await call.finish('stop', usage)
    })
    await ask(model, requestTo(up, { model: 'announces' }))
    expect(threads()).toBe(0)
    const { up: anthropic, request } = await open('anthropic')
    anthropic.next(vendors.anthropic.tells({ text: ['ok'] }))
    await ask(model, request())
    expect(threads()).toBe(0)
  })
})

describe('abort', () => {
  test.each([
    ['before the answer', () => {}],
    ['within the text', (call: { text(t: string): unknown }) => call.text('some')],
  ])('%s: nothing more comes and the socket is closed', async (_, script) => {
    const { up, model } = await scene()
    up.always(script)
    const abort = new AbortController()
    const reading = (async () => {
      const seen: ModelEvent[] = []
      for await (const event of heard(model, requestTo(up), abort.signal)) seen.push(event)
      return seen
    })()
    const call = await up.call(1)
    abort.abort()
    expect((await reading).filter(({ type }) => type === 'end' || type === 'failed')).toEqual([])
    await call.closed
    expect(call.abandoned).toBe(true)
    expect(up.calls).toHaveLength(1)
  })

  test('before the start: no call is made', async () => {
    const { up, model } = await scene()
    expect(await ask(model, requestTo(up), AbortSignal.abort())).toEqual([])
    expect(up.requests).toEqual([])
  })

  test('a consumer that leaves closes the socket', async () => {
    const { up, model } = await scene()
    up.next((call) => call.text('some'))
    for await (const event of heard(model, requestTo(up), new AbortController().signal)) {
      if (event.type === 'text') break
    }
    const call = await up.call(1)
    await call.closed
    expect(call.abandoned).toBe(true)
  })

  test('many calls under one signal leave no listener and no timer', async () => {
    const { up, model } = await scene({ providerRetries: 1 })
    up.always((call) => (call.number % 3 === 0 ? call.error(500) : sayOk(call)))
    const { signal } = new AbortController()
    await ask(model, requestTo(up), signal) // what the pool keeps is there before and after
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    for (let i = 0; i < 40; i++) await ask(model, requestTo(up), signal)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    // One call's own are three; forty leaked ones would be 40 at least.
    expect(timers() - before).toBeLessThan(10)
  })
})

describe('back-pressure', () => {
  test('a consumer that stands still makes the provider stand still', async () => {
    const { up, model } = await scene()
    let written = 0
    const text = 'x'.repeat(64 * 1024)
    const enough = Promise.withResolvers<void>()
    up.next(async (call) => {
      while (!call.abandoned && written < 2000) {
        const flushed = call.text(text)
        written++
        const stalled = await Promise.race([flushed.then(() => false), new Promise((r) => setTimeout(r, 300, true))])
        if (stalled) break
      }
      enough.resolve()
    })
    for await (const event of heard(model, requestTo(up), new AbortController().signal)) {
      if (event.type !== 'text') continue
      await enough.promise
      break
    }
    expect(written).toBeLessThan(2000) // 128 MB were offered
  })
})
