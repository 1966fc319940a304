/** Search, archiving and shares through the client. */
import { expect } from 'vitest'
import { createClient } from '../../packages/client/src/index.ts'
import { allIndexed, asMessages } from '../features/search/support.ts'
import { verifies } from '../verifies.ts'
import { openClientScene } from './scene.ts'

const scene = await openClientScene()
const { agent } = scene

verifies('contract-11.client', 'messages are searched, page by page', async () => {
  const ids: (string | null)[] = []
  for (const text of ['a walrus', 'another walrus']) {
    const session = agent.session(null, { user: 'ann', messages: [{ role: 'user', content: text }] })
    ids.unshift(await session.create())
  }
  await allIndexed(scene.app.sql)
  const page = await agent.search({ q: 'walrus', user: 'ann', limit: 1 })
  expect(page.results.map(({ session }) => session.id)).toEqual(ids.slice(0, 1))
  expect(page.results[0]?.snippets).toMatchObject([{ text: 'another walrus', marks: [[8, 14]] }])
  const rest = await agent.search({ q: 'walrus', user: 'ann', cursor: page.next ?? '' })
  expect([rest.results.map(({ session }) => session.id), rest.next]).toEqual([ids.slice(1), null])
  await agent.session(ids[0]).patch({ archived: true })
  expect((await agent.sessions({ archived: 'true' })).sessions.map(({ id }) => id)).toEqual(ids.slice(0, 1))
})

verifies('contract-11.client', 'a session is shared, read by its token alone, and unshared', async () => {
  const session = agent.session(null, { messages: asMessages(['Hello', 'Fine.']) })
  expect(await session.shares()).toEqual([])
  const { token, id } = await session.share({ include: ['reasoning'] })
  expect(await session.shares()).toMatchObject([{ id, live: false, include: ['reasoning'] }])
  const reader = createClient({ baseUrl: scene.app.url, headers: { authorization: `Bearer ${token}` } })
  const shown = reader.agent(scene.agentId).session(session.id)
  expect((await shown.messages()).map(({ content }) => content)).toEqual(['Hello', 'Fine.'])
  await session.unshare(id)
  await expect(shown.messages()).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' })
})
