/** What clients do on their own when something fails, and what becomes of it. */
import { expect } from 'vitest'
import { followersOf, untilFollowed } from '../../support/followers.ts'
import { verifies } from '../../verifies.ts'
import { ask, type Play } from '../play.ts'
import { openScene } from '../scene.ts'
import { errorCell } from './chat-failures.ts'

const times = (n: number) => (n === 1 ? 'no retry' : 'retries')

export function retries(play: Play): void {
  const { kind, scene, driver, record } = play

  verifies(
    'contract-1.max-running',
    'refused for want of room, the client comes back by itself and is served',
    async () => {
      const small = await openScene({ MAX_RUNNING_REPLIES: '1' })
      await using stack = new AsyncDisposableStack()
      stack.defer(() => small.close())
      const { promise: room, resolve: makeRoom } = Promise.withResolvers<void>()
      small.up.next(async (call) => {
        await call.text('slow')
        await room
        await call.finish()
      })
      const first = driver.whole(ask(await small.baseUrl(kind), 'hi'))
      await small.up.call(1)
      small.says('served')
      const second = driver.whole(ask(await small.baseUrl(kind), 'hi', { retries: 5 }))
      await expect.poll(() => small.asked[1]?.status).toBe(503)
      makeRoom()
      expect(await first).toMatchObject({ text: 'slow', error: null })
      expect(await second).toMatchObject({ text: 'served', error: null })
      const [, ...answers] = small.asked.map(({ status }) => status)
      expect(answers.at(-1)).toBe(200)
      expect(new Set(answers.slice(0, -1))).toEqual(new Set([503]))
      record('full', 'retries, is served')
    },
  )

  verifies(
    'contract-3.failed-unstreamed',
    'a failed generation: what the client makes of x-should-retry: false',
    async () => {
      const before = scene().asked.length
      const called = scene().up.calls.length
      for (let n = 0; n < 2; n++) scene().up.next((call) => call.error(429, { error: { message: 'slow down' } }))
      const told = await driver.whole(ask(await scene().baseUrl(kind), 'hi', { retries: 1 }))
      const requests = scene().asked.slice(before)
      expect(requests).toEqual(requests.map(() => ({ status: 500 })))
      expect(scene().up.calls.length - called, 'each request is one call of the model').toBe(requests.length)
      record('failed', `${errorCell(told, /slow down/)}; ${times(requests.length)}`)
    },
  )

  if (kind === 'session') {
    busy(play)
    lost(play)
  }
}

function busy({ kind, scene, driver, record }: Play): void {
  verifies(
    'contract-4.busy',
    'a second message while a reply runs is refused, and nothing of it is stored',
    async () => {
      const { promise: end, resolve: endIt } = Promise.withResolvers<void>()
      const number = scene().up.calls.length + 1
      scene().up.next(async (call) => {
        await end
        await call.text('done')
        await call.finish()
      })
      const session = await scene().baseUrl(kind)
      const first = driver.whole(ask(session, 'one'))
      await scene().up.call(number)
      const before = scene().asked.length
      const told = await driver.whole(ask(session, 'two', { retries: 1 }))
      const requests = scene().asked.slice(before)
      expect(requests).toEqual(requests.map(() => ({ status: 409 })))
      endIt()
      expect(await first).toMatchObject({ text: 'done', error: null })
      expect(await scene().stored(session)).toHaveLength(2)
      record('busy', `${errorCell(told, /running/)}; ${times(requests.length)}`)
    },
  )
}

function lost({ scene, driver, record }: Play): void {
  /** The answer is lost on its way and the client tries again by itself; the reply ends once it has joined, or was refused. */
  async function loseAnswer(headers: Record<string, string>) {
    await using proxy = await scene().proxy()
    const { promise: end, resolve: endIt } = Promise.withResolvers<void>()
    const { promise: retry, resolve: letIn } = Promise.withResolvers<void>()
    const { length: called } = scene().up.calls
    scene().up.next(async (call) => {
      await call.text('bought ')
      await end
      await call.text('it')
      await call.finish()
    })
    const session = await scene().newSession()
    const before = scene().asked.length
    proxy.holdAnswers = true
    const answer = driver.whole(ask(`${proxy.url}${session}`, 'buy milk', { retries: 1, headers }))
    await scene().up.call(called + 1)
    await untilFollowed(scene().app.url, session, 1)
    proxy.holdAnswers = false
    proxy.gate = retry
    proxy.drop()
    await untilFollowed(scene().app.url, session, 0)
    letIn()
    const isRefused = () => scene().asked[before + 1]?.status === 409
    await expect.poll(async () => isRefused() || (await followersOf(scene().app.url, session)) === 1).toBe(true)
    endIt()
    const told = await answer
    expect(scene().up.calls.length - called, 'the model is called once').toBe(1)
    await expect
      .poll(() => scene().stored(session))
      .toMatchObject([{ content: 'buy milk' }, { content: 'bought it', status: 'complete' }])
    return told
  }

  verifies(
    'contract-4.retry-join',
    'a client that lost its answer and tries again stores and bills nothing twice',
    async () => {
      const told = await loseAnswer({})
      if (told.error === null) expect(told.text).toBe('bought it')
      record('lost', told.error === null ? 'joins the reply' : `${errorCell(told, /running/)}; the reply goes on`)
    },
  )

  verifies('contract-4.idempotency', 'with an Idempotency-Key any client joins its first request’s reply', async () => {
    const told = await loseAnswer({ 'Idempotency-Key': crypto.randomUUID() })
    expect(told).toMatchObject({ text: 'bought it', error: null })
    record('keyed', 'joins the reply')
  })
}
