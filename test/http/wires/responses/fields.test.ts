/** Fields of a request that OpenAI knows (contract section 32): honoured, ignored by name, or refused by name. */
import { afterAll, afterEach, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openResponsesScene } from './responses-scene.ts'

const scene = await openResponsesScene({ config: { maxToolCalls: 3 } })
const { create } = scene
afterAll(scene.close)
afterEach(() => scene.up.forget())

verifies('contract-32.fields', 'what the agent decides is ignored, and named', async () => {
  scene.says(['ok'])
  const fields = {
    temperature: 0.2,
    top_p: 0.5,
    truncation: 'disabled',
    prompt_cache_key: 'k',
    service_tier: 'flex',
    stream_options: { include_obfuscation: true },
    context_management: [{ type: 'compaction' }],
    include: ['reasoning.encrypted_content'],
    text: { verbosity: 'low' },
    reasoning: { summary: 'auto' },
    made_up: 1,
  }
  for (const store of [true, false]) {
    const { status, headers } = await create({ input: 'x', store, ...fields })
    const named = headers.get('x-greenroom-ignored')?.split(',')
    expect([status, named?.toSorted()]).toEqual([
      200,
      [
        ...Object.keys(fields).filter((name) => name !== 'text' && name !== 'reasoning'),
        'text.verbosity',
        'reasoning.summary',
      ].toSorted(),
    ])
  }
})

verifies('contract-32.fields', 'what would change the answer is refused by its name', async () => {
  scene.says(['ok'])
  const refused: [object, string][] = [
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ top_logprobs: 2 }, 'top_logprobs'],
    [{ include: ['message.output_text.logprobs'] }, 'include'],
    [{ truncation: 1 }, 'truncation'],
    [{ service_tier: {} }, 'service_tier'],
    [{ max_tool_calls: -1 }, 'max_tool_calls'],
    [{ max_tool_calls: 1.5 }, 'max_tool_calls'],
    [{ max_tool_calls: '2' }, 'max_tool_calls'],
    [{ max_tool_calls: false }, 'max_tool_calls'],
  ]
  for (const [field, name] of refused)
    for (const store of [true, false]) {
      const { status, json } = await create({ input: 'x', store, ...field })
      expect([field, status, json.error.param]).toEqual([field, 400, name])
    }
  // What has no input because OpenAI's prompt brings it is refused for that, not for its input.
  expect((await create({ prompt: { id: 'pmpt_1' } })).json.error.param).toBe('prompt')
  expect((await create({})).json.error).toMatchObject({ param: 'input', message: 'input: is required' })
  expect((await create({ input: 'x', top_logprobs: 0, truncation: null, service_tier: null })).status).toBe(200)
})

verifies('contract-32.tool-types', 'each type that OpenAI runs has its words', async () => {
  const words: [string, string][] = [
    ['web_search', 'web_fetch'],
    ['web_search_preview_2025_03_11', 'web_fetch'],
    ['file_search', 'input_file'],
    ['mcp', 'an MCP server of the agent'],
    ['code_interpreter', 'that the caller runs'],
    ['computer_use_preview', 'that the caller runs'],
    ['custom', 'that the caller runs'],
    ['made_up', 'that the caller runs'],
  ]
  for (const [type, instead] of words) {
    const tools = [{ type: 'function', name: 'look' }, { type }]
    const { status, json } = await create({ input: 'x', tools })
    expect([status, json.error.param, json.error.message]).toEqual([
      400,
      'tools.1.type',
      expect.stringContaining(instead),
    ])
    expect(json.error.message).toContain(`"${type}"`)
  }
})

verifies('contract-32.max-tool-calls', 'the lower number counts, also for the reply that continues', async () => {
  expect(
    (await scene.call('PUT', `${scene.agent}/tools`, { builtInToolIds: ['current_time'], approvals: ['current_time'] }))
      .status,
  ).toBe(200)
  const calls = async (of: number) => {
    scene.up.always(async (one) => {
      if (one.body.tools === undefined) {
        await one.text('done')
        return one.finish('stop')
      }
      await one.toolCall({ name: 'current_time', arguments: '{}', id: `c${Math.random()}` })
      await one.finish('tool_calls')
    })
    const body = { input: 'Loop', max_tool_calls: of, include_actions: true }
    let answer = (await create(body)).json
    let made = 0
    while (answer.output.at(-1)?.type === 'mcp_approval_request') {
      made += 1
      const approval = { type: 'mcp_approval_response', approval_request_id: answer.output.at(-1).id, approve: true }
      answer = (await create({ input: [approval], previous_response_id: answer.id, include_actions: true })).json
    }
    return made
  }
  expect([await calls(2), await calls(1), await calls(9)]).toEqual([2, 1, 3])
  expect((await create({ input: 'x', max_tool_calls: 2, store: false })).json.max_tool_calls).toBe(2)
  await scene.call('PUT', `${scene.agent}/tools`, { builtInToolIds: ['current_time'], approvals: [] })
  const before = scene.up.calls.length
  await create({ input: 'Loop', max_tool_calls: 1, store: false })
  expect(scene.up.calls.length - before).toBe(2)
  for (const none of [null, 0]) {
    expect((await create({ input: 'x', max_tool_calls: none, store: false })).json.max_tool_calls).toBe(null)
  }
})

verifies('contract-35.stream-of-key', 'a key that was streamed first is joined without stream', async () => {
  scene.says(['once'])
  const key = { 'idempotency-key': 'streamed-first' }
  const streamed = await create({ input: 'Hi', stream: true }, key)
  const whole = await create({ input: 'Hi' }, key)
  expect([streamed.status, whole.status]).toEqual([200, 200])
  expect(streamed.text).toContain(`"id":"${whole.json.id}"`)
  expect((await create({ input: 'Hi', background: true }, key)).status).toBe(400)
})
