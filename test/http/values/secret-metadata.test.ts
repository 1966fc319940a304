/** Contract section 20: metadata that says whom an agent acts for is not for a client secret to set. */
import { afterAll, beforeAll, expect } from 'vitest'
import { type FrontDoor, openFrontDoor } from '../../features/users/access/front-door-scene.ts'
import { verifies } from '../../verifies.ts'
import { call } from '../scene.ts'
import { sessionOf } from '../wires/responses/responses-scene.ts'

let door: FrontDoor
let secret: string
beforeAll(async () => {
  door = await openFrontDoor({ instances: 1 })
  const manage = (method: string, path: string, body: object) => call(`${door.here.url}${path}`, method, body)
  const content = 'Plan: {{session.metadata.plan}}'
  const promptId = (await manage('POST', '/api/v1/prompts', { name: 'P', content })).json.id
  const headers = { 'X-Api-Key': '{{session.metadata.customer|nobody}}' }
  const tool = { name: 't', description: 'd', method: 'GET', url: 'https://example.com/', headers }
  const toolId = (await manage('POST', '/api/v1/http-tools', tool)).json.id
  const server = { name: 'm', transport: 'streamable_http', url: 'http://127.0.0.1:9/mcp' }
  const ofServer = { 'x-a': '{{session.metadata.tier}}' }
  const mcpServerId = (await manage('POST', '/api/v1/mcp-servers', { ...server, headers: ofServer })).json.id
  const agent = `/api/v1/agents/${door.agentId}`
  expect((await manage('PUT', agent, { promptId })).status).toBe(200)
  expect(
    (
      await manage('PUT', `${agent}/tools`, {
        httpToolIds: [toolId],
        mcpServers: [{ mcpServerId, toolNames: ['*'] }],
      })
    ).status,
  ).toBe(200)
  secret = await door.secret('ann')
})
afterAll(() => door.close())

const sessions = () => `${door.deploy()}/sessions`
const bySecret = (method: string, path: string, body: object) => door.as(secret, method, `${sessions()}${path}`, body)
const byKey = async (metadata: object, user = 'ann'): Promise<string> =>
  (await door.asKey('POST', sessions(), { user, metadata })).json.id
const metadataOf = async (id: string) => (await door.asKey('GET', `${sessions()}/${id}`)).json.metadata

verifies(
  ['contract-20.secrets', 'contract-27.header-metadata'],
  'it neither sets nor changes them, and sets others as before',
  async () => {
    for (const metadata of [{ plan: 'gold' }, { customer: 'bob' }, { tier: 'a' }, { note: 'x', plan: '' }]) {
      const made = await bySecret('POST', '', { metadata })
      expect([metadata, made.status, made.json.error]).toEqual([
        metadata,
        403,
        expect.stringMatching(/^metadata\.(plan|customer|tier): /),
      ])
    }
    expect((await bySecret('POST', '', { metadata: { note: 'x', PLAN: 'gold' } })).status).toBe(201)
    const id = await byKey({ plan: 'free', customer: 'ann-7', note: 'a' })
    for (const metadata of [{ plan: 'gold', customer: 'ann-7' }, { plan: 'free' }, {}, null]) {
      expect([metadata, (await bySecret('PATCH', `/${id}`, { metadata })).status]).toEqual([metadata, 403])
    }
    expect(await metadataOf(id)).toEqual({ plan: 'free', customer: 'ann-7', note: 'a' })
    expect(
      (await bySecret('PATCH', `/${id}`, { metadata: { plan: 'free', customer: 'ann-7', note: 'b' } })).status,
    ).toBe(200)
    expect((await bySecret('PATCH', `/${id}`, { title: 'T' })).status).toBe(200)
  },
)

verifies(
  'contract-20.secrets',
  'nor does it on the Responses API, where its others count as its own, too',
  async () => {
    door.says('Fine.')
    const send = (path: string, metadata: object) =>
      door.as(secret, 'POST', `${door.deploy()}${path}`, { metadata, ...(path === '/responses' && { input: 'x' }) })
    const made = async (path: string) => {
      const { json } = await send(path, { note: 'x' })
      return sessionOf(json.conversation?.id ?? json.id)
    }
    for (const path of ['/conversations', '/responses']) {
      expect([path, (await send(path, { plan: 'gold' })).status]).toEqual([path, 403])
      const id = await made(path)
      expect([path, (await send(`/conversations/${id}`, { plan: 'gold' })).status]).toEqual([path, 403])
      const [row] = await door.sql`select uncounted from sessions where id = ${id}`
      expect([path, row]).toEqual([path, { uncounted: ['note'] }])
    }
  },
)

verifies('contract-20.secrets', 'a copy keeps them, and another user’s session tells nothing of its own', async () => {
  const id = await byKey({ plan: 'gold', note: 'a' })
  const fork = (metadata: object | undefined, of = id) =>
    bySecret('POST', '', { fork_of: { session_id: of }, ...(metadata && { metadata }) })
  expect((await fork(undefined)).json.metadata).toEqual({ plan: 'gold', note: 'a' })
  expect((await fork({ plan: 'gold', note: 'b' })).status).toBe(201)
  expect((await fork({ note: 'b' })).status).toBe(403)
  expect((await fork({ plan: 'free' })).status).toBe(403)
  const bobs = await byKey({ plan: 'platinum' }, 'bob')
  for (const plan of ['platinum', 'gold']) expect([plan, (await fork({ plan }, bobs)).status]).toEqual([plan, 403])
  expect((await fork({ note: 'x' }, bobs)).status).toBe(404)
})
