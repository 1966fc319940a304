/** Copies of a session that are made while what was decided is carried out: contract sections 14 and 15 over real sockets. */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { approve, callsOfWaitingTest, openWaitingScene } from './waiting-scene.ts'

const scene = await openWaitingScene()
afterAll(scene.close)
const { sent } = callsOfWaitingTest(scene)

/** Copies of a session that waited: up to its head, and up to the reply that asked. */
async function copiesOf(id: string): Promise<string[]> {
  const [, asking] = await scene.messages(id)
  return Promise.all(
    [{}, { message_id: asking.id }].map(async (place) => {
      const made = await scene.call('POST', scene.sessions, { fork_of: { session_id: id, ...place } })
      expect(made.status).toBe(201)
      return made.json.id
    }),
  )
}

/** What the model is told of the call when the copy goes on; `nth`: of this test's calls of the model. */
async function toldIn(copy: string, nth: number): Promise<string[]> {
  scene.says('I see.')
  expect((await scene.send(copy, 'And now?')).status).toBe(200)
  const { messages } = await sent(nth)
  return messages.flatMap((one: { role: string; content: string }) => (one.role === 'tool' ? [one.content] : []))
}

const asked = async (id: string) => (await scene.shown(id))[1].toolCalls

verifies(
  ['contract-15.forked', 'contract-14.fork'],
  'a copy that is made while an approved call runs is told that it may have taken effect',
  async () => {
    const id = await scene.waiting()
    const [at, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    scene.answer(async () => {
      at.resolve()
      await gate.promise
      return 'done'
    })
    const deciding = scene.decide(id, [approve('c1')])
    await at.promise
    const copies = await copiesOf(id)
    for (const [index, copy] of copies.entries()) {
      expect(await asked(copy)).toMatchObject([{ id: 'c1', decision: 'approve', ok: null, content: null }])
      expect(await toldIn(copy, index + 2)).toEqual([expect.stringContaining('may have taken effect')])
    }
    scene.says('Paid.')
    gate.resolve()
    expect((await deciding).status).toBe(200)
    expect(scene.tools.requests).toHaveLength(1)
  },
)

verifies(
  ['contract-15.forked', 'contract-14.fork'],
  'a copy that is made once its result is stored, while the reply goes on, is told the result',
  async () => {
    const id = await scene.waiting()
    const gate = Promise.withResolvers<void>()
    scene.up.next(async (one) => {
      await gate.promise
      await one.text('Paid.')
      await one.finish()
    })
    const deciding = scene.decide(id, [approve('c1', { amount: 6 })])
    await sent(2)
    const copies = await copiesOf(id)
    const content = expect.stringContaining('done /pay {"amount":6}')
    for (const [index, copy] of copies.entries()) {
      expect(await asked(copy)).toMatchObject([
        { id: 'c1', decision: 'approve', ok: true, content, durationMs: expect.any(Number) },
      ])
      expect(await toldIn(copy, index + 3)).toEqual([content])
    }
    gate.resolve()
    expect((await deciding).status).toBe(200)
  },
)
