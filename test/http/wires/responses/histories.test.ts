/** Histories of other servers (contract section 32): that end in outputs, with items of OpenAI's own tools. */
import { afterAll, afterEach, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openResponsesScene, sessionOf } from './responses-scene.ts'

const scene = await openResponsesScene()
const { create } = scene
afterAll(scene.close)
afterEach(() => scene.up.forget())

const user = (content: string) => ({ role: 'user', content })
const call = (call_id: string, name = 'look') => ({ type: 'function_call', call_id, name, arguments: '{"q":1}' })
const output = (call_id: string, text: string) => ({ type: 'function_call_output', call_id, output: text })
const sent = () => scene.up.calls.at(-1)?.body.messages
const ended = [
  user('one'),
  { role: 'assistant', content: 'two' },
  user('three'),
  call('c1'),
  call('c2'),
  output('c1', 'A'),
  output('c2', 'B'),
]

verifies(
  'contract-32.ends-in-outputs',
  'a history of another server that ends in outputs is gone on with',
  async () => {
    scene.says(['Done.'])
    const made = await create({ input: ended })
    expect([made.status, made.json.output[0]?.content[0].text, made.json.previous_response_id]).toEqual([
      200,
      'Done.',
      null,
    ])
    const calls = ['c1', 'c2'].map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{"q":1}' } }))
    const history = [
      user('one'),
      { role: 'assistant', content: 'two' },
      user('three'),
      { role: 'assistant', tool_calls: calls },
      { role: 'tool', tool_call_id: 'c1', content: 'A' },
      { role: 'tool', tool_call_id: 'c2', content: 'B' },
    ]
    expect(sent()).toMatchObject(history)
    expect(sent()).toHaveLength(6)
    const session = sessionOf(made.json.conversation.id)
    expect((await scene.messages(session)).map(({ role, content }) => [role, content])).toEqual([
      ['user', 'one'],
      ['assistant', 'two'],
      ['user', 'three'],
      ['assistant', ''],
      ['assistant', 'Done.'],
    ])
    expect((await scene.call('GET', `${scene.sessions}/${session}`)).json.title).toBe('one')
    const next = await create({ input: 'More', previous_response_id: made.json.id })
    expect(next.status).toBe(200)
    expect(sent()).toMatchObject([...history, { role: 'assistant', content: 'Done.' }, user('More')])
    const items = await scene.call('GET', `${scene.conversations}/${made.json.conversation.id}/items?order=asc`)
    expect(items.json.data.map(({ type }: { type: string }) => type)).toEqual([
      ...[
        'message',
        'message',
        'message',
        'function_call',
        'function_call',
        'function_call_output',
        'function_call_output',
      ],
      ...['message', 'message', 'message'],
    ])
    const removed = await scene.call('DELETE', `${scene.responses}/${next.json.id}`)
    expect(removed.status).toBe(200)
    const again = await scene.call('GET', `${scene.responses}/${made.json.id}`)
    expect(again.json).toEqual(made.json)
  },
)

verifies(
  'contract-32.ends-in-outputs',
  'a key joins it, several turns count, and a caller’s tool may follow',
  async () => {
    scene.up.always(async (one) => {
      await one.toolCall({ name: 'look', arguments: '{}', id: 'c1' })
      await one.finish('tool_calls')
    })
    const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }]
    const body = { input: [...ended, call('c3'), output('c3', 'C')], tools }
    const key = { 'idempotency-key': 'ends' }
    const before = scene.up.calls.length
    const made = (await create(body, key)).json
    expect((await create(body, key)).json).toEqual(made)
    expect(scene.up.calls).toHaveLength(before + 1)
    const [offered, used] = [await create({ ...body, max_tool_calls: 4 }), await create({ ...body, max_tool_calls: 3 })]
    expect([offered.json.output[0]?.type, scene.up.calls.at(-1)?.body.tools, used.status]).toEqual([
      'function_call',
      undefined,
      200,
    ])
    expect(sent().filter(({ role }: { role: string }) => role === 'tool')).toHaveLength(3)
    scene.says(['Done.'])
    const answer = { type: 'function_call_output', call_id: made.output[0].call_id, output: 'D' }
    const next = await create({ input: [answer], previous_response_id: made.id })
    expect([next.status, next.json.output[0].content[0].text]).toEqual([200, 'Done.'])
    expect(
      sent()
        .filter(({ role }: { role: string }) => role === 'tool')
        .map(({ content }: { content: string }) => content),
    ).toEqual(['A', 'B', 'C', 'D'])
  },
)

verifies('contract-32.ends-in-outputs', 'a call without its output is 400 and stores nothing', async () => {
  const { status, json } = await create({ input: ended.slice(0, -1) })
  expect([status, json.error.param]).toEqual([400, 'input'])
})

/** The types of items that servers of OpenAI's make, as the contract lists them. */
const foreignTypes = [
  ...['web_search', 'file_search', 'code_interpreter', 'image_generation', 'computer', 'local_shell', 'shell'].map(
    (tool) => `${tool}_call`,
  ),
  ...['apply_patch_call', 'local_shell_call_output', 'shell_call_output', 'apply_patch_call_output', 'mcp_call'],
  ...['tool_search_call', 'tool_search_output'],
]

verifies('contract-32.foreign-items', 'items of OpenAI’s own tools are passed over and named once', async () => {
  scene.says(['ok'])
  const foreign = [
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    { type: 'web_search_call', id: 'ws_2', status: 'completed' },
    { type: 'computer_call_output', call_id: 'x', output: {} },
    { type: 'mcp_list_tools', id: 'm', tools: [] },
    ...foreignTypes.map((type) => ({ type })),
  ]
  const custom = [
    { type: 'custom_tool_call', call_id: 'c9', name: 'code', input: 'print(1)' },
    { type: 'custom_tool_call_output', call_id: 'c9', output: '1' },
  ]
  for (const store of [true, false]) {
    const { status, headers } = await create({ input: [user('one'), ...foreign, ...custom, user('two')], store })
    const seen = new Set(['web_search_call', 'computer_call_output', 'mcp_list_tools', ...foreignTypes])
    const named = [...seen].map((type) => `input.${type}`).join(',')
    expect([status, headers.get('x-greenroom-ignored')]).toEqual([200, named])
    expect(sent()).toMatchObject([
      user('one'),
      { role: 'assistant', tool_calls: [{ function: { name: 'code', arguments: '{"input":"print(1)"}' } }] },
      { role: 'tool', content: '1' },
      user('two'),
    ])
  }
  expect((await create({ input: [user('one'), { type: 'made_up_call' }] })).status).toBe(400)
})

verifies(
  'contract-32.history-parts',
  'pictures and files of earlier messages are stored with the history',
  async () => {
    scene.says(['ok'])
    const text = (content: string) => Buffer.from(content).toString('base64')
    const file = (name: string) => ({
      type: 'input_file',
      filename: name,
      file_data: `data:text/plain;base64,${text(name)}`,
    })
    const asking = (words: string, ...files: object[]) => ({
      role: 'user',
      content: [{ type: 'input_text', text: words }, ...files],
    })
    const input = [
      asking('one', file('a.txt'), file('b.txt')),
      { role: 'assistant', content: 'two' },
      asking('three', file('c.txt')),
    ]
    const made = (await create({ input })).json
    const asked = JSON.stringify(sent())
    for (const name of ['a.txt', 'b.txt', 'c.txt']) expect(asked).toContain(name)
    const items = (await scene.call('GET', `${scene.conversations}/${made.conversation.id}/items?order=asc`)).json.data
    const names = items.map(({ content }: { content: { filename?: string }[] }) =>
      content.flatMap(({ filename }) => filename ?? []),
    )
    expect(names).toEqual([['a.txt', 'b.txt'], [], ['c.txt'], []])
    await create({ input: 'More', previous_response_id: made.id })
    for (const name of ['a.txt', 'b.txt', 'c.txt']) expect(JSON.stringify(sent())).toContain(name)
    const outputs = (await create({ input: [...input.slice(0, 1), call('c1'), output('c1', 'x')] })).json
    expect(JSON.stringify(sent())).toContain('b.txt')
    expect(outputs.status).toBe('completed')
    const bytes = { ...file('d.txt'), file_data: `data:text/plain;base64,${text('x'.repeat(11 * 2 ** 20))}` }
    const large = await create({
      input: [asking('one', bytes), { role: 'assistant', content: 'two' }, asking('three', bytes)],
    })
    expect(large.status).toBe(413)
  },
)
