/** What is kept of a model's refusal, on both of OpenAI's wires (contract section 19). */
import { expect } from 'vitest'
import { verifies } from '../verifies.ts'
import { respond } from './responses/scene.ts'
import { ask, connectionTo, requestTo, scene } from './scene.ts'

verifies('contract-19.slips', 'what a model says in refusal is kept as such, whatever ends the answer', async () => {
  const { up, model } = await scene()
  const refusalOf = async (more: object = {}) =>
    (await ask(model, requestTo(up, more))).find((event) => event.type === 'end')
  up.next(async (call) => {
    await call.delta({ refusal: 'Not ' })
    await call.delta({ refusal: 'that.' })
    await call.finish()
  })
  expect(await refusalOf()).toMatchObject({ reason: 'stop', refusal: 'Not that.' })
  up.next((call) => respond(call, [{ type: 'response.refusal.delta', output_index: 0, delta: 'Nor that.' }]))
  const provider = { ...connectionTo(up.url), wireApi: 'responses' as const }
  expect(await refusalOf({ provider })).toMatchObject({ reason: 'stop', refusal: 'Nor that.' })
  // A filter that marked an answer, and did not take effect, refused nothing.
  up.next(async (call) => {
    await call.text('Fine.')
    await call.data({
      choices: [{ index: 0, delta: {}, finish_reason: 'stop', content_filter_results: { hate: { filtered: true } } }],
    })
    await call.data('[DONE]')
  })
  expect(await refusalOf()).not.toHaveProperty('refusal')
})
