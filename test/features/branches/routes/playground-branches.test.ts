/** Contract section 14 on the playground's paths, in camel case. */
import { afterAll, expect } from 'vitest'
import { nobody, openScene } from '../../../http/scene.ts'
import { openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openScene()
afterAll(scene.close)

const play = `${scene.agent}/playground`
const refused = (field: string) => ({ message: expect.stringMatching(new RegExp(`^${field}: `)) })
let replies = 0
scene.up.always(async (one) => {
  replies += 1
  await one.text(`reply ${replies}`)
  await one.finish()
})

const chat = async (body: object) => {
  const stream = await openSse(`${scene.app.url}${play}/chat`, body)
  await stream.rest()
  return stream.headers.get('x-session-id') ?? ''
}
const read = async (id: string, query = '') =>
  (await scene.call('GET', `${play}/sessions/${id}/messages${query}`)).json.messages
const contents = async (id: string) => (await read(id)).map(({ content }: { content: string }) => content)
const head = (id: string, messageId: unknown) => scene.call('POST', `${play}/sessions/${id}/head`, { messageId })

verifies(
  ['contract-14.playground', 'contract-14.edit', 'contract-14.regenerate', 'contract-14.head'],
  'edits, other replies and the head, on its own paths',
  async () => {
    const id = await chat({ message: 'a' })
    await chat({ message: 'b', sessionId: id })
    const [a, one, b, two] = await read(id)
    await chat({ message: 'B', sessionId: id, parentId: one.id })
    expect(await contents(id)).toEqual(['a', 'reply 1', 'B', 'reply 3'])
    await chat({ sessionId: id, regenerate: true, messageId: two.id })
    expect(await contents(id)).toEqual(['a', 'reply 1', 'b', 'reply 4'])
    await chat({ sessionId: id, regenerate: true, message: null })
    expect(await contents(id)).toEqual(['a', 'reply 1', 'b', 'reply 5'])
    await chat({ message: 'A', sessionId: id, parentId: null })
    const all = await read(id, '?branches=all')
    expect(all.map(({ parentId }: { parentId: string }) => parentId)).toEqual([
      null,
      a.id,
      one.id,
      b.id,
      one.id,
      all[4].id,
      b.id,
      b.id,
      null,
      all[8].id,
    ])
    const session = (await scene.call('GET', `${play}/sessions/${id}`)).json
    expect(session).toMatchObject({ headId: all[9].id, forkedFrom: null })
    const turned = await head(id, a.id)
    expect([turned.status, turned.json]).toEqual([200, { ...session, headId: all[7].id }])
    expect((await scene.call('GET', `${scene.sessions}/${id}`)).json.head_id).toBe(all[7].id)
    expect((await head(nobody, a.id)).status).toBe(404)
    const wrongHead = await head(id, nobody)
    expect([wrongHead.status, wrongHead.json]).toEqual([400, refused('messageId')])

    const sessions = async () => (await scene.call('GET', `${play}/sessions`)).json.total
    const before = await sessions()
    for (const [body, field] of [
      [{ sessionId: id }, 'message'],
      [{ message: null, sessionId: id }, 'message'],
      [{ message: 'x', sessionId: id, parentId: nobody }, 'parentId'],
      [{ message: 'x', sessionId: id, parentId: a.id }, 'parentId'],
      [{ message: 'x', sessionId: id, messageId: a.id }, 'messageId'],
      [{ sessionId: id, regenerate: true, parentId: null }, 'parentId'],
      [{ sessionId: id, regenerate: true, messageId: nobody }, 'messageId'],
      [{ regenerate: true }, 'regenerate'],
      [{ message: 'x', parentId: a.id }, 'parentId'],
    ] as const) {
      const { status, json } = await scene.call('POST', `${play}/chat`, body)
      expect([body, status, json]).toEqual([body, 400, refused(field)])
    }
    expect([await sessions(), await read(id, '?branches=all')]).toEqual([before, all])
  },
)

verifies(['contract-14.playground', 'contract-14.fork'], 'forkOf and forkedFrom', async () => {
  const id = await chat({ message: 'a' })
  const [, reply] = await read(id)
  const make = (forkOf: object) => scene.call('POST', `${play}/sessions`, { forkOf })
  const { status, json } = await make({ sessionId: id, messageId: reply.id, frameId: 1 })
  const forkedFrom = { sessionId: id, messageId: reply.id, frameId: 1 }
  expect([status, json]).toMatchObject([201, { title: 'a', forkedFrom }])
  expect(await contents(json.id)).toEqual(['a', ''])
  expect((await scene.call('GET', `${scene.sessions}/${json.id}`)).json.forked_from).toEqual({
    session_id: id,
    message_id: reply.id,
    frame_id: 1,
  })
  for (const [forkOf, field] of [
    [{ sessionId: id, messageId: nobody }, 'forkOf.messageId'],
    [{ sessionId: id, frameId: 0 }, 'forkOf.frameId'],
    [{}, 'forkOf.sessionId'],
  ] as const) {
    const { status, json } = await make(forkOf)
    expect([forkOf, status, json]).toEqual([forkOf, 400, refused(field)])
  }
  expect((await make({ sessionId: nobody })).status).toBe(404)
})
