/** Contract section 14 with the client: edits, other replies, the path, forks, on both APIs. */
import { expect } from 'vitest'
import { verifies } from '../verifies.ts'
import { openClientScene } from './scene.ts'

const scene = await openClientScene()
const { agent, client } = scene

let replies = 0
scene.up.always(async (one) => {
  replies += 1
  await one.text(`reply ${replies}`)
  await one.finish()
})

verifies('contract-14.client', 'a deploy session is edited, answered again, turned and forked', async () => {
  const session = agent.session()
  const contents = async (of = session) => (await of.messages()).map(({ content }) => content)
  await session.send('a').text()
  await session.send('b').text()
  const [a, one, , two] = await session.messages()
  await session.send('B', { parentId: one?.id ?? null }).text()
  expect(await contents()).toEqual(['a', 'reply 1', 'B', 'reply 3'])
  expect(await session.regenerate(a?.id).text()).toBe('reply 4')
  expect(await contents()).toEqual(['a', 'reply 4'])
  await session.send('A', { parentId: null }).text()
  await session.regenerate(null, { usage: true }).text()
  expect(await contents()).toEqual(['A', 'reply 6'])
  await session.turnTo(two?.id ?? '')
  expect(await contents()).toEqual(['a', 'reply 1', 'b', 'reply 2'])
  expect((await session.record()).head_id).toBe(two?.id)
  expect(await session.messages({ branches: 'all' })).toHaveLength(10)
  const fork = session.fork({ messageId: one?.id ?? '', frameId: 1 }, { title: 'Forked' })
  expect(await fork.record()).toMatchObject({
    title: 'Forked',
    forked_from: { session_id: session.id, message_id: one?.id, frame_id: 1 },
  })
  expect(await contents(fork)).toEqual(['a', ''])
  await fork.send('on').text()
  expect((await session.fork().record()).forked_from).toMatchObject({ message_id: two?.id, frame_id: null })
  expect(() => agent.session().fork()).toThrow(TypeError)
})

verifies('contract-14.client', 'so is a playground session', async () => {
  const session = client.playground(scene.agentId).session()
  const contents = async (of = session) => (await of.messages()).map(({ content }) => content)
  replies = 0
  await session.send('a').text()
  const [a, one] = await session.messages()
  await session.send('A', { parentId: null }).text()
  await session.regenerate(one?.id).text()
  expect(await contents()).toEqual(['a', 'reply 3'])
  await session.turnTo(one?.id ?? '')
  expect(await contents()).toEqual(['a', 'reply 1'])
  const fork = session.fork({ messageId: a?.id ?? '' })
  await fork.regenerate().text()
  expect(await contents(fork)).toEqual(['a', 'reply 4'])
})
