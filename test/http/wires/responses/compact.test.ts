/** `POST …/responses/compact` (contract section 32), of stored conversations. */
import { afterAll, afterEach, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openResponsesScene } from './responses-scene.ts'

const scene = await openResponsesScene()
const { create, client } = scene
afterAll(scene.close)
afterEach(() => scene.up.forget())

const compact = (body: object) => scene.call('POST', `${scene.responses}/compact`, body)
const sent = (): string => JSON.stringify(scene.up.calls.at(-1)?.body.messages)

verifies('contract-32.compact', 'the item stands for what was summarised, and names the place', async () => {
  scene.says(['ok'])
  const first = (await create({ input: 'The password is swordfish.' })).json
  const second = (await create({ input: 'Remember it.', previous_response_id: first.id })).json
  const early = await compact({ previous_response_id: first.id })
  expect([early.status, early.headers.get('x-should-retry')]).toEqual([409, 'false'])
  scene.says(['SUMMARY'])
  const compacted = await client.responses.compact({ model: 'any', previous_response_id: second.id })
  expect(compacted).toMatchObject({ object: 'response.compaction', usage: { input_tokens: expect.any(Number) } })
  const [item] = compacted.output
  expect(item).toMatchObject({ type: 'compaction', id: expect.stringMatching(/^cmp_/) })
  expect(JSON.stringify(item)).not.toContain('SUMMARY')
  scene.says(['ok'])
  const before = { role: 'user', content: 'passed over' }
  const input = [before, ...compacted.output, { role: 'user', content: 'What was it?' }]
  const next = (await create({ input })).json
  expect([next.conversation, next.previous_response_id]).toEqual([first.conversation, second.id])
  expect(sent()).toContain('SUMMARY')
  expect(sent()).not.toContain('swordfish')
  expect(sent()).not.toContain('passed over')
})

verifies('contract-32.compact', 'behind the item stand those that the summary does not cover', async () => {
  scene.says(['ok'])
  const first = (await create({ input: 'noted '.repeat(100) })).json
  const second = (await create({ input: 'And?', previous_response_id: first.id })).json
  scene.says(['SUMMARY'])
  const { output } = (await compact({ previous_response_id: second.id })).json
  expect(output.slice(1)).toMatchObject([
    { type: 'message', role: 'user', content: [{ text: 'And?' }] },
    { id: second.output[0].id, role: 'assistant' },
  ])
})

verifies(
  'contract-32.compact',
  'instructions follow the prompt of the summary, where the agent takes them',
  async () => {
    scene.says(['ok'])
    const { id: previous_response_id } = (await create({ input: 'one' })).json
    const by = { previous_response_id, instructions: 'Keep the numbers.' }
    scene.says(['SUMMARY'])
    expect((await compact(by)).status).toBe(200)
    expect(scene.up.calls.at(-1)?.body.messages[0]).toMatchObject({
      role: 'system',
      content: expect.stringMatching(/Keep the numbers\.$/),
    })
    await scene.call('PUT', scene.agent, {
      ...(await scene.call('GET', scene.agent)).json,
      callerInstructions: 'refuse',
    })
    const refused = await compact(by)
    expect([refused.status, refused.json.error.param]).toEqual([400, 'instructions'])
  },
)

verifies('contract-32.compact', 'what cannot be opened, and what is unknown, is 400 that names it', async () => {
  scene.says(['ok'])
  const first = (await create({ input: 'one' })).json
  const second = (await create({ input: 'two', previous_response_id: first.id })).json
  scene.says(['SUMMARY'])
  const [item] = (await compact({ previous_response_id: second.id })).json.output
  const refused = async (path: string, one: object) => {
    const { status, json } = await scene.call('POST', path, { input: [one, { role: 'user', content: 'x' }] })
    return [status, json.error.code, json.error.param]
  }
  const names = [400, 'invalid_request', 'input.0.encrypted_content']
  const changed = { ...item, encrypted_content: `${item.encrypted_content.slice(0, -2)}xx` }
  expect(await refused(scene.responses, changed)).toEqual(names)
  expect(await refused(scene.responses, { type: 'compaction', encrypted_content: 'gAAA' })).toEqual(names)
  const agent = { name: 'Other', providerId: scene.providerId, model: 'm' }
  const other = (await scene.call('POST', '/api/v1/agents', agent)).json.id
  expect(await refused(`/api/v1/agents/${other}/deploy/responses`, item)).toEqual(names)
  expect((await compact({})).json.error.param).toBe('previous_response_id')
  expect((await compact({ previous_response_id: 'resp_x' })).json.error.code).toBe('previous_response_not_found')
  expect((await compact({ previous_response_id: second.id, input: 'x' })).json.error.param).toBe('input')
})
