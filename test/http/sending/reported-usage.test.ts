/** Contract section 19: what a provider reports of its tokens, wherever it is shown, and what it says of its refusals. */
import { afterAll, beforeEach, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'

const scene = await openScene()
afterAll(scene.close)

const usage = {
  prompt_tokens: 100,
  completion_tokens: 30,
  prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 20 },
}
const told = {
  prompt_tokens: 100,
  completion_tokens: 30,
  total_tokens: 130,
  prompt_tokens_details: { cached_tokens: 60 },
  completion_tokens_details: { reasoning_tokens: 20 },
}

let sessionId = ''
beforeEach(async () => {
  scene.says(['Fine.'], { usage })
  sessionId = await scene.newSession()
})

const shown = async () =>
  (await scene.call('GET', `${scene.agent}/playground/sessions/${sessionId}/messages`)).json.messages.at(-1)
const usageIn = (frames: readonly { data: string }[]) =>
  frames.flatMap(({ data }) => (data.startsWith('{') ? (JSON.parse(data).usage ?? []) : []))

verifies('contract-19.usage', 'cached and reasoning tokens come whole, streamed and resumed', async () => {
  expect((await scene.send(sessionId, 'Hello')).json.usage).toEqual(told)
  expect((await scene.stateless([{ role: 'user', content: 'Hello' }])).json.usage).toEqual(told)
  const extra = { stream_options: { include_usage: true } }
  const streamed = await (await scene.stream(sessionId, 'Hello', extra)).rest()
  expect(usageIn(streamed.frames)).toEqual([told])
  const resumed = await (await scene.resume(sessionId, 0)).rest()
  expect(usageIn(resumed.frames)).toEqual([told])
})

verifies('contract-19.usage', 'the playground and the sums add them, with what the cache was written', async () => {
  await scene.call('PUT', scene.agent, { model: 'of-sums' })
  await scene.send(sessionId, 'Hello')
  const added = { cachedTokens: 60, cacheWriteTokens: 10, reasoningTokens: 20 }
  expect((await shown()).usage).toMatchObject(added)
  const row = async () => {
    const { rows } = (await scene.call('GET', '/api/v1/usage?groupBy=model')).json
    return rows.find(({ key }: { key: string }) => key === 'of-sums')
  }
  await expect.poll(row).toMatchObject({ promptTokens: 100, completionTokens: 30, ...added })
})

verifies('contract-19.slips', 'a refusal and a filter’s words are kept with the message, else null', async () => {
  await scene.send(sessionId, 'Hello')
  expect(await shown()).toMatchObject({ content: 'Fine.', refusal: null })
  scene.up.next(async (call) => {
    await call.delta({ refusal: 'Not that.' })
    await call.finish()
  })
  await scene.send(sessionId, 'Do harm!')
  expect(await shown()).toMatchObject({ content: 'Not that.', refusal: 'Not that.' })
})

verifies('contract-19.too-long', 'streamed, such an end is the error chunk, and nothing is sent again', async () => {
  scene.up.always((call) => call.error(400, { error: { message: 'prompt is too long' } }))
  const before = scene.up.calls.length
  for (const stream of [await scene.stream(sessionId, 'Hello'), await scene.statelessStream('Hello')]) {
    const { frames, broken } = await stream.rest()
    expect([stream.status, broken]).toEqual([200, false])
    const errors = frames.flatMap(({ data }) => (data.startsWith('{') ? (JSON.parse(data).error ?? []) : []))
    expect(errors).toMatchObject([{ code: 'context_length_exceeded', message: expect.stringContaining('too long') }])
  }
  expect(scene.up.calls).toHaveLength(before + 2)
})

verifies(
  'contract-19.budget',
  'what a named limit left out is told as such, and is left out from then on',
  async () => {
    await scene.call('PUT', scene.agent, { model: 'of-300' })
    const words = (name: string) => `${name} ${'some words '.repeat(30)}`
    for (let n = 0; n < 8; n++) await scene.send(sessionId, words(`question-${n}`))
    const sizes = () => scene.up.calls.at(-1)?.body.messages.length
    expect(sizes()).toBe(15)
    scene.up.next((call) =>
      call.error(400, {
        error: {
          message: "This model's maximum context length is 300 tokens. However, your messages resulted in 900.",
        },
      }),
    )
    const leftOf = async () => {
      const { id } = (await scene.messages(sessionId)).at(-1)
      return (await scene.call('GET', `/api/v1/debug/replies/${id}/requests`)).json.requests.at(-1)?.left
    }
    for (let n = 0; n < 2; n++) {
      const before = scene.up.calls.length
      await scene.send(sessionId, words(`later-${n}`))
      expect(scene.up.calls.length - before).toBe(n === 0 ? 2 : 1)
      expect(sizes()).toBeLessThan(15)
      await expect.poll(leftOf).toMatchObject({ messages: expect.any(Number), reason: 'provider_limit' })
    }
  },
)

verifies('contract-19.budget', 'prompt and definitions of tools take of the budget', async () => {
  await scene.call('PUT', scene.agent, { model: 'test-model', historyMaxTokens: 1000 })
  const longest = async (changes: object, extra: object) => {
    const id = await scene.newSession()
    await scene.call('PUT', scene.agent, { systemPrompt: null, ...changes })
    let most = 0
    for (let n = 0; n < 12; n++) {
      await scene.send(id, `question ${'some words '.repeat(60)}`, extra)
      most = Math.max(
        most,
        scene.up.calls.at(-1)?.body.messages.filter(({ role }: { role: string }) => role === 'user').length,
      )
    }
    return most
  }
  const text = 'some words '.repeat(300)
  const tools = [{ type: 'function', function: { name: 'f', description: text, parameters: { type: 'object' } } }]
  const alone = await longest({}, {})
  expect(await longest({ systemPrompt: text }, {})).toBeLessThan(alone)
  expect(await longest({}, { tools })).toBeLessThan(alone)
})
