/** Contract section 14: where the AI SDK's requests go in the tree. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { refusedRequest } from '../../../support/network/refused-request.ts'
import { verifies } from '../../../verifies.ts'
import { nobody, openScene, type Scene } from '../../scene.ts'
import { rest, uiScene, userMessage } from '../../ui-scene.ts'

let scene: Scene
let ui: ReturnType<typeof uiScene>
let replies = 0
beforeAll(async () => {
  scene = await openScene()
  ui = uiScene(scene)
  scene.up.always(async (one) => {
    replies += 1
    await one.text(`reply ${replies}`)
    await one.finish()
  })
})
afterAll(() => scene.close())

type Listed = { id: string; role: string; parts: unknown[] }
const reply = (id: string): Listed => ({ id, role: 'assistant', parts: [{ type: 'step-start' }] })
const post = async (id: string, body: object) => {
  const stream = await ui.chat(id, '', body)
  expect([stream.status, body]).toEqual([200, body])
  await rest(stream)
}
const submit = (id: string, messages: Listed[], more: object = {}) => post(id, { messages, ...more })
const regenerate = (id: string, messages: Listed[], messageId?: string | null) =>
  post(id, { messages, messageId, trigger: 'regenerate-message' })
const contents = async (id: string) => (await scene.messages(id)).map(({ content }) => content)

/** a → 1 → b → 2, as a page holds it: ids of its own for what its user said. */
async function talk() {
  const id = randomUUID()
  replies = 0
  await submit(id, [userMessage('a', 'own-a')])
  await submit(id, [userMessage('b', 'own-b')])
  const [a, one, b, two] = (await scene.messages(id)).map((message) => message.id)
  const list = [userMessage('a', 'own-a'), reply(one), userMessage('b', 'own-b'), reply(two)]
  return { id, a, one, b, two, list, upTo: (count: number) => list.slice(0, count) }
}

verifies(
  'contract-14.ai-sdk',
  'a new message comes behind the last reply of ours, an edited one beside the old one',
  async () => {
    const { id, one, list, upTo } = await talk()
    await submit(id, [...list, userMessage('c')])
    expect(await contents(id)).toEqual(['a', 'reply 1', 'b', 'reply 2', 'c', 'reply 3'])
    await submit(id, [...upTo(2), userMessage('B')], { messageId: 'own-b' })
    expect(await contents(id)).toEqual(['a', 'reply 1', 'B', 'reply 4'])
    // A page that turned back to a branch goes on there, whatever the head is.
    await submit(id, [...list, userMessage('d')])
    expect(await contents(id)).toEqual(['a', 'reply 1', 'b', 'reply 2', 'd', 'reply 5'])
    // The first message, edited: one element with a messageId.
    await submit(id, [userMessage('A')], { messageId: 'own-a' })
    expect(await contents(id)).toEqual(['A', 'reply 6'])
    // A list that begins with what is not ours has no parent either.
    await submit(id, [reply('welcome'), reply(randomUUID()), userMessage('W')])
    expect(await contents(id)).toEqual(['W', 'reply 7'])
    // One element without: behind the head.
    await submit(id, [userMessage('on')])
    expect(await contents(id)).toEqual(['W', 'reply 7', 'on', 'reply 8'])
    // Instructions are no messages of the conversation: one element still.
    const instruction = (role: string) => ({ ...userMessage('Be brief.'), role })
    await submit(id, [instruction('system'), instruction('developer'), userMessage('told')])
    expect(await contents(id)).toEqual(['W', 'reply 7', 'on', 'reply 8', 'told', 'reply 9'])
    // Another user message in between, whose reply the page never saw: behind the head too.
    await submit(id, [...upTo(2), userMessage('lost'), userMessage('next')])
    expect(await contents(id)).toEqual(['W', 'reply 7', 'on', 'reply 8', 'told', 'reply 9', 'next', 'reply 10'])
    await submit(id, [userMessage('lost'), reply('not ours'), userMessage('more')])
    expect((await contents(id)).at(-2)).toBe('more')
    expect((await contents(id)).slice(0, 2)).toEqual(['W', 'reply 7'])
    await submit(id, [userMessage('x'), reply(one.toUpperCase()), reply(nobody), userMessage('C')])
    expect(await contents(id)).toEqual(['a', 'reply 1', 'C', `reply ${replies}`])
    expect((await ui.uiMessages(id)).map((message) => message.id)).toEqual(
      (await scene.messages(id)).map((one) => one.id),
    )
  },
)

verifies(
  'contract-14.ai-sdk',
  'regenerate-message answers the message that it names, or the one of that text',
  async () => {
    const { id, a, one, b, two, upTo } = await talk()
    const answers = async (count: number, messageId: string | null | undefined, expected: string[]) => {
      const before = (await scene.call('GET', `${scene.sessions}/${id}/messages?branches=all`)).json.messages.length
      await regenerate(id, upTo(count), messageId)
      expect([messageId, await contents(id)]).toEqual([messageId, [...expected, `reply ${replies}`]])
      const after = (await scene.call('GET', `${scene.sessions}/${id}/messages?branches=all`)).json.messages
      expect(after).toHaveLength(before + 1)
    }
    const [inB, inA] = [['a', 'reply 1', 'b'], ['a']]
    await answers(3, two, inB)
    await answers(3, b, inB)
    await answers(1, one.toUpperCase(), inA)
    await answers(3, a, inA)
    await answers(3, undefined, inB)
    await answers(3, null, inB)
    await answers(3, 'own-b', inB)
    await answers(3, nobody, inB)
    await answers(1, 'own-a', inA)

    // The same words behind the same reply: the newest; elsewhere only where there are none behind it.
    await submit(id, [...upTo(2), userMessage('b')])
    const newest = (await scene.messages(id)).at(-2).id
    await regenerate(id, upTo(3))
    expect((await scene.messages(id)).at(-2).id).toBe(newest)
    await submit(id, [...upTo(2), userMessage('b'), reply((await scene.messages(id)).at(-1).id), userMessage('a')])
    await regenerate(id, [userMessage('a')])
    expect((await scene.messages(id)).at(-2).id).toBe(a)
    await regenerate(id, [...upTo(2), userMessage('lost'), userMessage('a')])
    expect(await contents(id)).toHaveLength(6)
  },
)

verifies('contract-14.ai-sdk', 'with nothing to answer it is 400 and makes no session; another’s is 404', async () => {
  const { id, list } = await talk()
  const ask = (session: string, body: object) =>
    scene.call('POST', ui.aiSdk, ui.chatBody(session, '', { trigger: 'regenerate-message', ...body }))
  const before = await scene.messages(id)
  for (const session of [id, randomUUID()]) {
    const { status, json } = await ask(session, { messages: [list[1]], messageId: 'x' })
    expect([status, json]).toEqual([400, refusedRequest('messages')])
    if (session !== id) expect((await scene.call('GET', `${scene.sessions}/${session}`)).status).toBe(404)
  }
  const other = await scene.call('POST', '/api/v1/agents', { name: 'o', providerId: scene.providerId, model: 'm' })
  const theirs = uiScene({ ...scene, agent: `/api/v1/agents/${other.json.id}` })
  const body = theirs.chatBody(id, 'a', { trigger: 'regenerate-message' })
  expect((await scene.call('POST', theirs.aiSdk, body)).status).toBe(404)
  expect(await scene.messages(id)).toEqual(before)
  // By its key it joins, as a message does.
  const key = { 'idempotency-key': 'again' }
  const again = ui.chatBody(id, '', { messages: list.slice(0, 3), trigger: 'regenerate-message' })
  const [first, second] = [await ui.chat(id, '', again, key), await ui.chat(id, '', again, key)]
  await Promise.all([rest(first), rest(second)])
  expect(second.raw()).toBe(first.raw())
})
