/** Contract section 16 and its UI: how long replies took, how many failed, what they cost. */
import { afterAll, expect } from 'vitest'
import { openScene } from '../../../http/scene.ts'
import { WAIT_MS } from '../../../support/wait.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openScene({ settings: {} })
afterAll(scene.close)

const figures = async (query = '') => (await scene.call('GET', `/api/v1/usage/figures${query}`)).json.rows
const prices = '/api/v1/settings/prices'

verifies('contract-16.usage-figures', 'times, failures and cost are told by agent, by model and by hour', async () => {
  scene.says(['ok'], { usage: { prompt_tokens: 1000, completion_tokens: 500 } })
  await scene.send(await scene.newSession(), 'a')
  scene.up.next((one) => one.error(400))
  await scene.send(await scene.newSession(), 'b')
  scene.up.next((one) => one.error(400))
  await scene.stateless([{ role: 'user', content: 'c' }])
  const took = { p50: expect.any(Number), p95: expect.any(Number) }
  const row = { key: scene.agentId, replies: 3, failures: 2, firstTokenMs: took, durationMs: took, cost: null }
  await expect.poll(() => figures(), { timeout: WAIT_MS }).toEqual([row])
  expect((await scene.call('GET', prices)).json).toEqual({ currency: '$', prices: [] })
  const told = { currency: '€', prices: [{ model: 'test-model', prompt: 2, completion: 10 }] }
  expect(await scene.call('PUT', prices, told)).toMatchObject({ status: 200, json: told })
  expect((await scene.call('GET', prices)).json).toEqual(told)
  const [byModel] = await figures('?groupBy=model')
  expect(byModel).toMatchObject({ key: 'test-model', replies: 3 })
  const hours = await figures('?groupBy=hour')
  const sum = (of: 'replies' | 'failures') =>
    hours.reduce((total: number, hour: Record<string, number>) => total + (hour[of] ?? 0), 0)
  // Midway an hour may have ended.
  expect([sum('replies'), sum('failures')]).toEqual([3, 2])
  expect(hours[0].key).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00:00Z$/)
  // The failed ones are estimated: a few tokens.
  expect(byModel.cost).toBeGreaterThanOrEqual(0.007)
  expect(byModel.cost).toBeLessThan(0.0072)
  const twice = { currency: '€', prices: [...told.prices, ...told.prices] }
  expect((await scene.call('PUT', prices, twice)).status).toBe(400)
})
