/** Contract section 28, "Which version answers". */
import { afterAll, expect } from 'vitest'
import type { Answer } from '../../../http/scene.ts'
import { verifies } from '../../../verifies.ts'
import { openFrontDoor } from '../../users/access/front-door-scene.ts'

const door = await openFrontDoor()
afterAll(door.close)

const say = (content: string, more: object = {}) => ({ messages: [{ role: 'user', content }], ...more })

/** An agent whose live version, 3, says "three", with a draft that says "draft". */
async function agentOfThree() {
  const agentId = await door.newAgent()
  const path = `/api/v1/agents/${agentId}`
  for (const text of ['two', 'three']) await door.asKey('PUT', path, { systemPrompt: text, model: `m-${text}` })
  await door.asKey('PUT', `${path}?draft=true`, { systemPrompt: 'draft' })
  const deploy = door.deploy(agentId)
  return {
    agentId,
    path,
    deploy,
    play: `${path}/playground`,
    newSession: async (body: object = {}): Promise<string> =>
      (await door.asKey('POST', `${deploy}/sessions`, body)).json.id,
    send: (session: string, text: string, more: object = {}, app = door.here): Promise<Answer> =>
      door.asKey('POST', `${deploy}/sessions/${session}/chat/completions`, say(text, more), app),
    pin: (session: string, version: unknown): Promise<Answer> =>
      door.asKey('PATCH', `${deploy}/sessions/${session}`, { agent_version: version }),
    versions: async (session: string) =>
      (await door.asKey('GET', `${path}/playground/sessions/${session}/messages`)).json.messages
        .filter(({ role }: { role: string }) => role === 'assistant')
        .map(({ agentVersion }: { agentVersion: unknown }) => agentVersion),
  }
}

/** The system prompt of the newest request to the provider. */
const system = () => {
  const messages = door.up.calls.at(-1)?.body.messages
  const [first] = Array.isArray(messages) ? messages : []
  return first?.role === 'system' ? first.content : null
}

verifies(
  ['contract-28.answers', 'contract-28.pins', 'contract-28.on-record'],
  'the request asks, else the session is pinned, else the live version answers',
  async () => {
    door.says('ok')
    const agent = await agentOfThree()
    const session = await agent.newSession()
    const answered = await agent.send(session, 'a')
    expect([system(), answered.json.model]).toEqual(['three', 'm-three'])
    expect((await agent.pin(session, 2)).json.agent_version).toBe(2)
    for (const app of [door.here, door.there]) {
      const pinned = await agent.send(session, 'b', {}, app)
      expect([system(), pinned.json.model]).toEqual(['two', 'm-two'])
    }
    await agent.send(session, 'c', { agent_version: 'draft' })
    expect(system()).toBe('draft')
    await agent.send(session, 'd', { agent_version: 3 })
    expect(system()).toBe('three')
    expect((await agent.pin(session, null)).json.agent_version).toBeNull()
    await agent.send(session, 'e')
    expect(system()).toBe('three')
    expect(await agent.versions(session)).toEqual([3, 2, 2, 'draft', 3, 3])
    await door.asKey('DELETE', `${agent.path}/draft`)
    await agent.send(session, 'f', { agent_version: 'draft' })
    expect((await agent.versions(session)).at(-1)).toBe(3)
    const { json } = await door.asKey('GET', `${agent.path}/playground/sessions/${session}/messages`)
    const trace = await door.asKey('GET', `/api/v1/debug/replies/${json.messages[3].id}/trace`)
    expect(trace.json.agentVersion).toBe(2)
  },
)

verifies('contract-28.answers', 'a stateless request and the playground ask alike', async () => {
  door.says('ok')
  const agent = await agentOfThree()
  const stateless = await door.asKey('POST', `${agent.deploy}/chat/completions`, say('a', { agent_version: 2 }))
  expect([system(), stateless.json.model]).toEqual(['two', 'm-two'])
  const overrides = { agentVersion: 2, configOverrides: { model: 'over' } }
  await door.asKey('POST', `${agent.play}/chat`, { message: 'x', ...overrides })
  expect([system(), door.up.calls.at(-1)?.body.model]).toEqual(['two', 'over'])
  const refused = await door.asKey('POST', `${agent.play}/chat`, { message: 'x', agentVersion: 9 })
  expect([refused.status, refused.json.message]).toEqual([400, expect.stringContaining('agentVersion')])
})

verifies(
  'contract-28.pins',
  'a session is pinned when it is made; a copy takes the pin unless it has its own',
  async () => {
    door.says('ok')
    const agent = await agentOfThree()
    const session = await agent.newSession({ agent_version: 2 })
    await agent.send(session, 'a')
    expect(system()).toBe('two')
    const copies = [{}, { agent_version: 1 }, { agent_version: null }].map((more) =>
      door.asKey('POST', `${agent.deploy}/sessions`, { fork_of: { session_id: session }, ...more }),
    )
    expect((await Promise.all(copies)).map(({ json }) => json.agent_version)).toEqual([2, 1, null])
    const play = `${agent.play}/sessions`
    const made = await door.asKey('POST', play, { agentVersion: 2 })
    expect(made.json.agentVersion).toBe(2)
    expect((await door.asKey('PATCH', `${play}/${made.json.id}`, { agentVersion: null })).json.agentVersion).toBeNull()
  },
)

verifies('contract-28.unfit', 'what does not fit is refused, and nothing is stored', async () => {
  door.says('ok')
  const agent = await agentOfThree()
  const session = await agent.newSession({ user: 'u' })
  for (const version of [9, 0, 1.5, '2', 'live', null, true]) {
    const { status, text } = await agent.send(session, 'a', { agent_version: version })
    expect([version, status, text]).toEqual([version, 400, expect.stringContaining('agent_version')])
  }
  for (const version of [9, 0, 'draft', '2', true]) {
    expect((await agent.pin(session, version)).status).toBe(400)
    expect((await door.asKey('POST', `${agent.deploy}/sessions`, { agent_version: version })).status).toBe(400)
  }
  const secret = await door.secret('u', {}, agent.agentId)
  const bodies: [string, string, object][] = [
    ['POST', `/sessions/${session}/chat/completions`, say('a')],
    ['POST', '/sessions', {}],
    ['PATCH', `/sessions/${session}`, {}],
  ]
  for (const [method, path, body] of bodies) {
    for (const version of [2, null]) {
      const asked = { ...body, agent_version: version }
      expect((await door.as(secret, method, `${agent.deploy}${path}`, asked)).status).toBe(403)
    }
  }
  expect(await agent.versions(session)).toEqual([])
  await agent.pin(session, 2)
  await door.as(secret, 'POST', `${agent.deploy}/sessions/${session}/chat/completions`, say('a'))
  expect(system()).toBe('two')
})

verifies(
  'contract-28.unfit',
  'a provider that is gone is 409 that names it; a fallback that is gone is left out',
  async () => {
    door.says('ok')
    const agent = await agentOfThree()
    const { providerId } = (await door.asKey('GET', agent.path)).json
    const gone = { name: `gone-${agent.agentId}`, providerType: 'openai-compatible', baseUrl: door.up.url, apiKey: 'k' }
    const { id } = (await door.asKey('POST', '/api/v1/settings/providers', gone)).json
    await door.asKey('PUT', agent.path, { fallbacks: [{ providerId: id, model: 'f' }] })
    await door.asKey('PUT', agent.path, { fallbacks: [], providerId: id })
    await door.asKey('PUT', agent.path, { providerId })
    expect((await door.asKey('DELETE', `/api/v1/settings/providers/${id}`)).status).toBe(204)
    const session = await agent.newSession()
    expect((await agent.send(session, 'a', { agent_version: 4 })).status).toBe(200)
    await agent.pin(session, 5)
    for (const more of [{}, { agent_version: 5 }]) {
      const { status, json, headers } = await agent.send(session, 'a', more)
      expect([status, headers.get('x-should-retry')]).toEqual([409, 'false'])
      expect(json.error).toContain(gone.name)
      expect(json.error).toContain('5')
    }
    expect(await agent.versions(session)).toEqual([4])
  },
)

verifies(
  'contract-28.answers',
  'a queued message begins under what it asked for, the pin, or the live version',
  async () => {
    const agent = await agentOfThree()
    const session = await agent.newSession()
    const first = door.byHand()
    const running = agent.send(session, 'a')
    const call = await first
    const queued = [{ agent_version: 2 }, {}].map((more) => agent.send(session, 'q', { on_busy: 'enqueue', ...more }))
    await expect
      .poll(async () => (await door.asKey('GET', `${agent.deploy}/sessions/${session}/queue`)).json.queue.length)
      .toBe(2)
    await door.asKey('PUT', agent.path, { systemPrompt: 'four' })
    door.says('ok')
    const before = door.up.calls.length
    await call.text('first')
    await call.finish()
    await Promise.all([running, ...queued])
    const prompts = door.up.calls.slice(before).map(({ body }) => body.messages)
    expect(prompts.map((messages) => (Array.isArray(messages) ? messages[0]?.content : null)).toSorted()).toEqual([
      'four',
      'two',
    ])
    expect((await agent.versions(session)).toSorted()).toEqual([2, 3, 4])
  },
)

verifies('contract-28.used-metadata', 'what the draft or the pin uses is not a client secret’s', async () => {
  const agent = await agentOfThree()
  const session = await agent.newSession({ user: 'u' })
  await door.asKey('PUT', agent.path, { systemPrompt: 'Plan {{session.metadata.plan}}.' })
  await door.asKey('PUT', agent.path, { systemPrompt: 'None.' })
  await door.asKey('PUT', `${agent.path}?draft=true`, { systemPrompt: 'Tier {{session.metadata.tier}}.' })
  const secret = await door.secret('u', {}, agent.agentId)
  const change = async (metadata: object) =>
    (await door.as(secret, 'PATCH', `${agent.deploy}/sessions/${session}`, { metadata })).status
  expect([await change({ plan: 'a' }), await change({ tier: 'a' })]).toEqual([200, 403])
  await agent.pin(session, 4)
  expect(await change({ plan: 'b' })).toBe(403)
})

verifies('contract-28.answers', 'a version has the text that its stored prompt had', async () => {
  door.says('ok')
  const agent = await agentOfThree()
  const prompt = await door.asKey('POST', '/api/v1/prompts', { name: agent.agentId, content: 'before' })
  await door.asKey('PUT', agent.path, { promptId: prompt.json.id })
  await door.asKey('PUT', `/api/v1/prompts/${prompt.json.id}`, { content: 'after' })
  const session = await agent.newSession()
  await agent.send(session, 'a', { agent_version: 4 })
  expect(system()).toBe('before')
  await agent.send(session, 'b')
  expect(system()).toBe('after')
})
