/** Calls of the caller's tools, approvals, and whole histories on the Responses API (contract section 24). */
import { afterAll, expect } from 'vitest'
import { call, openWaitingScene } from '../../../features/approvals/routes/waiting-scene.ts'
import { verifies } from '../../../verifies.ts'
import { asks } from '../../tool-scene.ts'
import { sessionOf } from './responses-scene.ts'

const scene = await openWaitingScene({ settings: {} })
afterAll(scene.close)
const responses = `${scene.agent}/deploy/responses`
const create = (body: object) => scene.call('POST', responses, body)
const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }]
const user = (content: string) => ({ role: 'user', content })
const texts = (body: { messages: { role: string; content: unknown }[] } | undefined) =>
  body?.messages.filter(({ role }) => role !== 'system').map(({ content }) => content)

verifies(
  'contract-24.calls',
  'a call is answered behind previous_response_id, in a conversation, or by its call_id alone',
  async () => {
    for (const how of ['previous', 'conversation', 'alone'] as const) {
      scene.up.next(asks('Looking. ', call('weather', 'same-id', '{"city":"Bonn"}')))
      scene.says('Sunny.')
      const first = (await create({ input: 'Weather?', tools })).json
      expect(first.output).toEqual([
        expect.objectContaining({ type: 'message' }),
        {
          id: expect.stringMatching(/^fc_[0-9a-f]{32}$/),
          type: 'function_call',
          status: 'completed',
          call_id: expect.stringMatching(/^call_[0-9a-f]{32}$/),
          name: 'weather',
          arguments: '{"city":"Bonn"}',
        },
      ])
      expect(first.status).toBe('completed')
      const { call_id } = first.output[1]
      const place = {
        previous: { previous_response_id: first.id },
        conversation: { conversation: first.conversation },
        alone: {},
      }[how]
      const output = { type: 'function_call_output', call_id, output: 'sun' }
      const second = await create({ input: [output], ...place })
      expect([how, second.status, second.json.previous_response_id]).toEqual([how, 200, first.id])
      expect(second.json.output[0].content[0].text).toBe('Sunny.')
      const items = await scene.call('GET', `${responses}/${second.json.id}/input_items`)
      expect(items.json.data).toEqual([
        expect.objectContaining({ type: 'function_call_output', call_id, output: 'sun', status: 'completed' }),
      ])
      const again = await create({ input: [output], ...place })
      expect([again.status, again.json.error.code]).toEqual([409, 'conflict'])
    }
  },
)

verifies('contract-24.approvals', 'approvals are shown where they are asked for, and decided', async () => {
  for (const approve of [true, false]) {
    scene.up.next(asks('', call('pay', 'c1', '{"amount":5}')))
    scene.says('Done.')
    const before = scene.tools.requests.length
    const first = (await create({ input: 'Pay!', include_actions: true })).json
    expect(first.output).toEqual([
      {
        id: expect.stringMatching(/^mcpr_[0-9a-f]{32}$/),
        type: 'mcp_approval_request',
        name: 'pay',
        arguments: '{"amount":5}',
        server_label: 'greenroom',
      },
    ])
    const answer = {
      type: 'mcp_approval_response',
      approval_request_id: first.output[0].id,
      approve,
      reason: 'because',
    }
    const second = await create({ input: [answer], previous_response_id: first.id })
    expect([second.status, second.json.output[0].content[0].text]).toEqual([200, 'Done.'])
    expect(scene.tools.requests.length - before).toBe(approve ? 1 : 0)
    const items = await scene.call('GET', `${responses}/${second.json.id}/input_items`)
    expect(items.json.data[0]).toMatchObject({ type: 'mcp_approval_response', approve })
  }
  scene.up.next(asks('', call('pay', 'c1', '{"amount":5}')))
  expect((await create({ input: 'Pay!' })).json).toMatchObject({ output: [], status: 'completed' })
})

verifies('contract-23.audit', 'a decision leaves its entry, by a response as by a session’s actions', async () => {
  const newest = async () => (await scene.call('GET', '/api/v1/audit?kind=call&limit=1')).json
  const decided = { action: 'decide', actorKind: 'deploy_key', recordId: 'c1', recordName: 'pay' }
  const id = await scene.waiting()
  scene.says('Done.')
  await scene.decide(id, [{ call_id: 'c1', decision: 'approve' }])
  const { entries, total } = await newest()
  expect(entries).toMatchObject([{ ...decided, changes: { decision: { from: null, to: 'approve' } } }])
  scene.up.next(asks('', call('pay', 'c1', '{"amount":5}')))
  scene.says('Done.')
  const { output } = (await create({ input: 'Pay!', include_actions: true })).json
  const no = { type: 'mcp_approval_response', approval_request_id: output[0].id, approve: false }
  expect((await create({ input: [no] })).status).toBe(200)
  const recordId = output[0].id.replace('mcpr_', 'call_')
  expect(await newest()).toMatchObject({
    total: total + 1,
    entries: [{ ...decided, recordId, changes: { decision: { from: null, to: 'reject' } } }],
  })
})

verifies(
  'contract-10.unknown-admission',
  'decisions that are stored are answered, whatever the audit takes',
  async () => {
    const { sql } = scene.app
    await sql`create function refuse_entries() returns trigger language plpgsql
    as $$ begin raise exception using errcode = '53100'; end $$`
    await sql`create trigger refuse_entries before insert on audit_entries for each row
    when (new.action = 'decide') execute function refuse_entries()`
    const id = await scene.waiting()
    scene.says('Done.')
    const answer = await scene.decide(id, [{ call_id: 'c1', decision: 'approve' }])
    await sql`drop function refuse_entries() cascade`
    expect([answer.status, answer.json.choices[0].message.content]).toEqual([200, 'Done.'])
  },
)

verifies(
  'contract-24.whole-history',
  'a client that sends everything goes on behind the last item that is known',
  async () => {
    scene.says('Two.')
    const first = (await create({ input: [user('one')] })).json
    scene.says('Four.')
    const history = [user('one'), ...first.output]
    const second = (await create({ input: [...history, user('three')] })).json
    expect([second.conversation, second.previous_response_id]).toEqual([first.conversation, first.id])
    expect(texts(scene.up.calls.at(-1)?.body)).toEqual(['one', 'Two.', 'three'])
    scene.says('Other.')
    const reference = { type: 'item_reference', id: first.output[0].id }
    const branch = (await create({ input: [user('one'), reference, user('otherwise')] })).json
    expect(branch.previous_response_id).toBe(first.id)
    expect(await scene.messages(sessionOf(first.conversation.id))).toHaveLength(4)

    scene.up.next(asks('', call('weather', 'c1')))
    const asked = (await create({ input: [...history, user('weather?')], tools })).json
    scene.says('Sunny.')
    const { call_id } = asked.output[0]
    const output = { type: 'function_call_output', call_id, output: 'sun' }
    const answered = await create({ input: [...history, user('weather?'), ...asked.output, output], tools })
    expect([answered.status, answered.json.previous_response_id]).toEqual([200, asked.id])
    scene.says('Bye.')
    const all = [...history, user('weather?'), ...asked.output, output, ...answered.json.output, user('thanks')]
    const last = (await create({ input: all, tools })).json
    expect(last.previous_response_id).toBe(answered.json.id)
  },
)

verifies(
  'contract-24.whole-history',
  'without an item that is known the input begins a conversation, with its calls',
  async () => {
    scene.says('Six.')
    const input = [
      user('one'),
      { type: 'reasoning', id: 'rs_elsewhere', summary: [] },
      { type: 'message', id: 'msg_elsewhere', role: 'assistant', content: [{ type: 'output_text', text: 'two' }] },
      { type: 'function_call', id: 'fc_elsewhere', call_id: 'their-id', name: 'look', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'their-id', output: 'seen' },
      { role: 'assistant', content: 'four' },
      user('five'),
    ]
    const first = (await create({ input, metadata: { a: 'b' } })).json
    const messages = await scene.messages(sessionOf(first.conversation.id))
    expect(messages.map(({ role, content }: { role: string; content: string }) => [role, content])).toEqual([
      ['user', 'one'],
      ['assistant', 'twofour'],
      ['user', 'five'],
      ['assistant', 'Six.'],
    ])
    const sent = scene.up.calls.at(-1)?.body.messages.filter(({ role }: { role: string }) => role !== 'system')
    expect(sent).toMatchObject([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two', tool_calls: [{ function: { name: 'look', arguments: '{"a":1}' } }] },
      { role: 'tool', content: 'seen' },
      { role: 'assistant', content: 'four' },
      { role: 'user', content: 'five' },
    ])
    const refused = async (items: object[]) => (await create({ input: items })).status
    expect(await refused(input.slice(0, 4))).toBe(400)
    expect(await refused(input.slice(0, 6))).toBe(400)
    expect(await refused([{ type: 'item_reference', id: 'msg_elsewhere' }, user('x')])).toBe(400)
  },
)

verifies(
  'contract-24.whole-history',
  'the last item that is known may be a message whose reply failed, or a call or an output that was given',
  async () => {
    const conversations = `${scene.agent}/deploy/conversations`
    const itemsOf = async (id: string) =>
      (await scene.call('GET', `${conversations}/${id}/items?order=asc`)).json.data as { id: string; type: string }[]
    const reference = ({ id }: { id: string } = { id: '' }) => ({ type: 'item_reference', id })

    const failed = (await scene.call('POST', conversations, {})).json
    scene.up.next((one) => one.error(401, { error: { message: 'no' } }))
    expect((await create({ input: 'fail', conversation: failed.id })).status).toBe(500)
    const [asked] = await itemsOf(failed.id)
    for (const item of [asked, reference(asked)]) {
      scene.says('Now.')
      const { json } = await create({ input: [item, user('again')] })
      expect(json.conversation?.id).toBe(failed.id)
      expect(texts(scene.up.calls.at(-1)?.body)).toEqual(['fail\n\nagain'])
    }
    // The newest message is sent again, whatever id it has.
    scene.says('Anew.')
    expect((await create({ input: [asked] })).json.conversation.id).not.toBe(failed.id)
    scene.says('Beside.')
    const first = (await create({ input: 'one', conversation: failed.id })).json
    scene.up.next((one) => one.error(401, { error: { message: 'no' } }))
    await create({ input: 'two', conversation: failed.id })
    scene.says('Two.')
    const beside = (await create({ input: await itemsOf(failed.id) })).json
    expect([beside.conversation, beside.previous_response_id]).toEqual([first.conversation, first.id])

    const again = (output: string) => [
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output },
    ]
    const items = [user('one'), ...again('1'), ...again('2')]
    const given = (await scene.call('POST', conversations, { items })).json
    const all = await itemsOf(given.id)
    expect(all).toHaveLength(5)
    for (const input of [all, ...all.map((item) => [reference(item)]), all.slice(0, 2), all.slice(0, 1)]) {
      scene.says('Go on.')
      const { json, text } = await create({ input: [...input, user('next')] })
      expect([input, json.conversation?.id, text]).toEqual([input, given.id, text])
      const sent = scene.up.calls.at(-1)?.body.messages.map(({ role }: { role: string }) => role)
      expect(sent).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool', 'user'])
    }
  },
)

verifies(
  ['contract-24.conversations', 'contract-14.fork'],
  'a copy’s items are those of its original: calls of the agent’s own are no part of either',
  async () => {
    scene.says('Hello.')
    const { conversation } = (await create({ input: 'Hi' })).json
    const go = (input: unknown, extra: object = {}) => create({ input, conversation, ...extra })
    scene.up.next(asks('I look. ', call('look', 'raw-1')))
    scene.says('Seen.')
    await go('Look!')
    scene.up.next(asks('Asking. ', call('weather', 'raw-2')))
    const { output } = (await go('Weather?', { tools })).json
    scene.says('Sunny.')
    await go([{ type: 'function_call_output', call_id: output[1].call_id, output: 'sun' }])
    scene.up.next(asks('', call('pay', 'raw-3', '{"amount":5}')))
    const asked = (await go('Pay!', { include_actions: true })).json
    scene.says('Paid.')
    await go([{ type: 'mcp_approval_response', approval_request_id: asked.output[0].id, approve: true }])
    scene.up.always((one) => one.error(401, { error: { message: 'no' } }))
    await go('Fail!')
    const fork_of = { session_id: sessionOf(conversation.id) }
    const fork = (await scene.call('POST', scene.sessions, { fork_of })).json
    /** Each id of an item by its place among all: a copy has others, in the same places. Calls keep theirs. */
    const itemId = /(?<!"call_id":"call_)[0-9a-f]{32}/g
    const itemsOf = async (id: string) => {
      const { text } = await scene.call('GET', `${scene.agent}/deploy/conversations/${id}/items?order=asc&limit=100`)
      const ids = [...new Set(text.match(itemId))]
      return JSON.parse(text.replace(itemId, (one) => `${ids.indexOf(one)}`))
    }
    const original = await itemsOf(conversation.id)
    expect(original.data.map(({ type }: { type: string }) => type)).toEqual([
      ...Array(7).fill('message'),
      'function_call',
      'function_call_output',
      ...['message', 'message', 'mcp_approval_request', 'mcp_approval_response', 'message', 'message'],
    ])
    expect(await itemsOf(fork.id)).toEqual(original)
  },
)

verifies(
  'contract-24.calls',
  'a history that only begins with a message of ours is the history of a new session',
  async () => {
    scene.says('One.')
    scene.says('And two.')
    const first = (await create({ input: 'Count' })).json
    const items = (await scene.call('GET', `${responses}/${first.id}/input_items`)).json.data
    const input = [...items, { role: 'assistant', content: 'Uno.' }, user('And?')]
    const second = await create({ input })
    expect(second.status).toBe(200)
    expect(second.json.conversation).not.toEqual(first.conversation)
  },
)
