/** Contract section 26: lists of a session's messages, however long they are. */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'

const MIB = 2 ** 20
const scene = await openScene()
afterAll(scene.close)

/** A session of messages of so many bytes each, which was never counted. */
async function sessionOf(sizes: readonly number[], user: string | null = null): Promise<string> {
  const id = (await scene.call('POST', scene.sessions, { user })).json.id
  for (const [position, size] of sizes.entries()) {
    await scene.app.sql`
      insert into messages (id, session_id, position, role, status, content)
      values (${crypto.randomUUID()}, ${id}, ${position}, 'user', 'complete', repeat(${`é${position % 10}`}, ${Math.floor(size / 3)}))`
  }
  await scene.app.sql`update sessions set bytes = null where id = ${id}`
  return id
}

const lengths = (messages: { content: string }[]) =>
  messages.map(({ content }) => [content.slice(0, 2), content.length])
const playground = (id: string) => `${scene.agent}/playground/sessions/${id}/messages`

verifies(
  'contract-26.long-lists',
  'above 32 MiB a list needs a limit, on every path; with one it comes whole',
  async () => {
    const sizes = Array(9).fill(4 * MIB)
    const id = await sessionOf(sizes)
    const chat = `${scene.agent}/deploy/ai-sdk/${id}/messages`
    for (const [path, key] of [
      [`${scene.sessions}/${id}/messages`, 'error'],
      [`${scene.sessions}/${id}/messages?branches=all`, 'error'],
      [playground(id), 'message'],
      [chat, 'error'],
    ] as const) {
      const { status, json } = await scene.call('GET', path)
      expect([path, status, json]).toEqual([path, 413, { [key]: expect.stringContaining('limit') }])
    }
    for (const path of [`${scene.sessions}/${id}/messages`, playground(id)]) {
      const whole = await scene.call('GET', `${path}?limit=100`)
      expect([path, whole.status, whole.json.messages.length]).toEqual([path, 200, 9])
      const last = await scene.call('GET', `${path}?limit=3`)
      const units = Math.floor((4 * MIB) / 3) * 2
      expect(lengths(last.json.messages)).toEqual([6, 7, 8].map((n) => [`é${n}`, units]))
      expect(last.headers.get('content-type')).toContain('application/json')
    }
  },
)

verifies('contract-26.long-lists', 'a list of some MiB is what it was, in pages and as a page’s messages', async () => {
  const sizes = [10, 2 * MIB, 500_000, 500_000, 500_000, 3, 4 * MIB]
  const id = await sessionOf(sizes)
  const { status, json } = await scene.call('GET', `${scene.sessions}/${id}/messages`)
  expect(status).toBe(200)
  const ids = json.messages.map((message: { id: string }) => message.id)
  expect(lengths(json.messages)).toEqual(sizes.map((size, n) => [`é${n}`, Math.floor(size / 3) * 2]))
  expect(json.messages.map((message: { parent_id: string | null }) => message.parent_id)).toEqual([
    null,
    ...ids.slice(0, -1),
  ])
  const page = (query: string) => scene.call('GET', `${scene.sessions}/${id}/messages?${query}`)
  const idsOf = async (query: string) => (await page(query)).json.messages.map((message: { id: string }) => message.id)
  expect(await idsOf(`after=${ids[0]}&limit=3`)).toEqual(ids.slice(1, 4))
  expect(await idsOf(`before=${ids[6]}`)).toEqual(ids.slice(0, 6))
  const shown = (await scene.call('GET', `${scene.agent}/deploy/ai-sdk/${id}/messages`)).json.messages
  expect(shown.map((message: { id: string }) => message.id)).toEqual(ids)
  const empty = await scene.newSession()
  expect((await scene.call('GET', `${scene.sessions}/${empty}/messages`)).json).toEqual({ messages: [] })
  expect((await scene.call('GET', `${scene.sessions}/${crypto.randomUUID()}/messages`)).status).toBe(404)
})

verifies('contract-26.long-lists', 'a user’s export has all, however much it is', async () => {
  await sessionOf(Array(9).fill(4 * MIB), 'anna')
  await sessionOf([10], 'anna')
  const { status, text } = await scene.call('GET', `${scene.agent}/deploy/users/anna/export`)
  const sessions = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect([status, sessions.map(({ messages }) => messages.length)]).toEqual([200, [9, 1]])
})

verifies('contract-26.long-lists', 'a page of items ends behind some MiB, and says that there are more', async () => {
  const id = await sessionOf(Array(9).fill(4 * MIB))
  const seen: string[] = []
  for (let after = '', more = true; more; ) {
    const { json } = await scene.call(
      'GET',
      `${scene.agent}/deploy/conversations/${id}/items?order=desc&limit=100${after}`,
    )
    expect(json.data.length).toBeLessThan(9)
    seen.push(...json.data.map((item: { content: { text: string }[] }) => item.content[0]?.text.slice(0, 2)))
    after = `&after=${json.last_id}`
    more = json.has_more
  }
  expect(seen).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0].map((n) => `é${n}`))
})
