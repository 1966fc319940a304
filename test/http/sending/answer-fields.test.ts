/** Contract section 13: fields of a completion that change the answer, over the wire. */
import { afterAll, expect } from 'vitest'
import { createAgent } from '../../support/app.ts'
import { refusedRequest } from '../../support/network/refused-request.ts'
import { verifies } from '../../verifies.ts'
import { call, openScene } from '../scene.ts'

const scene = await openScene()
afterAll(scene.close)
scene.says(['ok'])

const hello = [{ role: 'user', content: 'Hello' }]
/** Stateless, and in a session. */
const ways = [
  (fields: object, headers = {}) => scene.stateless(hello, fields, headers),
  async (fields: object, headers = {}) => scene.send(await scene.newSession(), 'Hello', fields, headers),
]
const sentFields = () => {
  const { model: _, stream: __, messages: ___, stream_options: ____, ...rest } = scene.up.calls.at(-1)?.body ?? {}
  return rest
}

verifies(
  ['contract-13.fields', 'contract-13.wrong-values'],
  'they reach the provider; what counts as absent does not',
  async () => {
    const schema = { type: 'object', properties: { b: { type: 'string' }, a: { type: 'string' } } }
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } }
    for (const send of ways) {
      const fields = { stop: 'END', seed: 0, response_format, reasoning_effort: 'low' }
      const answer = await send({ ...fields, max_tokens: 5, max_completion_tokens: 7 })
      expect([answer.status, answer.headers.get('x-greenroom-ignored')]).toEqual([200, null])
      expect(sentFields()).toEqual({ ...fields, stop: ['END'], max_completion_tokens: 7 })
      // Models read a schema in its order.
      expect(JSON.stringify(sentFields().response_format.json_schema.schema)).toBe(JSON.stringify(schema))
      const absent = await send({
        max_tokens: null,
        max_completion_tokens: false,
        stop: [],
        seed: null,
        response_format: null,
        reasoning_effort: false,
        n: 1,
        logprobs: false,
        audio: null,
        modalities: ['text'],
        functions: [],
        prediction: null,
        tools: [],
        tool_choice: [],
        user: null,
        store: false,
        parallel_tool_calls: null,
        model: 'any',
      })
      expect([answer.status, absent.status, absent.headers.get('x-greenroom-ignored')]).toEqual([200, 200, null])
      expect(sentFields()).toEqual({})
    }
  },
)

verifies(
  ['contract-13.wrong-values', 'contract-13.errors'],
  'wrong values, and what nobody can honour, are 400',
  async () => {
    const calls = scene.up.calls.length
    const wrong: [Record<string, unknown>, string?][] = [
      [{ max_tokens: 0 }],
      [{ max_tokens: 1.5 }],
      [{ max_tokens: '5' }],
      [{ max_completion_tokens: -1 }],
      [{ stop: '' }],
      [{ stop: 5 }],
      [{ stop: ['a', 'b', 'c', 'd', 'e'] }],
      [{ stop: ['a', null] }],
      [{ seed: 1.5 }],
      [{ seed: 'x' }],
      [{ response_format: 'json' }],
      [{ response_format: {} }, 'response_format.type'],
      [{ response_format: { type: 'xml' } }, 'response_format.type'],
      [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
      [{ response_format: { type: 'json_schema', json_schema: { schema: {} } } }, 'response_format.json_schema.name'],
      [{ response_format: { type: 'json_schema', json_schema: { name: 'a b' } } }, 'response_format.json_schema.name'],
      [
        { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: [] } } },
        'response_format.json_schema.schema',
      ],
      [{ reasoning_effort: 'much' }],
      [{ parallel_tool_calls: 'no' }],
      [{ n: 3 }],
      [{ n: 0 }],
      [{ n: '1' }],
      [{ logprobs: true }],
      [{ audio: { voice: 'x' } }],
      [{ modalities: ['text', 'audio'] }],
      [{ modalities: 'text' }],
      [{ prediction: { type: 'content', content: 'x' } }],
      [{ functions: [{ name: 'f' }] }],
    ]
    for (const send of ways) {
      for (const [fields, param = Object.keys(fields)[0]] of wrong) {
        for (const stream of [false, true]) {
          const { status, json } = await send({ ...fields, stream })
          expect([fields, status, json]).toEqual([fields, 400, refusedRequest(`${param}: `, param)])
        }
      }
    }
    expect(scene.up.calls.length).toBe(calls)
  },
)

verifies(
  'contract-13.fields',
  'a field that the provider does not take is 400 naming both; nothing is stored',
  async () => {
    const { agentId } = await createAgent(scene.app, { type: 'demo' })
    const deploy = `${scene.app.url}/api/v1/agents/${agentId}/deploy`
    const session = (await call(`${deploy}/sessions`, 'POST', {})).json.id
    for (const path of ['/chat/completions', `/sessions/${session}/chat/completions`]) {
      const { status, json } = await call(`${deploy}${path}`, 'POST', { messages: hello, seed: 3 })
      expect([status, json]).toEqual([400, refusedRequest('seed: ', 'seed')])
      expect(json.error.message).toMatch(/demo/i)
    }
    expect((await call(`${deploy}/sessions/${session}/messages`, 'GET')).json).toEqual({ messages: [] })
  },
)

verifies('contract-13.ignored', 'what was sent and not used is named, on whole answers and streams', async () => {
  const fields = { temperature: 0.1, top_p: 0.5, store: true, user: 'me', metadata: { a: 'b' }, model: 'x', 'ü,%\n': 1 }
  const header = 'temperature,top_p,store,user,metadata,%C3%BC%2C%25%0A'
  for (const send of ways) expect((await send(fields)).headers.get('x-greenroom-ignored')).toBe(header)
  const session = await scene.newSession()
  const streams = [await scene.statelessStream('Hello', fields), await scene.stream(session, 'Hello', fields)]
  for (const stream of streams) {
    expect(stream.headers.get('x-greenroom-ignored')).toBe(header)
    await stream.rest()
  }
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`field_${index}`, 1]))
  const long = (await ways[0]?.({ ...many, ['x'.repeat(2000)]: 1 }))?.headers.get('x-greenroom-ignored') ?? ''
  expect(long.length).toBeLessThanOrEqual(1024)
  expect(long.split(',').every((name) => /^field_\d+$/.test(name))).toBe(true)
  expect(long.split(',').length).toBeGreaterThan(80)
  // Only sessions know it.
  expect((await scene.stateless(hello, { on_busy: 'reject' })).headers.get('x-greenroom-ignored')).toBe('on_busy')
})

verifies(
  ['contract-13.fields', 'contract-4.idempotency'],
  'they belong to the request that started the reply',
  async () => {
    const id = await scene.newSession()
    const headers = { 'idempotency-key': 'k' }
    const first = await scene.send(id, 'Hello', { seed: 1 }, headers)
    const { length } = scene.up.calls
    expect((await scene.send(id, 'Hello', { seed: 2 }, headers)).status).toBe(400)
    // By now the agent's provider takes no seed: the reply is there all the same.
    const provider = { name: 'Demo for retries', providerType: 'demo' }
    const providerId = (await scene.call('POST', '/api/v1/settings/providers', provider)).json.id
    await scene.call('PUT', scene.agent, { providerId })
    const again = await scene.send(id, 'Hello', { seed: 1 }, headers)
    expect([again.status, again.json]).toEqual([200, first.json])
    expect((await scene.send(id, 'Other', { seed: 1 }, { 'idempotency-key': 'new' })).status).toBe(400)
    await scene.call('PUT', scene.agent, { providerId: scene.providerId })
    expect(scene.up.calls).toHaveLength(length)
  },
)

verifies('contract-13.structured', 'an agent’s responseFormat is the default; a request’s own wins', async () => {
  const responseFormat = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } }
  expect((await scene.call('PUT', scene.agent, { responseFormat })).json.responseFormat).toEqual(responseFormat)
  for (const send of ways) {
    await send({})
    expect(sentFields()).toEqual({ response_format: responseFormat })
    await send({ response_format: { type: 'text' } })
    expect(sentFields()).toEqual({})
    await send({ response_format: { type: 'json_object' } })
    expect(sentFields()).toEqual({ response_format: { type: 'json_object' } })
  }
  expect((await scene.call('PUT', scene.agent, { responseFormat: { type: 'xml' } })).json.message).toMatch(
    /^responseFormat\.type: /,
  )
  expect((await scene.call('PUT', scene.agent, { responseFormat: null })).json.responseFormat).toBeNull()
  await ways[0]?.({})
  expect(sentFields()).toEqual({})
})
