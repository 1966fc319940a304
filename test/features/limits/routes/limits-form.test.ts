/**
 * The form of a 429, by surface and limit: `{error: string}` below deploy (contract sections 2 and 23), OpenAI's object
 * on the Responses API (section 24).
 */
import { afterAll, beforeAll, expect } from 'vitest'
import type { Limits } from '../../../../src/actors/ports/index.ts'
import type { Answer } from '../../../http/scene.ts'
import { verifies } from '../../../verifies.ts'
import { type LimitScene, openLimitScene, say, surfaces } from './limit-scene.ts'

let scene: LimitScene
beforeAll(async () => {
  scene = await openLimitScene()
  const prices = [{ model: 'test-model', prompt: 1_000_000, completion: 1_000_000 }]
  await scene.manage('PUT', '/api/v1/settings/prices', { currency: '$', prices })
})
afterAll(() => scene.close())

/** Every request that is judged by limits, beside those that the scene has: streamed ones, and a summary. */
const judged = (): Record<string, (key: string) => Promise<Answer>> => {
  const { door, stateless, send } = scene
  const deploy = door.deploy()
  return {
    ...surfaces(scene),
    'stateless stream': (key) => stateless(key, { stream: true }),
    'stream by model': (key) =>
      door.as(key, 'POST', '/api/v1/openai/chat/completions', say('Hi', { model: door.agentId, stream: true })),
    'session stream': async (key) => send(key, await door.session(null), { stream: true }),
    'queued message': async (key) => send(key, await door.session(null), { on_busy: 'enqueue' }),
    'response stream': (key) => door.as(key, 'POST', `${deploy}/responses`, { input: 'Hi', stream: true }),
    'background response': (key) => door.as(key, 'POST', `${deploy}/responses`, { input: 'Hi', background: true }),
  }
}

const isOfResponses = (surface: string) => /response|nowhere/.test(surface)

const formOf = (surface: string, words: string) =>
  isOfResponses(surface)
    ? { message: words, type: 'invalid_request_error', code: 'rate_limit_exceeded', param: null }
    : words

const words = {
  requestsPerMinute: 'The limit of this key is reached: 1 requests a minute.',
  concurrentReplies: 'The limit of this key is reached: 1 replies at a time.',
  tokensPerDay: 'The limit of this key is reached: 1 tokens a day.',
  costPerMonth: 'The limit of this key is reached: a cost of 1 a month.',
} satisfies Record<keyof Limits, string>

/** Returns a key that is over its limit, and a function that frees what holds it there. */
async function keyOver(limit: keyof Limits) {
  const { door, newKey, stateless } = scene
  const { key } = await newKey({ [limit]: 1 })
  if (limit !== 'concurrentReplies') {
    door.says('Fine.')
    expect((await stateless(key)).status).toBe(200)
    return { key, free: async () => {} }
  }
  const upstream = door.byHand()
  const stream = await door.stream(key, await door.session(null))
  const provider = await upstream
  await provider.text('one')
  const free = async () => {
    await provider.finish()
    await stream.rest()
  }
  return { key, free }
}

for (const limit of ['requestsPerMinute', 'concurrentReplies', 'tokensPerDay', 'costPerMonth'] as const) {
  verifies('contract-23.limits-form', `over ${limit}: a string, and an object on the Responses API`, async () => {
    const { key, free } = await keyOver(limit)
    for (const [surface, begin] of Object.entries(judged())) {
      if (limit === 'concurrentReplies' && surface === 'queued message') continue // it waits for a place
      const { status, json, headers } = await begin(key)
      expect([surface, status, json]).toEqual([surface, 429, { error: formOf(surface, words[limit]) }])
      expect([surface, headers.get('content-type')]).toEqual([surface, expect.stringMatching(/^application\/json/)])
      const isLong = limit === 'tokensPerDay' || limit === 'costPerMonth'
      expect([surface, headers.get('x-should-retry')]).toEqual([surface, isLong ? 'false' : null])
      expect([surface, Number(headers.get('retry-after')) >= 1]).toEqual([surface, true])
    }
    await free()
  })
}
