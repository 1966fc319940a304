/** Events of the Responses API tell the request's prompt, tools and format again (contract section 19). */
import { expect } from 'vitest'
import type { ModelRequest } from '../../../src/actors/ports/index.ts'
import { verifies } from '../../verifies.ts'
import { ask, failureIn, scene, textOf } from '../scene.ts'
import { requestFor, respond, text, tool } from './scene.ts'

/** A schema of two values for each property. */
const schemaOf = (properties: number, description = '') => ({
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: properties }, (_, i) => [`p${i}`, { type: 'string', description }]),
  ),
})
const toolsOf = (count: number, inputSchema: Record<string, unknown>) =>
  Array.from({ length: count }, (_, i) => ({ ...tool, name: `f${i}`, inputSchema }))

const cases: [string, Partial<ModelRequest>][] = [
  ['five tools of 4,500 values', { tools: toolsOf(5, schemaOf(1500)) }],
  ['33 tools of 64 KiB', { tools: toolsOf(33, schemaOf(1, 'x'.repeat(64 * 1024))) }],
  ['a prompt of 3 MiB', { system: 'x'.repeat(3 * 1024 * 1024) }],
  [
    'a format of 21,000 values',
    { fields: { responseFormat: { type: 'json_schema', json_schema: { name: 'n', schema: schemaOf(7000) } } } },
  ],
]
for (const [name, changes] of cases)
  verifies('contract-19.responses-events', `${name}, told again by three events, do not break the turn`, async () => {
    const { up, model } = await scene({ providerRetries: 0 })
    up.always((call) => {
      const { tools, instructions, text: format } = call.body
      const repeated = { tools, instructions, text: format }
      const begun = ['response.created', 'response.in_progress'].map((type) => ({ type, response: repeated }))
      return respond(call, [...begun, text('ok')], repeated)
    })
    const events = await ask(model, requestFor(up, changes))
    expect([textOf(events), events.at(-1)]).toMatchObject(['ok', { type: 'end' }])
  })

verifies(
  'contract-19.responses-events',
  'the last event that tells it again needs no blank line behind it',
  async () => {
    const { up, model } = await scene({ providerRetries: 0 })
    up.always(async (call) => {
      await call.data(text('ok'))
      const response = { status: 'completed', output: [], tools: call.body.tools }
      await call.raw(`data: ${JSON.stringify({ type: 'response.completed', response })}`)
      call.end()
    })
    const events = await ask(model, requestFor(up, { tools: toolsOf(5, schemaOf(1500)) }))
    expect([textOf(events), events.at(-1)]).toMatchObject(['ok', { type: 'end' }])
  },
)

verifies(
  'contract-18.no-freeze',
  'an event that holds more than the request told, or far too much, is not parsed',
  async () => {
    const { up, model } = await scene({ providerRetries: 0 })
    up.always((call) => respond(call, [text('ok')], { more: Array(25_000).fill(0) }))
    expect(failureIn(await ask(model, requestFor(up))).code).toBe('provider_error')
    const tools = toolsOf(40, schemaOf(1500))
    up.always((call) => respond(call, [text('ok')], { tools: call.body.tools }))
    expect(failureIn(await ask(model, requestFor(up, { tools }))).code).toBe('provider_error')
  },
)
