/** Contract section 28, replays. */
import { afterAll, beforeAll, expect } from 'vitest'
import { forgetReplays } from '../../../src/features/replays/store/replays.ts'
import { nobody } from '../../http/scene.ts'
import { openToolScene, startToolServer, type ToolScene } from '../../http/tool-scene.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { verifies } from '../../verifies.ts'

let scene: ToolScene
let tools: Awaited<ReturnType<typeof startToolServer>>
let all = ''
/** Replies by id, each after a call of the tool. */
const replies: string[] = []

/** Calls `look` with these arguments, one after the other, then says what it was told. */
const looks =
  (...all: string[]) =>
  async (call: UpstreamCall) => {
    const { messages } = call.body
    const last = messages.at(-1)
    const q = all[messages.filter(({ role }: { role: string }) => role === 'tool').length]
    if (q === undefined) {
      await call.text(`${messages[0].content}: ${last.content}`)
      await call.finish()
      return
    }
    await call.toolCall({ id: 'c1', name: 'look', arguments: JSON.stringify({ q }) })
    await call.finish('tool_calls')
  }

beforeAll(async () => {
  tools = await startToolServer(({ url }) => `saw ${url.searchParams.get('q')}`)
  scene = await openToolScene({ settings: {}, system: 'one' })
  const inputSchema = { type: 'object', properties: { q: { type: 'string' } } }
  const id = await scene.createTool({ name: 'look', url: `${tools.url}/?q={{q}}`, inputSchema })
  await scene.choose({ httpToolIds: [id] })
  scene.up.always(looks('x'))
  for (let n = 0; n < 3; n += 1) {
    const session = await scene.newSession()
    await scene.send(session, `question ${n}`)
    replies.push((await scene.messages(session)).at(-1).id)
  }
  await scene.call('PUT', scene.agent, { systemPrompt: 'two' })
  all = `${scene.agent}/replays`
})
afterAll(async () => {
  await scene.close()
  await tools[Symbol.asyncDispose]()
})

const create = (body: object) => scene.call('POST', all, body)
const read = async (id: string) => (await scene.call('GET', `${all}/${id}?limit=100`)).json
const ended = async (id: string) => {
  await expect.poll(async () => (await read(id)).status).not.toBe('running')
  return await read(id)
}
const stamps = () => scene.app.sql`
  select s.id, s.updated_at, s.next_seq, (select count(*) from messages m where m.session_id = s.id) from sessions s order by s.id`

verifies(
  ['contract-28.replay', 'contract-28.replay-acts-not'],
  'questions are asked under another version, with the results on record',
  async () => {
    const before = { requests: tools.requests.length, sessions: await stamps() }
    expect(before.requests).toBe(3)
    const made = await create({ version: 3, replies })
    expect([made.status, made.json.status, made.json.counts.total]).toEqual([202, 'running', 3])
    const replay = await ended(made.json.id)
    expect(replay).toMatchObject({ status: 'complete', version: 3, counts: { complete: 3, pending: 0 }, total: 3 })
    expect(replay.cost).toBeNull() // the model has no price
    expect(replay.cases.map(({ messageId }: { messageId: string }) => messageId)).toEqual(replies)
    expect(replay.cases[0]).toMatchObject({
      status: 'complete',
      question: 'question 0',
      old: {
        version: 2,
        content: expect.stringMatching(/^one: [\s\S]*saw x$/),
        toolCalls: [{ name: 'look', arguments: '{"q":"x"}' }],
      },
      new: {
        version: 3,
        content: expect.stringMatching(/^two: [\s\S]*saw x$/),
        toolCalls: [{ name: 'look', arguments: '{"q":"x"}' }],
        finishReason: 'stop',
      },
      divergence: null,
      error: null,
    })
    expect({ requests: tools.requests.length, sessions: await stamps() }).toEqual(before)
    const verdict = `${all}/${replay.id}/cases/${replies[0]}`
    expect((await scene.call('PUT', verdict, { verdict: 'better', comment: 'Nicer.' })).json).toMatchObject({
      verdict: 'better',
    })
    expect((await scene.call('PUT', verdict, { verdict: 'best' })).status).toBe(400)
    expect((await read(replay.id)).counts.better).toBe(1)
    const judged = { verdict: 'same', comment: null }
    expect((await scene.call('PUT', verdict, { verdict: 'same' })).json).toMatchObject(judged)
    expect((await read(replay.id)).counts).toMatchObject({ better: 0, same: 1 })
    expect((await scene.call('PUT', verdict, { verdict: null })).json).toMatchObject({ verdict: null })
    const { rows } = (await scene.call('GET', `/api/v1/usage?groupBy=version&agentId=${scene.agentId}`)).json
    expect(rows.find(({ key }: { key: string }) => key === '3')).toMatchObject({ replies: 3, replays: 3 })
    const figures = (await scene.call('GET', '/api/v1/usage/figures')).json.rows
    expect(figures.find(({ key }: { key: string }) => key === scene.agentId).replies).toBe(3)
    expect((await scene.call('DELETE', `${all}/${replay.id}`)).status).toBe(204)
    expect((await scene.call('GET', `${all}/${replay.id}`)).status).toBe(404)
  },
)

verifies('contract-28.replay', 'the first request is that of the reply, under its own version', async () => {
  const first = scene.up.calls[0]?.body
  const count = scene.up.calls.length
  const made = await create({ version: 2, replies: [replies[0]] })
  await ended(made.json.id)
  const again = scene.up.calls[count]?.body
  expect([again.messages, again.tools]).toEqual([first.messages, first.tools])
})

verifies('contract-28.replay-acts-not', 'a call that is not on record ends its case', async () => {
  scene.up.always(looks('x', 'y'))
  const made = await create({ version: 3, replies: [replies[1]] })
  const replay = await ended(made.json.id)
  expect(replay.counts).toMatchObject({ diverged: 1, complete: 0 })
  expect(replay.cases[0]).toMatchObject({
    status: 'diverged',
    divergence: { name: 'look', arguments: '{"q":"y"}', position: 1 },
    new: {
      toolCalls: [
        { name: 'look', arguments: '{"q":"x"}' },
        { name: 'look', arguments: '{"q":"y"}' },
      ],
    },
  })
  expect(tools.requests).toHaveLength(3)
  scene.up.always(looks('x'))
})

verifies(
  'contract-28.replay-refused',
  'each of these is refused; one runs for each agent; cancel stops it',
  async () => {
    const [original] = await scene.app.sql`select session_id from messages where id = ${replies[0] ?? ''}`
    const fork = await scene.call('POST', scene.sessions, { fork_of: { session_id: original?.session_id } })
    const copied = (await scene.messages(fork.json.id)).at(-1).id
    const refused: [object, string][] = [
      [{ version: 3, replies: [copied] }, 'replies.0'],
      [{ version: 99, replies }, 'version'],
      [{ version: 'draft', replies }, 'version'],
      [{ version: '3', replies }, 'version'],
      [{ version: 3, replies: [] }, 'replies'],
      [{ version: 3, replies: [nobody] }, 'replies.0'],
      [{ version: 3, replies: [replies[0], replies[0]] }, 'replies.1'],
      [{ version: 3, replies: { feedback: 'up' } }, 'replies'],
      [{ version: 3, replies: { feedback: 'no' } }, 'replies.feedback'],
      [{ version: 3, replies: { limit: 201 } }, 'replies.limit'],
      [{ version: 3, replies: { x: 1 } }, 'replies.x'],
      [{ version: 3, replies, concurrency: 5 }, 'concurrency'],
      [{ version: 3, replies, x: 1 }, 'x'],
    ]
    for (const [body, field] of refused) {
      const { status, json } = await create(body)
      expect([body, status, json.message]).toEqual([body, 400, expect.stringContaining(field)])
    }
    const open = scene.byHand()
    const made = await create({ version: 3, replies: { limit: 3 }, concurrency: 1 })
    expect((await create({ version: 3, replies })).status).toBe(409)
    const call = await open
    expect((await scene.call('POST', `${all}/${made.json.id}/cancel`)).status).toBe(204)
    await expect.poll(() => call.abandoned).toBe(true)
    expect(await read(made.json.id)).toMatchObject({ status: 'cancelled', counts: { cancelled: 3, running: 0 } })
    expect((await scene.call('POST', `${all}/${made.json.id}/cancel`)).status).toBe(204)
    scene.up.always(looks('x'))
  },
)

verifies('contract-28.replay-lost', 'a case that was lost three times is given up', async () => {
  const open = scene.byHand()
  const made = await create({ version: 3, replies: [replies[2]] })
  await open
  scene.up.always(looks('x')) // before the loss: the case begins anew at once
  await scene.app.sql`update replay_cases set instance_id = ${nobody}, losses = 1 where replay_id = ${made.json.id}`
  expect(await ended(made.json.id)).toMatchObject({ counts: { complete: 1 } })
  const second = scene.byHand()
  const again = await create({ version: 3, replies: [replies[2]] })
  await second
  await scene.app.sql`update replay_cases set instance_id = ${nobody}, losses = 2 where replay_id = ${again.json.id}`
  expect((await ended(again.json.id)).cases[0]).toMatchObject({ status: 'error', error: { code: 'instance_lost' } })
  scene.up.always(looks('x'))
})

verifies('contract-28.replay', 'it is removed 30 days after it was created', async () => {
  const ids: string[] = []
  for (const age of ['29 days 23 hours', '30 days 1 hour']) {
    const { json } = await create({ version: 3, replies: [replies[0]] })
    await ended(json.id)
    await scene.app.sql`
      update replays set created_at = clock_timestamp() - ${age}::interval where id = ${json.id}`
    ids.push(json.id)
  }
  await forgetReplays(scene.app.sql)
  const statuses = await Promise.all(ids.map(async (id) => (await scene.call('GET', `${all}/${id}`)).status))
  expect(statuses).toEqual([200, 404])
})
