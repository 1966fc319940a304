/** Sessions with what the contract lets them carry, through the client. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { ApiError } from '../../packages/client/src/index.ts'
import { verifies } from '../verifies.ts'
import { openClientScene } from './scene.ts'

const scene = await openClientScene()
const { agent, client } = scene
scene.says(['Fine.'])

verifies(
  'contract-11.client',
  'a session is made with all that it may carry, by its first message or by itself',
  async () => {
    const id = randomUUID()
    const made = {
      id,
      title: 'Mine',
      user: 'ann',
      metadata: { plan: 'gold' },
      messages: [{ role: 'user' as const, content: 'Earlier' }],
    }
    const session = agent.session(null, made)
    expect(await session.send('Now').text()).toBe('Fine.')
    expect(session.id).toBe(id)
    expect(await session.record()).toMatchObject({ id, title: 'Mine', user: 'ann', metadata: { plan: 'gold' } })
    expect((await session.messages()).map(({ content }) => content)).toEqual(['Earlier', 'Now', 'Fine.'])
    const newest = await session.messages({ limit: 1 })
    expect(newest.map(({ content }) => content)).toEqual(['Fine.'])
    const before = await session.messages({ before: newest[0]?.id ?? '', limit: 1 })
    expect(before.map(({ content }) => content)).toEqual(['Now'])
    await expect(agent.session(null, { id }).create()).rejects.toBeInstanceOf(ApiError)
  },
)

verifies(
  'contract-11.client',
  'title and metadata change; lists are narrowed by user, metadata and title',
  async () => {
    const session = agent.session(null, { user: 'ben', metadata: { a: '1' }, title: 'First' })
    expect(await session.patch({ metadata: { 'b c[d]': '2&=' } })).toMatchObject({ title: 'First', user: 'ben' })
    expect(await session.patch({ title: 'Second' })).toMatchObject({ title: 'Second', metadata: { 'b c[d]': '2&=' } })
    const listed = await agent.sessions({ user: 'ben', metadata: { 'b c[d]': '2&=' }, q: 'SECOND', limit: 5 })
    expect(listed).toMatchObject({ sessions: [{ id: session.id }], total: 1, limit: 5 })
    expect((await agent.sessions({ user: 'ben', metadata: { a: '1' } })).total).toBe(0)
    const seen = await client.playground(scene.agentId).sessions({ user: 'ben' })
    expect(seen.sessions).toMatchObject([{ id: session.id, user: 'ben' }])
    const here = client.playground(scene.agentId).session(null, { user: 'cleo', metadata: { from: 'here' } })
    expect(await here.send('x').text()).toBe('Fine.')
    expect((await agent.session(here.id).record()).metadata).toEqual({ from: 'here' })
  },
)
