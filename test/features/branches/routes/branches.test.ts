/** Contract section 14 on the deploy API: the tree, edits, other replies, the head. */
import { afterAll, expect } from 'vitest'
import { nobody, openScene } from '../../../http/scene.ts'
import { refusedRequest } from '../../../support/network/refused-request.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openScene()
afterAll(scene.close)

/** Each reply says which one of the provider's it is. */
let replies = 0
scene.up.always(async (one) => {
  replies += 1
  await one.text(`reply ${replies}`)
  await one.finish()
})
/** What the model was sent last. */
const sent = () => scene.up.calls.at(-1)?.body.messages.map(({ content }: { content: string }) => content)

const messagesOf = async (id: string, query = '') =>
  (await scene.call('GET', `${scene.sessions}/${id}/messages${query}`)).json.messages
const contents = async (id: string, query = '') =>
  (await messagesOf(id, query)).map(({ content }: { content: string }) => content)
const sessionOf = async (id: string) => (await scene.call('GET', `${scene.sessions}/${id}`)).json
const head = (id: string, message_id: unknown) => scene.call('POST', `${scene.sessions}/${id}/head`, { message_id })
const stored = (id: string) => scene.app.sql`
  select position, parent, line, asked_place from messages where session_id = ${id} order by position`

/** a → 1 → b → 2, its messages. */
async function talk() {
  const id = await scene.newSession()
  replies = 0
  await scene.send(id, 'a')
  await scene.send(id, 'b')
  return { id, messages: await messagesOf(id) }
}

verifies(
  ['contract-14.straight', 'contract-14.tree'],
  'one line: each after the one before, the last is the head',
  async () => {
    const { id, messages } = await talk()
    expect(messages.map(({ parent_id }: { parent_id: string }) => parent_id)).toEqual([
      null,
      ...messages.slice(0, -1).map(({ id }: { id: string }) => id),
    ])
    expect(await messagesOf(id, '?branches=all')).toEqual(messages)
    expect((await sessionOf(id)).head_id).toBe(messages[3].id)
    const row = { parent: null, line: null, asked_place: null }
    expect(await stored(id)).toEqual([0, 1, 2, 3].map((position) => ({ position, ...row })))
    const [session] = await scene.app.sql`select head, forked_from from sessions where id = ${id}`
    expect(session).toEqual({ head: null, forked_from: null })
    expect(await sessionOf(await scene.newSession())).toMatchObject({ head_id: null, forked_from: null })
    const pages = await messagesOf(id, `?after=${messages[1].id}&limit=1`)
    expect(pages).toEqual([messages[2]])
    expect((await scene.call('GET', `${scene.sessions}/${id}/messages?branches=some`)).json).toEqual(
      refusedRequest('branches'),
    )
  },
)

verifies(
  ['contract-14.edit', 'contract-14.model', 'contract-14.tree'],
  'an edited message lies beside the old one, and its branch goes on alone',
  async () => {
    const { id, messages } = await talk()
    const [a, one, b, two] = messages
    await scene.send(id, 'B', { parent_id: one.id })
    expect(sent()).toEqual(['a', 'reply 1', 'B'])
    await scene.send(id, 'C')
    expect(sent()).toEqual(['a', 'reply 1', 'B', 'reply 3', 'C'])
    expect(await contents(id)).toEqual(['a', 'reply 1', 'B', 'reply 3', 'C', 'reply 4'])
    await scene.send(id, 'A', { parent_id: null })
    expect(sent()).toEqual(['A'])
    expect(await contents(id)).toEqual(['A', 'reply 5'])
    await scene.send(id, 'D', { parent_id: two.id.toUpperCase() })
    expect(sent()).toEqual(['a', 'reply 1', 'b', 'reply 2', 'D'])
    expect(await contents(id)).toEqual(['a', 'reply 1', 'b', 'reply 2', 'D', 'reply 6'])

    const all = await messagesOf(id, '?branches=all')
    expect(all.slice(0, 4)).toEqual(messages)
    expect(all.map(({ content }: { content: string }) => content)).toEqual([
      'a',
      'reply 1',
      'b',
      'reply 2',
      'B',
      'reply 3',
      'C',
      'reply 4',
      'A',
      'reply 5',
      'D',
      'reply 6',
    ])
    const at = (content: string) => all.find((one: { content: string }) => one.content === content)
    expect(['A', 'B', 'C', 'D', 'reply 6'].map((content) => at(content).parent_id)).toEqual([
      null,
      one.id,
      at('reply 3').id,
      two.id,
      at('D').id,
    ])
    expect((await sessionOf(id)).head_id).toBe(at('reply 6').id)
    // Pages are pages of the path; a cursor may lie beside it.
    expect(await contents(id, '?limit=3')).toEqual(['reply 2', 'D', 'reply 6'])
    expect((await messagesOf(id, '?limit=1'))[0].parent_id).toBe(at('D').id)
    expect(await contents(id, `?before=${b.id}`)).toEqual(['a', 'reply 1'])
    expect(await contents(id, `?after=${at('B').id}`)).toEqual(['D', 'reply 6'])
    expect(await contents(id, `?branches=all&after=${at('B').id}&limit=2`)).toEqual(['reply 3', 'C'])

    for (const parent_id of [nobody, 'not-a-uuid', a.id, at('B').id, (await talk()).messages[1].id]) {
      const { status, json } = await scene.send(id, 'x', { parent_id })
      expect([parent_id, status, json]).toEqual([parent_id, 400, refusedRequest('parent_id')])
    }
    expect(await messagesOf(id, '?branches=all')).toEqual(all)
  },
)

verifies(
  ['contract-14.regenerate', 'contract-14.model'],
  'another reply to a message: the path’s last, one by its id, one by its reply, on any branch',
  async () => {
    const { id, messages } = await talk()
    const [a, one, b, two] = messages
    const again = (extra: object = {}) =>
      scene.call('POST', `${scene.sessions}/${id}/chat/completions`, { regenerate: true, ...extra })
    expect((await again()).json.choices[0].message.content).toBe('reply 3')
    expect(sent()).toEqual(['a', 'reply 1', 'b'])
    expect(await contents(id)).toEqual(['a', 'reply 1', 'b', 'reply 3'])
    const [, , , three] = await messagesOf(id)
    expect(three.parent_id).toBe(b.id)
    // What is sent beside it is not looked at.
    await again({ message_id: a.id, messages: [] })
    expect(sent()).toEqual(['a'])
    expect(await contents(id)).toEqual(['a', 'reply 4'])
    await again({ message_id: three.id, messages: [{ role: 'system', content: 5 }] })
    expect(sent()).toEqual(['a', 'reply 1', 'b'])
    expect(await contents(id)).toEqual(['a', 'reply 1', 'b', 'reply 5'])
    await again({ message_id: one.id.toUpperCase(), parent_id: undefined })
    expect(await contents(id)).toEqual(['a', 'reply 6'])
    await scene.send(id, 'c')
    expect(sent()).toEqual(['a', 'reply 6', 'c'])
    const all = await messagesOf(id, '?branches=all')
    expect(all.slice(0, 4)).toEqual([a, one, b, two])
    expect(all.filter(({ role }: { role: string }) => role === 'user')).toHaveLength(3)

    for (const [extra, field] of [
      [{ message_id: nobody }, 'message_id'],
      [{ message_id: 'not-a-uuid' }, 'message_id'],
      [{ message_id: (await talk()).messages[0].id }, 'message_id'],
      [{ parent_id: one.id }, 'parent_id'],
      [{ parent_id: null }, 'parent_id'],
      [{ regenerate: 'yes' }, 'regenerate'],
      [{ regenerate: false }, 'messages'],
    ] as const) {
      const { status, json } = await again(extra)
      expect([extra, status, json]).toEqual([extra, 400, refusedRequest(field)])
    }
    const empty = await scene.newSession()
    const nothing = await scene.call('POST', `${scene.sessions}/${empty}/chat/completions`, { regenerate: true })
    expect([nothing.status, nothing.json]).toEqual([400, refusedRequest('regenerate')])
    expect(await messagesOf(id, '?branches=all')).toEqual(all)
  },
)

verifies(
  'contract-14.regenerate',
  'a history that ends with a user’s message is answered, and so is a given one',
  async () => {
    const messages = ['a', 'b'].map((content) => ({ role: 'user', content }))
    const { json } = await scene.call('POST', scene.sessions, { messages })
    expect(json.head_id).toBe((await messagesOf(json.id))[1].id)
    replies = 0
    await scene.call('POST', `${scene.sessions}/${json.id}/chat/completions`, { regenerate: true })
    expect(sent()).toEqual(['a\n\nb'])
    expect(await contents(json.id)).toEqual(['a', 'b', 'reply 1'])
    expect((await scene.app.sql`select head from sessions where id = ${json.id}`)[0]).toEqual({ head: null })
  },
)

verifies('contract-14.head', 'the path goes through a message to the leaf below it that was made last', async () => {
  const { id, messages } = await talk()
  const [a, one, b, two] = messages
  // One line has one leaf.
  expect((await head(id, a.id)).json).toEqual(await sessionOf(id))
  await scene.send(id, 'B', { parent_id: one.id })
  await scene.send(id, 'A', { parent_id: null })
  const other = await scene.newSession()
  const before = await sessionOf(id)
  const all = await messagesOf(id, '?branches=all')
  const [, three, , four] = all.slice(4)
  for (const [message, leaf] of [
    [two.id, two.id],
    [b.id.toUpperCase(), two.id],
    [a.id, three.id],
    [four.id, four.id],
    [one.id, three.id],
  ]) {
    const { status, json } = await head(id, message)
    expect([status, json]).toEqual([200, { ...before, head_id: leaf }])
    expect((await messagesOf(id)).at(-1).id).toBe(leaf)
  }
  expect(await messagesOf(id, '?branches=all')).toEqual(all)
  const { json } = await scene.call('GET', scene.sessions)
  expect(json.sessions.slice(0, 2).map((one: { id: string }) => one.id)).toEqual([other, id])
  expect(json.sessions[1]).toEqual({ ...(await sessionOf(id)), status: 'complete', queued: 0 })
  await head(id, two.id)
  await scene.send(id, 'c')
  expect(sent()).toEqual(['a', 'reply 1', 'b', 'reply 2', 'c'])

  for (const [message, field] of [
    [nobody, 'message_id'],
    ['not-a-uuid', 'message_id'],
    [(await talk()).messages[0].id, 'message_id'],
    [null, 'message_id'],
    [undefined, 'message_id'],
  ]) {
    const { status, json } = await head(id, message)
    expect([message, status, json]).toEqual([message, 400, refusedRequest(field)])
  }
  expect((await head(nobody, a.id)).status).toBe(404)
})

verifies(
  ['contract-14.one-stream', 'contract-14.head'],
  'while a reply runs it is the head, and nothing else begins; ids rise through all branches',
  async () => {
    const { id, messages } = await talk()
    const [a, one] = messages
    const first = await scene.resume(id)
    const lastId = Number((await first.rest()).frames.at(-1)?.id)
    const next = scene.byHand()
    const stream = await scene.stream(id, 'B', { parent_id: one.id })
    const call = await next
    await call.text('half')
    await stream.next()
    await stream.next()
    const running = (await messagesOf(id)).at(-1)
    expect([running.status, running.content]).toEqual(['streaming', 'half'])
    expect((await sessionOf(id)).head_id).toBe(running.id)
    expect((await head(id, a.id)).status).toBe(409)
    expect((await scene.send(id, 'x', { parent_id: null })).status).toBe(409)
    const path = `${scene.sessions}/${id}/chat/completions`
    expect((await scene.call('POST', path, { regenerate: true })).status).toBe(409)
    // What has no place cancels nothing.
    expect((await scene.send(id, 'x', { parent_id: nobody, on_busy: 'interrupt' })).status).toBe(400)
    await call.finish()
    const { frames } = await stream.rest()
    expect(frames.at(-1)?.data).toBe('[DONE]')
    const resumed = (await (await scene.resume(id)).rest()).frames
    expect(resumed.map(({ id }) => Number(id))).toEqual(resumed.map((_, index) => lastId + 1 + index))
    await head(id, a.id)
    await head(id, messages[3].id)
    // The stream is the newest reply's, whatever the path shows.
    expect((await (await scene.resume(id)).rest()).frames).toEqual(resumed)
    scene.up.always(async (one) => {
      replies += 1
      await one.text(`reply ${replies}`)
      await one.finish()
    })
    const again = await scene.stream(id, '', { regenerate: true })
    expect(Number((await again.rest()).frames[0]?.id)).toBe(lastId + 1 + resumed.length)
  },
)
