/** Contract section 1, MAX_RUNNING_REPLIES and HISTORY_MAX_TOKENS, and section 4: the history that a model gets. */
import { afterAll, expect, vi } from 'vitest'
import { WAIT_MS } from '../../support/wait.ts'
import { verifies } from '../../verifies.ts'
import { openScene, storedMessages } from '../scene.ts'

const scene = await openScene({
  settings: { MAX_RUNNING_REPLIES: '2', HISTORY_MAX_TOKENS: '1000' },
  system: 'Be brief.',
  // The tokenizer is awake then: a reply that is left keeps its place until its tokens are counted.
  reportsUsage: false,
})
afterAll(scene.close)

const hello = [{ role: 'user', content: 'x' }]

/** What the newest provider call carried, without the system prompt. */
const told = (): { role: string; content: string }[] => scene.up.calls.at(-1)?.body.messages.slice(1)

async function hold(): Promise<{ id: string; release(): Promise<void> }> {
  const id = await scene.newSession()
  const next = scene.byHand()
  // A reply that was left gives its place back once its tokens are counted.
  const stream = await vi.waitUntil(
    async () => {
      const asked = await scene.stream(id, 'hold')
      return asked.status === 200 && asked
    },
    { timeout: WAIT_MS },
  )
  const up = await next
  return {
    id,
    async release() {
      await up.finish()
      await stream.rest()
    },
  }
}

verifies(
  'contract-1.max-running',
  'beyond it 503 with Retry-After in the endpoint’s format, nothing is stored, no key used up',
  async () => {
    const [a, b] = [await hold(), await hold()]
    const id = await scene.newSession()
    const before = await storedMessages(scene.app)
    const key = { 'idempotency-key': 'k' }
    for (const answer of [
      await scene.stateless(hello),
      await scene.stateless(hello, { stream: true }),
      await scene.send(id, 'x', {}, key),
      await scene.send(id, 'x', { stream: true }),
    ]) {
      expect([answer.status, answer.json]).toEqual([503, { error: expect.any(String) }])
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    const play = await scene.call('POST', `${scene.agent}/playground/chat`, { message: 'x', sessionId: id })
    expect([play.status, play.json]).toEqual([503, { message: expect.any(String) }])
    expect(Number(play.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await storedMessages(scene.app)).toBe(before)
    expect(await scene.messages(id)).toEqual([])

    // Everything that starts nothing is served.
    expect((await scene.cancel(id)).status).toBe(204)
    const follower = await scene.resume(a.id)
    expect((await follower.next())?.id).toBe('1')
    expect((await scene.send(a.id, 'again')).status).toBe(409)
    await Promise.all([a.release(), b.release()])
    await follower.rest()
    scene.says(['ok'])
    expect((await scene.send(id, 'another', {}, key)).status).toBe(200)
  },
)

const history = [
  { role: 'user', content: 'Who?' },
  { role: 'assistant', content: 'Me.' },
  { role: 'user', content: 'x' },
]

verifies(
  ['contract-1.max-running', 'contract-22.session-stream'],
  'a first message that is refused makes no session, and none is told of as deleted',
  async () => {
    const [a, b] = [await hold(), await hold()]
    const state = async () => [
      (await scene.call('GET', scene.sessions)).json.total,
      await scene.app.sql`select change from session_deletions order by change`,
    ]
    const before = await state()
    const answers = [
      await scene.call('POST', `${scene.agent}/playground/chat`, { message: 'x' }),
      await scene.call('POST', `${scene.agent}/deploy/responses`, { input: 'x', metadata: { plan: 'pro' } }),
      await scene.call('POST', `${scene.agent}/deploy/responses`, { input: history }),
    ]
    const after = await state()
    await Promise.all([a.release(), b.release()])
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
    expect(after).toEqual(before)
  },
)

verifies(
  'contract-1.max-running',
  'every end of a reply gives its place back: failed, cancelled, left, deleted',
  async () => {
    for (let round = 0; round < 3; round += 1) {
      scene.up.always((one) => one.error(400))
      await scene.stateless(hello)
      await scene.send(await scene.newSession(), 'x')

      const one = await hold()
      await scene.cancel(one.id)
      const other = await hold()
      await scene.call('DELETE', `${scene.sessions}/${other.id}`)

      const next = scene.byHand()
      const stateless = await scene.statelessStream('x')
      const up = await next
      stateless.leave()
      await up.closed
    }
    for (const one of [await hold(), await hold()]) await one.release()
  },
)

verifies('contract-1.max-running', 'a burst does not pass it', async () => {
  scene.up.always(() => {})
  const ids = await Promise.all(Array.from({ length: 8 }, () => scene.newSession()))
  const answers = await Promise.all(ids.map((id) => scene.stream(id, 'x').then((stream) => ({ id, stream }))))
  const admitted = answers.filter(({ stream }) => stream.status === 200)
  expect(admitted.length).toBe(2)
  expect(answers.filter(({ stream }) => stream.status === 503).length).toBe(6)
  for (const { id, stream } of admitted) {
    await scene.cancel(id)
    await stream.rest()
  }
})

verifies(
  ['contract-4.history', 'contract-4.cancel'],
  'partial replies are told as the user saw them, failed and cancelled ones',
  async () => {
    const id = await scene.newSession()
    const next = scene.byHand()
    const stream = await scene.stream(id, 'One')
    const up = await next
    await up.text('Par')
    await stream.next()
    await stream.next()
    await scene.cancel(id)
    scene.up.always(async (one) => {
      await one.text('Half')
      one.end()
    })
    await scene.send(id, 'Two')
    scene.says(['ok'])
    await scene.send(id, 'Three')
    expect(told()).toEqual([
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Par' },
      { role: 'user', content: 'Two' },
      { role: 'assistant', content: 'Half' },
      { role: 'user', content: 'Three' },
    ])
  },
)

verifies('contract-1.history-limit', 'of a longer history the oldest whole turns are not sent', async () => {
  const id = await scene.newSession()
  // About 300 estimated tokens a turn: three fit into 1,000, and of four one is left, where it is cut to 60 %.
  for (const name of ['A', 'B', 'C', 'D', 'E']) {
    scene.says([`${name}${'a'.repeat(600)}`])
    await scene.send(id, `${name}${'u'.repeat(600)}`)
  }
  await scene.send(id, 'Newest')
  const roles = told().map(({ role, content }) => `${role} ${content.slice(0, 1)}`)
  expect(roles[0]?.startsWith('user')).toBe(true)
  expect(roles).toEqual(['user D', 'assistant D', 'user E', 'assistant E', 'user N'])
  expect(scene.up.calls.at(-1)?.body.messages[0]).toEqual({ role: 'system', content: 'Be brief.' })
})

verifies('contract-1.history-limit', 'the newest user message is always sent, and beside the limit', async () => {
  const id = await scene.newSession()
  scene.says(['ok'])
  await scene.send(id, 'before')
  const long = 'x'.repeat(50_000)
  await scene.send(id, long)
  expect(told()).toEqual([
    { role: 'user', content: 'before' },
    { role: 'assistant', content: 'ok' },
    { role: 'user', content: long },
  ])
})
