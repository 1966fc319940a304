/** The end of a session, and of a child, at all depths (contract section 30). */
import { afterAll, beforeAll, expect } from 'vitest'
import { tidyReplies } from '../../../src/features/sessions/store/housekeeping.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { openSse } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { asking, asks, openTreeScene, says, type TreeScene } from './tree-scene.ts'

let scene: TreeScene
beforeAll(async () => {
  scene = await openTreeScene({ settings: {} })
})
afterAll(() => scene.close())

/** Three new agents, of which the desk asks billing, and billing the ledger. */
async function newAgents() {
  const name = crypto.randomUUID()
  const [desk, billing, ledger] = [`desk ${name}`, `billing ${name}`, `ledger ${name}`]
  const ids = { ledger: await scene.newAgent(ledger), billing: await scene.newAgent(billing), desk: '' }
  ids.desk = await scene.newAgent(desk)
  await scene.toolsOf(ids.billing, [{ agentId: ids.ledger, name: 'ledger' }])
  await scene.toolsOf(ids.desk, [{ agentId: ids.billing, name: 'billing' }])
  return { ids, models: { desk, billing, ledger } }
}

const at = (agentId: string, session: string) => `/api/v1/agents/${agentId}/deploy/sessions/${session}`
const below = async (desk: string, session: string): Promise<{ id: string; agent_id: string }[]> =>
  (await scene.call('GET', `${at(desk, session)}/children`)).json.sessions
const statusOf = async (session: string) =>
  (await scene.app.sql<{ status: string }[]>`select status from sessions where id = ${session}`)[0]?.status ?? 'gone'
const statusesOf = (sessions: readonly { id: string }[]) => Promise.all(sessions.map(({ id }) => statusOf(id)))

/** A whole tree of three sessions, for a user: all of them have ended. */
async function ended(user: string) {
  const { ids, models } = await newAgents()
  scene.plays(models.desk, asks('', asking('billing', 'Ann?')), says('12 euros.'))
  scene.plays(models.billing, asks('', asking('ledger', 'Ann?')), says('12'))
  scene.plays(models.ledger, says('+12'))
  const { session } = await scene.ask(ids.desk, 'Ann?', { user })
  return { ids, models, session, children: await below(ids.desk, session) }
}

/** A tree of three sessions that run: the ledger's model says nothing, billing's has said `text`. */
async function running(text = '') {
  const { ids, models } = await newAgents()
  const asked = Promise.withResolvers<void>()
  const silent = async (call: UpstreamCall) => {
    asked.resolve()
    await call.closed
  }
  scene.plays(models.desk, asks('', asking('billing', 'Ann?')))
  scene.plays(models.billing, asks(text, asking('ledger', 'Ann?')))
  scene.plays(models.ledger, silent)
  const { id } = (await scene.call('POST', `/api/v1/agents/${ids.desk}/deploy/sessions`, {})).json
  const path = `${at(ids.desk, id)}/chat/completions`
  const reply = scene.call('POST', path, { messages: [{ role: 'user', content: 'Ann?' }] })
  await asked.promise
  const children = await below(ids.desk, id)
  return { ids, models, session: id as string, path, reply, children }
}

verifies('contract-30.child-cancel', 'a cancel ends those at all depths, an interrupt too', async () => {
  const cancelled = await running()
  expect(await statusesOf(cancelled.children)).toEqual(['streaming', 'streaming'])
  expect((await scene.call('POST', `${cancelled.path}/cancel`)).status).toBe(204)
  await cancelled.reply
  await expect.poll(() => statusesOf(cancelled.children)).toEqual(['cancelled', 'cancelled'])

  const { models, path, reply, children } = await running()
  scene.plays(models.desk, says('Never mind.'))
  const next = await scene.call('POST', path, {
    messages: [{ role: 'user', content: 'Leave it.' }],
    on_busy: 'interrupt',
  })
  expect(next.json.choices[0].message.content).toBe('Never mind.')
  await reply
  await expect.poll(() => statusesOf(children)).toEqual(['cancelled', 'cancelled'])
})

verifies('contract-30.child-cancel', 'a cancelled child takes what is below it, and its parent goes on', async () => {
  const { ids, models, reply, children } = await running()
  scene.plays(models.desk, (call) => says(call.body.messages.at(-1).content)(call))
  const [child] = children
  expect((await scene.call('POST', `${at(ids.billing, child?.id ?? '')}/chat/completions/cancel`)).status).toBe(204)
  expect((await reply).json.choices[0].message.content).toContain("The agent's reply was cancelled.")
  await expect.poll(() => statusesOf(children)).toEqual(['cancelled', 'cancelled'])
})

verifies(
  'contract-30.child-result',
  'a deleted child takes what is below it, and its parent goes on with its text so far',
  async () => {
    const { ids, models, reply, children } = await running('Ann owes ')
    scene.plays(models.desk, (call) => says(call.body.messages.at(-1).content)(call))
    const [child] = children
    const stored = async () => (await scene.messagesOf(ids.billing, child?.id ?? '')).at(-1).content
    await expect.poll(stored).toBe('Ann owes ')
    expect((await scene.call('DELETE', at(ids.billing, child?.id ?? ''))).status).toBe(204)
    expect((await reply).json.choices[0].message.content).toBe(
      "The agent's session was deleted. Its text so far:\nAnn owes ",
    )
    expect(await statusesOf(children)).toEqual(['gone', 'gone'])
    await expect.poll(() => scene.app.sql`select 1 from gone_children`).toEqual([])
  },
)

verifies('contract-30.child-deletion', 'of what is deleted with its parent no text is left', async () => {
  const { ids, session, reply } = await running('Ann owes ')
  await scene.app.sql`alter table gone_children add constraint no_text check (content is null)`
  expect((await scene.call('DELETE', at(ids.desk, session))).status).toBe(204)
  await scene.app.sql`alter table gone_children drop constraint no_text`
  await reply
})

verifies('contract-30.child-deletion', 'the streams of those below a deleted session end', async () => {
  const { ids, session, reply, children } = await running()
  const streams = await Promise.all(
    children.map(({ id, agent_id }) => openSse(`${scene.app.url}${at(agent_id, id)}/chat/completions/stream`)),
  )
  expect((await scene.call('DELETE', at(ids.desk, session))).status).toBe(204)
  await reply
  for (const stream of streams) {
    const { frames } = await stream.rest()
    expect(JSON.parse(frames.at(-1)?.data ?? '{}').error).toMatchObject({ code: 'session_deleted' })
  }
  expect(await statusesOf(children)).toEqual(['gone', 'gone'])
})

verifies('contract-30.child-deletion', 'a user, an agent and a reply take all below them', async () => {
  const ofUser = await ended('ann')
  const users = `/api/v1/agents/${ofUser.ids.desk}/deploy/users/ann`
  expect((await scene.call('DELETE', users)).status).toBe(204)
  expect(await statusesOf([{ id: ofUser.session }, ...ofUser.children])).toEqual(['gone', 'gone', 'gone'])

  const ofAgent = await ended('ann')
  expect((await scene.call('DELETE', `/api/v1/agents/${ofAgent.ids.desk}`)).status).toBe(204)
  expect(await statusesOf([{ id: ofAgent.session }, ...ofAgent.children])).toEqual(['gone', 'gone', 'gone'])

  const ofReply = await ended('ann')
  const [, reply] = await scene.messagesOf(ofReply.ids.desk, ofReply.session)
  const responses = `/api/v1/agents/${ofReply.ids.desk}/deploy/responses`
  expect((await scene.call('DELETE', `${responses}/resp_${reply.id.replaceAll('-', '')}`)).status).toBe(200)
  expect(await statusesOf([{ id: ofReply.session }, ...ofReply.children])).toEqual(['idle', 'gone', 'gone'])
})

verifies(
  'contract-30.child-deletion',
  'a user of the called agent takes its children; what was told stays',
  async () => {
    const { ids, session, children } = await ended('ann')
    const path = `/api/v1/agents/${ids.billing}/deploy/users/ann`
    expect((await scene.call('POST', `${path}/revoke`)).status).toBe(204)
    expect(await statusesOf(children)).toEqual(['complete', 'complete'])
    expect((await scene.call('DELETE', path)).status).toBe(204)
    expect(await statusesOf([{ id: session }, ...children])).toEqual(['complete', 'gone', 'gone'])
    const shown = await scene.call('GET', `/api/v1/agents/${ids.desk}/playground/sessions/${session}/messages`)
    expect(shown.json.messages[1].toolCalls).toMatchObject([{ ok: true, content: '12' }])
  },
)

verifies('contract-30.child-deletion', 'retention takes a child with the top session, and not before', async () => {
  const { session, children } = await ended('ann')
  const { sql } = scene.app
  const age = (ids: readonly string[]) =>
    sql`update sessions set updated_at = clock_timestamp() - interval '31 days' where id = any(${[...ids]}::uuid[])`
  await age(children.map(({ id }) => id))
  await tidyReplies(sql, 30)
  expect(await statusesOf(children)).toEqual(['complete', 'complete'])
  await sql`update sessions set updated_at = clock_timestamp() where id = any(${children.map(({ id }) => id)}::uuid[])`
  await age([session])
  await tidyReplies(sql, 30)
  expect(await statusesOf([{ id: session }, ...children])).toEqual(['gone', 'gone', 'gone'])
})

verifies(
  ['contract-30.child-deletion', 'contract-30.parent'],
  'forks have no children, and are none themselves',
  async () => {
    const { ids, session, children } = await ended('ann')
    const fork = async (agentId: string, of: string) =>
      (await scene.call('POST', `/api/v1/agents/${agentId}/deploy/sessions`, { fork_of: { session_id: of } })).json
    const copy = await fork(ids.desk, session)
    expect(await below(ids.desk, copy.id)).toEqual([])
    const shown = await scene.call('GET', `/api/v1/agents/${ids.desk}/playground/sessions/${copy.id}/messages`)
    expect(shown.json.messages[1].toolCalls).toMatchObject([{ name: 'billing', ok: true, content: '12' }])
    const childCopy = await fork(ids.billing, children[0]?.id ?? '')
    expect(childCopy).toMatchObject({ parent: null, user: 'ann' })
    expect((await scene.call('DELETE', at(ids.desk, session))).status).toBe(204)
    expect(await statusesOf([copy, childCopy])).toEqual(['idle', 'idle'])
  },
)
