/** Contract section 32: items that are put behind a conversation's head hold pictures and files. */
import { afterAll, expect } from 'vitest'
import { dataUrl, png } from '../../../features/parts/routes/parts-scene.ts'
import { verifies } from '../../../verifies.ts'
import { openResponsesScene, sessionOf } from './responses-scene.ts'

const scene = await openResponsesScene({ settings: {} })
afterAll(scene.close)

const user = (content: unknown) => ({ type: 'message', role: 'user', content })
const said = (content: string) => ({ type: 'message', role: 'assistant', content })
const give = (id: string, items: unknown, headers: Record<string, string> = {}) =>
  scene.call('POST', `${scene.conversations}/${id}/items`, { items }, headers)

verifies('contract-32.items', 'messages of the user hold pictures and files, all or none', async () => {
  scene.says(['ok'])
  const id = (await scene.call('POST', scene.conversations, { items: [user('one')] })).json.id
  const content = (bytes: Buffer) => [
    { type: 'input_text', text: 'see ' },
    { type: 'input_image', image_url: dataUrl('image/png', bytes) },
  ]
  const wrong = await give(id, [user(content(png())), user(content(Buffer.from('no picture')))])
  expect([wrong.status, wrong.json.error.param]).toEqual([400, 'items.1.content.1.image_url'])
  expect((await scene.call('GET', `${scene.conversations}/${id}/items`)).json.data).toHaveLength(1)
  const items = [user(content(png())), said('a'), user('b')]
  const given = await give(id, items, { 'idempotency-key': 'p' })
  expect((await give(id, items, { 'idempotency-key': 'p' })).json).toEqual(given.json)
  expect(given.json.data[0].content.map(({ type }: { type: string }) => type)).toEqual(['input_text', 'input_image'])
  await scene.create({ input: 'c', conversation: id })
  expect(scene.up.calls.at(-1)?.body.messages[0].content.at(-1)).toEqual({
    type: 'image_url',
    image_url: { url: dataUrl('image/png', png()) },
  })
  const [row] = await scene.app.sql<{ n: number }[]>`
    select sum(size)::int as n from message_parts where session_id = ${sessionOf(id)}`
  expect(row?.n).toBe(png().length)
  await scene.call('DELETE', `${scene.conversations}/${id}`)
  const [left] = await scene.app.sql<{ n: number }[]>`select count(*)::int as n from part_contents`
  expect(left?.n).toBe(0)
})

const withPicture = (bytes: Buffer) =>
  user([
    { type: 'input_text', text: 'see ' },
    { type: 'input_image', image_url: dataUrl('image/png', bytes) },
  ])

verifies('contract-32.history-parts', 'a conversation is made with pictures and files, all or none', async () => {
  const wrong = await scene.call('POST', scene.conversations, {
    items: [withPicture(png()), said('a'), withPicture(Buffer.from('no picture'))],
  })
  expect([wrong.status, wrong.json.error.param]).toEqual([400, 'items.2.content.1.image_url'])
  const openai = { path: '/api/v1/openai/conversations', extra: { model: scene.agentId } }
  for (const { path, extra } of [{ path: scene.conversations, extra: {} }, openai]) {
    const made = await scene.call('POST', path, { ...extra, items: [withPicture(png()), said('a')] })
    const [first] = (await scene.call('GET', `${scene.conversations}/${made.json.id}/items?order=asc`)).json.data
    expect(first.content.map(({ type }: { type: string }) => type)).toEqual(['input_text', 'input_image'])
    const [kept] = await scene.app.sql<{ size: number; counted: number }[]>`
      select p.size, s.bytes::int as counted from message_parts p join sessions s on s.id = p.session_id
       where p.session_id = ${sessionOf(made.json.id)}`
    expect(kept).toEqual({ size: png().length, counted: png().length + 'see a'.length })
    scene.says(['ok'])
    await scene.create({ input: 'c', conversation: made.json.id })
    expect(scene.up.calls.at(-1)?.body.messages[0].content.at(-1).image_url.url).toBe(dataUrl('image/png', png()))
    await scene.call('DELETE', `${scene.conversations}/${made.json.id}`)
  }
  const [left] = await scene.app.sql<{ n: number }[]>`select count(*)::int as n from part_contents`
  expect(left?.n).toBe(0)
})

verifies('contract-32.items-repeated', 'a client’s own retry with pictures finds them at the head', async () => {
  const id = (await scene.call('POST', scene.conversations)).json.id
  const items = [withPicture(png()), said('a')]
  const retry = { 'x-stainless-retry-count': '1' }
  const first = await give(id, items)
  expect((await give(id, items, retry)).json.data).toEqual(first.json.data)
  const other = await give(id, [withPicture(png({ width: 2 })), said('a')], retry)
  expect(other.json.data[0].id).not.toBe(first.json.data[0].id)
  expect((await scene.call('GET', `${scene.conversations}/${id}/items`)).json.data).toHaveLength(4)
})
