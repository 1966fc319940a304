/** Contract section 28: the cases of replays leave room for people's replies. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReplays, type ReplayOptions } from '../../../src/features/replays/replays.ts'
import { openScene } from '../../actors/scene.ts'
import { turn } from '../../actors/turn.ts'
import { openToolScene, type ToolScene } from '../../http/tool-scene.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { verifies } from '../../verifies.ts'

const CASES = 8
const PLACES = 4

let scene: ToolScene
beforeAll(async () => {
  scene = await openToolScene({ settings: { MAX_RUNNING_REPLIES: `${PLACES}` } })
})
afterAll(() => scene.close())

verifies('contract-28.replay-room', 'cases wait while people are answered', async () => {
  scene.says(['Yes.'])
  const session = await scene.newSession()
  for (let n = 0; n < CASES; n++) await scene.send(session, 'Why?')
  const held = Promise.withResolvers<void>()
  let cases = 0
  const answer = async (call: UpstreamCall) => {
    const isCase = call.body.messages.at(-1).content === 'Why?'
    if (isCase) {
      cases += 1
      await held.promise
    }
    await call.text('Yes.')
    await call.finish()
  }
  scene.up.always(answer)
  const { json } = await scene.call('POST', `${scene.agent}/replays`, {
    version: 1,
    replies: {},
    concurrency: 4,
  })
  await expect.poll(() => cases).toBeGreaterThan(0)
  const people = await Promise.all(Array.from({ length: PLACES - 1 }, () => scene.newSession()))
  const answers = await Promise.all(people.map((one) => scene.send(one, 'Hello?')))
  expect(answers.map(({ status }) => status)).toEqual(people.map(() => 200))
  const { counts } = (await scene.call('GET', `${scene.agent}/replays/${json.id}`)).json
  expect(counts).toMatchObject({ total: CASES, running: 1 })
  await scene.call('POST', `${scene.agent}/replays/${json.id}/cancel`)
  held.resolve()
})

test('a case counts what begins before it', async () => {
  const { inner } = openScene({ maxRunning: 1 })
  const begun = Promise.withResolvers<void>()
  const begins = inner.inTurn(async () => {
    await begun.promise
    inner.slots.take('a')
  })
  let looks = 0
  const cases = {
    tend: async () => {},
    async take() {
      looks += 1
      return null
    },
  }
  const replays = createReplays({ host: inner, cases } as unknown as ReplayOptions) // no more of it is asked
  const tended = replays.tend()
  await turn()
  begun.resolve()
  await Promise.all([begins, tended])
  expect(looks).toBe(0)
})
