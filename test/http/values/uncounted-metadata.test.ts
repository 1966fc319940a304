/** Contract section 35: metadata counts in prompts and tools where the deploy key or management has set it. */
import { afterAll, beforeAll, expect } from 'vitest'
import { type FrontDoor, openFrontDoor, say } from '../../features/users/access/front-door-scene.ts'
import { verifies } from '../../verifies.ts'
import { call } from '../scene.ts'

let door: FrontDoor
let secret: string
let agentId: string
/** An agent whose prompt uses no value yet. */
beforeAll(async () => {
  door = await openFrontDoor({ instances: 1 })
  agentId = await door.newAgent()
  secret = await door.secret('ann', {}, agentId)
  door.says('Fine.')
})
afterAll(() => door.close())

const manage = (method: string, path: string, body: object) => call(`${door.here.url}${path}`, method, body)
const use = async (content: string | null) => {
  const promptId = content === null ? null : (await manage('POST', '/api/v1/prompts', { name: 'P', content })).json.id
  expect((await manage('PUT', `/api/v1/agents/${agentId}`, { promptId })).status).toBe(200)
}
const paths = () => ({ sessions: `${door.deploy(agentId)}/sessions`, deploy: door.deploy(agentId) })
const made = async (as: 'secret' | 'key', body: object): Promise<string> => {
  const { sessions } = paths()
  const answer = as === 'secret' ? door.as(secret, 'POST', sessions, body) : door.asKey('POST', sessions, body)
  return (await answer).json.id
}
const change = (as: 'secret' | 'key', id: string, metadata: object | null) => {
  const path = `${paths().sessions}/${id}`
  return as === 'secret' ? door.as(secret, 'PATCH', path, { metadata }) : door.asKey('PATCH', path, { metadata })
}
const sessionOf = (id: string) => id.replace(/^conv_(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

const plan = { plan: 'gold' }
/** What counts of `plan`, by the way in which the session got its metadata. */
const ways: Record<string, { make(): Promise<string>; counts: string }> = {
  'made by a secret': { make: () => made('secret', { metadata: plan }), counts: 'none' },
  'made by the deploy key': { make: () => made('key', { user: 'ann', metadata: plan }), counts: 'gold' },
  'changed by a secret': {
    async make() {
      const id = await made('key', { user: 'ann', metadata: { plan: 'free' } })
      await change('secret', id, plan)
      return id
    },
    counts: 'none',
  },
  'kept by a secret that changes others': {
    async make() {
      const id = await made('key', { user: 'ann', metadata: plan })
      await change('secret', id, { ...plan, note: 'x' })
      return id
    },
    counts: 'gold',
  },
  'removed by a secret, and set again': {
    async make() {
      const id = await made('key', { user: 'ann', metadata: plan })
      await change('secret', id, null)
      await change('secret', id, plan)
      return id
    },
    counts: 'none',
  },
  'set again by the deploy key': {
    async make() {
      const id = await made('secret', { metadata: plan })
      await change('key', id, plan)
      return id
    },
    counts: 'gold',
  },
  'titled by the deploy key': {
    async make() {
      const id = await made('secret', { metadata: plan })
      await door.asKey('PATCH', `${paths().sessions}/${id}`, { title: 'T' })
      return id
    },
    counts: 'none',
  },
  'copied from what a secret made': {
    make: async () => made('key', { fork_of: { session_id: await made('secret', { metadata: plan }) } }),
    counts: 'none',
  },
  'copied by a secret from what the key made': {
    make: async () => made('secret', { fork_of: { session_id: await made('key', { user: 'ann', metadata: plan }) } }),
    counts: 'gold',
  },
  'copied by a secret that says the same': {
    make: async () =>
      made('secret', { metadata: plan, fork_of: { session_id: await made('key', { user: 'ann', metadata: plan }) } }),
    counts: 'gold',
  },
  'copied by a secret that says something else': {
    make: async () => made('secret', { metadata: plan, fork_of: { session_id: await made('key', { user: 'ann' }) } }),
    counts: 'none',
  },
  'a conversation of a secret': {
    make: async () =>
      sessionOf((await door.as(secret, 'POST', `${paths().deploy}/conversations`, { metadata: plan })).json.id),
    counts: 'none',
  },
  'a conversation that a secret changes': {
    async make() {
      const id = await made('key', { user: 'ann', metadata: { plan: 'free' } })
      await door.as(secret, 'POST', `${paths().deploy}/conversations/${id}`, { metadata: plan })
      return id
    },
    counts: 'none',
  },
  'a response of a secret': {
    make: async () =>
      sessionOf(
        (await door.as(secret, 'POST', `${paths().deploy}/responses`, { input: 'Hi', metadata: plan })).json
          .conversation.id,
      ),
    counts: 'none',
  },
  'a response of the deploy key': {
    make: async () =>
      sessionOf(
        (await door.asKey('POST', `${paths().deploy}/responses`, { input: 'Hi', metadata: plan, user: 'ann' })).json
          .conversation.id,
      ),
    counts: 'gold',
  },
  'stored before': {
    async make() {
      const id = await made('key', { user: 'ann' })
      await door.sql`update sessions set metadata = ${JSON.stringify(plan)}::text::jsonb where id = ${id}`
      return id
    },
    counts: 'gold',
  },
}

verifies('contract-35.metadata', 'a value counts where the deploy key has set it, and GET shows both', async () => {
  const sessions = new Map<string, string>()
  await use(null)
  for (const [way, { make }] of Object.entries(ways)) sessions.set(way, await make())
  await use('Plan: {{session.metadata.plan|none}}')
  const ask = async (id: string) => {
    const before = door.up.calls.length
    const { status } = await door.asKey('POST', `${paths().sessions}/${id}/chat/completions`, say('Hi'))
    return [status, door.up.calls[before]?.body.messages[0].content]
  }
  for (const [way, id] of sessions) {
    expect([way, (await door.asKey('GET', `${paths().sessions}/${id}`)).json.metadata.plan]).toEqual([way, 'gold'])
    expect([way, ...(await ask(id))]).toEqual([way, 200, `Plan: ${ways[way]?.counts}`])
  }
  // Many at once go by admit_messages.
  const before = door.up.calls.length
  const answers = [...sessions.values()].map((id) =>
    door.asKey('POST', `${paths().sessions}/${id}/chat/completions`, say('Hi')),
  )
  expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([200]))
  const told = door.up.calls.slice(before).map(({ body }) => body.messages[0].content)
  expect(told.sort()).toEqual(
    Object.values(ways)
      .map(({ counts }) => `Plan: ${counts}`)
      .sort(),
  )
  // A summary is made with the same prompt.
  for (const way of ['made by a secret', 'made by the deploy key']) {
    const calls = door.up.calls.length
    const { status } = await door.asKey('POST', `${paths().sessions}/${sessions.get(way)}/compact`)
    expect([way, status]).toEqual([way, 200])
    expect(door.up.calls[calls]?.body.messages[0].content).toBe(`Plan: ${ways[way]?.counts}`)
  }
})
