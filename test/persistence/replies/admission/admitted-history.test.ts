/** The history of a short session comes with the admission, so that its model is asked one round trip sooner. */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { HistoryLimits, NewMessage } from '../../../../src/actors/ports/index.ts'
import { verifies } from '../../../verifies.ts'
import { finished, openScene, type Scene, textAt, toolCallAt, toolResultAt, versions } from '../../scene.ts'

const historyLimits: HistoryLimits = { maxBytes: 100_000, maxToolText: 100 }

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  /** A session of so many messages, with a tool call each. */
  async function conversation(messages: number, text = 'Answer'): Promise<string> {
    const session = await scene.newSession()
    for (let n = 0; n < messages; n++) {
      const reply = await scene.begin(session, { text: `Question ${n}` })
      const { firstSeq: seq } = reply
      const events = [textAt(seq + 1, text), toolCallAt(seq + 1, 1, 'a'), toolResultAt(seq + 1, 2, 'a')]
      await scene.journal.settle(reply, finished({ events }))
    }
    return session
  }

  /** What came with the admission, and what is read. Each is admitted alone, or all of them together. */
  async function admitted(wanted: readonly Partial<NewMessage>[], together: boolean) {
    const messages = wanted.map(({ sessionId = '', ...others }) =>
      scene.message(sessionId, { historyLimits, ...others }),
    )
    // They gather while another one is under way.
    const first = together ? scene.journal.admit(scene.message(await scene.newSession())) : null
    const admissions = []
    if (together) admissions.push(...(await Promise.all(messages.map((message) => scene.journal.admit(message)))))
    else for (const message of messages) admissions.push(await scene.journal.admit(message))
    await first
    const compared = admissions.map(async (admission) => {
      if (admission.outcome !== 'admitted') throw new Error(admission.outcome)
      const { history, historyEnd, reply } = admission
      const read = historyEnd < 0 ? null : await scene.journal.history(reply.sessionId, historyEnd, historyLimits)
      return { came: history?.() ?? null, read }
    })
    return await Promise.all(compared)
  }

  verifies('contract-4.history', 'it is what would be read, alone and together', async () => {
    for (const together of [false, true]) {
      const wanted = await Promise.all(
        [{}, { place: { regenerate: null } }, { place: { parent: null } }].map(async (one) => ({
          ...one,
          sessionId: await conversation(3),
        })),
      )
      const [straight, again, anew] = await admitted(wanted, together)
      expect(straight?.came?.messages.map(({ content }) => content)).toEqual(
        [0, 1, 2].flatMap((n) => [`Question ${n}`, 'Answer']),
      )
      expect(straight?.came).toEqual(straight?.read)
      expect(again?.came?.messages).toHaveLength(4)
      expect(again?.came).toEqual(again?.read)
      expect(anew).toEqual({ came: null, read: null })
    }
  })

  verifies('contract-4.history', 'that of a long session is left to be read', async () => {
    for (const together of [false, true]) {
      const long = 'x'.repeat(40_000)
      const [short, other] = await admitted(
        [{ sessionId: await conversation(1) }, { sessionId: await conversation(1, long) }],
        together,
      )
      expect(short?.came?.messages).toHaveLength(2)
      expect(other?.came).toBeNull()
      expect(other?.read?.messages.at(-1)?.content).toBe(long)
    }
  })
})
