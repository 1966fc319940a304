/** POST …/deploy/responses (contract section 24): where a request goes, and what its answer is. */
import { afterAll, afterEach, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { nobody, storedMessages } from '../../scene.ts'
import { openResponsesScene, sessionOf } from './responses-scene.ts'

const scene = await openResponsesScene()
const { client, create } = scene
afterAll(scene.close)
afterEach(() => scene.up.forget())

const id = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_[0-9a-f]{32}$`))

verifies(
  ['contract-24.object', 'contract-24.create'],
  'a text makes a conversation, and the object is whole',
  async () => {
    scene.says(['Hel', 'lo'], { usage: { prompt_tokens: 3, completion_tokens: 2 } })
    const { status, json } = await create({ model: 'any', input: 'Hi', metadata: { a: 'b' } })
    expect(status).toBe(200)
    expect(json).toEqual({
      id: id('resp'),
      object: 'response',
      created_at: expect.any(Number),
      completed_at: null,
      status: 'completed',
      background: false,
      error: null,
      incomplete_details: null,
      instructions: null,
      max_output_tokens: null,
      model: expect.any(String),
      output: [
        {
          id: id('msg'),
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hello', annotations: [], logprobs: [] }],
        },
      ],
      parallel_tool_calls: true,
      previous_response_id: null,
      conversation: { id: id('conv') },
      store: true,
      temperature: 1,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      top_logprobs: 0,
      reasoning: { effort: null, summary: null },
      truncation: 'auto',
      max_tool_calls: null,
      service_tier: 'default',
      safety_identifier: null,
      prompt_cache_key: null,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      usage: {
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 5,
      },
      metadata: { a: 'b' },
    })
    const messages = await scene.messages(sessionOf(json.conversation.id))
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Hi'],
      ['assistant', 'Hello'],
    ])
    expect(json.id).toBe(`resp_${messages[1].id.replaceAll('-', '')}`)
  },
)

verifies(
  ['contract-24.create', 'contract-24.read'],
  'conversation and previous_response_id go on, and branch',
  async () => {
    scene.says(['ok'])
    const first = await client.responses.create({ input: 'one' })
    const second = await client.responses.create({ input: 'two', previous_response_id: first.id })
    expect([second.previous_response_id, second.conversation]).toEqual([first.id, first.conversation])
    const third = await client.responses.create({ input: 'three', conversation: first.conversation?.id ?? '' })
    expect(third.previous_response_id).toBe(second.id)
    const branch = await client.responses.create({ input: 'two, otherwise', previous_response_id: first.id })
    expect(branch.previous_response_id).toBe(first.id)
    const sent = scene.up.calls.at(-1)?.body.messages
    expect(sent.map(({ content }: { content: string }) => content)).toEqual(['one', 'ok', 'two, otherwise'])
    const bare = await create({ input: 'four', conversation: { id: sessionOf(first.conversation?.id ?? '') } })
    expect(bare.json.previous_response_id).toBe(branch.id)
  },
)

verifies(['contract-24.create', 'contract-24.errors'], 'unknown places are refused in the object format', async () => {
  scene.says(['ok'])
  const first = await client.responses.create({ input: 'one' })
  const other = await client.responses.create({ input: 'one' })
  const before = await storedMessages(scene.app)
  const error = async (body: object) => {
    const { status, json } = await create(body)
    return [status, json.error.type, json.error.code, json.error.param]
  }
  const previous_response_id = `resp_${nobody.replaceAll('-', '')}`
  const invalid = 'invalid_request_error'
  expect(await error({ input: 'x', previous_response_id })).toEqual([
    400,
    invalid,
    'previous_response_not_found',
    'previous_response_id',
  ])
  expect(await error({ input: 'x', previous_response_id: 'nonsense' })).toEqual([
    400,
    invalid,
    'previous_response_not_found',
    'previous_response_id',
  ])
  expect(await error({ input: 'x', conversation: `conv_${nobody.replaceAll('-', '')}` })).toEqual([
    404,
    invalid,
    'not_found',
    null,
  ])
  expect(await error({ input: 'x', conversation: first.conversation, previous_response_id: other.id })).toEqual([
    400,
    invalid,
    'invalid_request',
    'previous_response_id',
  ])
  for (const input of [undefined, 5, [], [{ type: 'made_up_call' }], [{ role: 'nobody', content: 'x' }]])
    expect([input, (await error({ input }))[0]]).toEqual([input, 400])
  const unknownAgent = await scene.call('POST', `/api/v1/agents/${nobody}/deploy/responses`, { input: 'x' })
  expect([unknownAgent.status, unknownAgent.json.error.type]).toEqual([404, invalid])
  const unknownPath = await scene.call('GET', `${scene.responses}/a/b/c`)
  expect([unknownPath.status, unknownPath.json.error.code]).toEqual([404, 'not_found'])
  const form = await scene.call('POST', scene.responses, 'x', { 'content-type': 'text/plain' })
  expect([form.status, form.json.error.type]).toEqual([415, invalid])
  expect(await storedMessages(scene.app)).toBe(before)
})

verifies('contract-24.busy', 'a busy session is 409, and interrupt cancels first', async () => {
  const running = scene.byHand()
  const first = await create({ input: 'long', background: true })
  await running
  const { conversation } = first.json
  const busy = await create({ input: 'more', conversation })
  expect([busy.status, busy.json.error.code, busy.headers.get('x-should-retry')]).toEqual([409, 'conflict', 'false'])
  scene.says(['now'])
  const next = await create({ input: 'more', conversation, on_busy: 'interrupt' })
  expect([next.status, next.json.output[0].content[0].text]).toEqual([200, 'now'])
  expect((await scene.call('GET', `${scene.responses}/${first.json.id}`)).json.status).toBe('cancelled')
})

verifies('contract-24.failed', 'a failed one is 500 with its code, and reads as failed', async () => {
  scene.up.always((call) => call.error(401, { error: { message: 'no' } }))
  const made = await scene.newSession()
  const { status, json, headers } = await create({ input: 'x', conversation: made })
  expect([status, json.error.type, json.error.code, headers.get('x-should-retry')]).toEqual([
    500,
    'server_error',
    'provider_auth',
    'false',
  ])
  const [, reply] = await scene.messages(made)
  const read = await scene.call('GET', `${scene.responses}/${reply.id}`)
  expect([read.status, read.json.status, read.json.error.code, read.json.usage]).toEqual([
    200,
    'failed',
    'provider_auth',
    null,
  ])
})

verifies(
  ['contract-24.fields', 'contract-13.ignored'],
  'fields reach the provider, or are refused by their own names',
  async () => {
    scene.says(['{}'])
    const { status, headers } = await create({
      input: 'x',
      max_output_tokens: 7,
      text: { format: { type: 'json_schema', name: 'it', schema: { type: 'object' }, strict: true }, verbosity: 'low' },
      reasoning: { effort: 'low', summary: 'auto' },
      parallel_tool_calls: false,
      tools: [{ type: 'function', name: 'look', parameters: { type: 'object' }, strict: true }],
      tool_choice: { type: 'function', name: 'look' },
      temperature: 1,
      truncation: 'auto',
    })
    const ignored = 'temperature,truncation,text.verbosity,reasoning.summary'
    expect([status, headers.get('x-greenroom-ignored')]).toEqual([200, ignored])
    const sent = scene.up.calls.at(-1)?.body
    expect(sent).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'it', schema: { type: 'object' }, strict: true } },
      reasoning_effort: 'low',
      parallel_tool_calls: false,
      tool_choice: { type: 'function', function: { name: 'look' } },
    })
    expect(sent.max_completion_tokens ?? sent.max_tokens).toBe(7)
    const param = async (extra: object) => {
      const answer = await create({ input: 'x', ...extra })
      return [answer.status, answer.json.error.param]
    }
    expect(await param({ max_output_tokens: 0 })).toEqual([400, 'max_output_tokens'])
    expect(await param({ text: { format: { type: 'json_schema' } } })).toEqual([400, 'text.format.name'])
    expect(await param({ reasoning: { effort: 'much' } })).toEqual([400, 'reasoning.effort'])
    expect(await param({ tools: [{ type: 'web_search' }] })).toEqual([400, 'tools.0.type'])
    expect(await param({ tools: [{ type: 'function' }] })).toEqual([400, 'tools.0.name'])
    const tools = [{ type: 'function', name: 'look' }]
    const chosen = await create({ input: 'x', tools, tool_choice: { type: 'allowed_tools' } })
    expect([chosen.status, chosen.json.error.message]).toEqual([400, expect.stringContaining('"function", "name"}')])
    for (const instructions of [['Be brief.'], 5, {}, true])
      for (const store of [true, false]) {
        expect(await param({ instructions, store })).toEqual([400, 'instructions'])
      }
    expect((await create({ input: 'x', instructions: null })).status).toBe(200)
    expect(await param({ input: [{ role: 'system', content: 'x' }] })).toEqual([400, 'input'])
    expect((await create({ input: 'x', text: {}, tools: [], tool_choice: 'auto' })).status).toBe(200)
  },
)

verifies('contract-32.tool-choice', 'none and auto without tools are taken, others are 400', async () => {
  scene.says(['ok'])
  for (const tool_choice of ['none', 'auto'])
    for (const tools of [[], undefined])
      for (const store of [true, false])
        expect((await create({ input: 'x', tools, tool_choice, store })).status).toBe(200)
  const { status, json } = await create({ input: 'x', tool_choice: 'required' })
  expect([status, json.error.message]).toEqual([400, expect.stringContaining('tool_choice')])
})

verifies('contract-24.session-fields', 'metadata and the user become a new session’s', async () => {
  scene.says(['ok'])
  const made = await create({ input: 'x', metadata: { a: '1' }, safety_identifier: 'ann', user: 'bob' })
  const read = await scene.call('GET', `${scene.sessions}/${sessionOf(made.json.conversation.id)}`)
  expect(read.json).toMatchObject({ user: 'ann', metadata: { a: '1' } })
  const plain = await create({ input: 'x', user: 'bob' })
  expect((await scene.call('GET', `${scene.sessions}/${sessionOf(plain.json.conversation.id)}`)).json.user).toBe('bob')
})

verifies('contract-24.stateless', 'store: false stores nothing and takes the whole history', async () => {
  scene.says(['ok'])
  const before = await storedMessages(scene.app)
  const input = [
    { role: 'user', content: 'one' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'two' }] },
    { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'seen' },
    { role: 'user', content: [{ type: 'input_text', text: 'three' }] },
  ]
  const { json } = await create({ input, store: false })
  expect(json).toMatchObject({ status: 'completed', store: false, conversation: null, previous_response_id: null })
  expect(await storedMessages(scene.app)).toBe(before)
  expect(scene.up.calls.at(-1)?.body.messages).toMatchObject([
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'two', tool_calls: [{ id: 'c1', function: { name: 'look', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c1', content: 'seen' },
    { role: 'user', content: 'three' },
  ])
  expect((await scene.call('GET', `${scene.responses}/${json.id}`)).status).toBe(404)
  for (const extra of [{ background: true }, { conversation: 'x' }, { previous_response_id: 'x' }])
    expect([extra, (await create({ input: 'x', store: false, ...extra })).status]).toEqual([extra, 400])
  expect((await create({ input: input.slice(0, 3), store: false })).status).toBe(400)
})
