/** Contract section 8: what operators see of the sessions. */
import { afterAll, expect } from 'vitest'
import { isoUtc, uuid } from '../../../http/scene.ts'
import { verifies } from '../../../verifies.ts'
import { debug, openDebugScene } from './debug-scene.ts'

const { scene, finished, steps } = await openDebugScene()
afterAll(scene.close)

verifies('contract-8.chart', 'other tools get it as Mermaid or for XState, and no form that there is not', async () => {
  const mermaid = await scene.call('GET', `${debug}/chart?format=mermaid`)
  expect(mermaid.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(mermaid.text).toMatch(/^stateDiagram-v2\n/)
  const { status, json } = await scene.call('GET', `${debug}/chart?format=xstate`)
  expect([status, json.initial, Object.keys(json.states)]).toEqual([
    200,
    'idle',
    ['idle', 'streaming', 'complete', 'waiting', 'error', 'cancelled', 'deleted'],
  ])
  const unknown = await scene.call('GET', `${debug}/chart?format=dot`)
  expect([unknown.status, unknown.json.message]).toEqual([400, expect.stringContaining('format')])
})

verifies('contract-8.chart', 'states are paths, transitions name states and events', async () => {
  const { status, json } = await scene.call('GET', `${debug}/chart`)
  expect(status).toBe(200)
  expect(Object.keys(json).sort()).toEqual(['id', 'initial', 'states', 'transitions'])
  expect(json.initial).toBe('idle')
  const ids = json.states.map(({ id }: { id: string }) => id)
  expect(ids.sort()).toEqual([
    'cancelled',
    'complete',
    'deleted',
    'error',
    'idle',
    'streaming',
    'streaming.compacting',
    'streaming.generating',
    'streaming.settling',
    'waiting',
  ])
  for (const state of json.states) {
    expect(state).toEqual({
      id: state.id,
      kind: expect.any(String),
      description: expect.any(String),
      parent: state.parent,
    })
    expect(state.parent).toBe(state.id.includes('.') ? 'streaming' : null)
  }
  for (const transition of json.transitions) {
    expect(Object.keys(transition).sort()).toEqual(['description', 'event', 'id', 'source', 'target'])
    expect(ids).toContain(transition.source)
    expect(ids).toContain(transition.target)
  }
  expect(new Set(json.transitions.map(({ id }: { id: string }) => id)).size).toBe(json.transitions.length)
})

verifies('contract-8.traffic', 'each transition is counted and each state timed', async () => {
  const count = async () => {
    const { json } = await scene.call('GET', `${debug}/chart/traffic`)
    return json.transitions.reduce((sum: number, one: { count: number }) => sum + one.count, 0)
  }
  // Earlier tests' replies have ended; asking for steps records what there is.
  const running = () => scene.app.sql`select 1 from messages where status = 'streaming'`
  await expect.poll(async () => (await running()).length).toBe(0)
  await steps(await finished())
  const before = await count()
  await steps(await finished())
  expect(await count()).toBe(before + 3)
  const { json } = await scene.call('GET', `${debug}/chart/traffic?hours=1`)
  expect(Object.keys(json).sort()).toEqual(['since', 'states', 'transitions'])
  expect(Math.round((Date.now() - Date.parse(json.since)) / 60_000)).toBe(60)
  const chart = (await scene.call('GET', `${debug}/chart`)).json
  expect(json.transitions).toEqual(
    chart.transitions.map(({ id, source, target, event }: Record<string, string>) => ({
      id,
      source,
      target,
      event,
      count: expect.any(Number),
    })),
  )
  for (const { id } of chart.states) {
    const state = json.states.find((one: { id: string }) => one.id === id)
    expect(Object.keys(state).sort()).toEqual(['id', 'p50Ms', 'p95Ms', 'visits'])
  }
  const generating = json.states.find((one: { id: string }) => one.id === 'streaming.generating')
  expect(generating.visits).toBeGreaterThan(0)
  expect(generating.p50Ms).toBeGreaterThanOrEqual(0)
  expect(generating.p95Ms).toBeGreaterThanOrEqual(generating.p50Ms)
})

verifies('contract-8.traffic', 'what this instance has done counts at once, written or not', async () => {
  const visits = async () => {
    const { json } = await scene.call('GET', `${debug}/chart/traffic`)
    return json.states.find(({ id }: { id: string }) => id === 'complete').visits
  }
  const before = await visits()
  for (let n = 1; n <= 5; n += 1) {
    await finished()
    expect(await visits()).toBe(before + n)
  }
})

verifies('contract-8.traffic', 'hours is a whole number from 1 to 168', async () => {
  for (const hours of ['0', '169', '-1', '1.5', 'x', '', '9'.repeat(30)]) {
    const { status, json } = await scene.call('GET', `${debug}/chart/traffic?hours=${hours}`)
    expect([hours, status, json]).toEqual([hours, 400, { message: expect.stringContaining('hours') }])
  }
  for (const hours of ['1', '168'])
    expect((await scene.call('GET', `${debug}/chart/traffic?hours=${hours}`)).status).toBe(200)
})

verifies(
  'contract-8.actors',
  'a running session is listed with its state and subscribers, and leaves in the end',
  async () => {
    const id = await scene.newSession()
    const next = scene.byHand()
    const stream = await scene.stream(id, 'x')
    const up = await next
    const follower = await scene.resume(id)
    await follower.next()
    const mine = async () =>
      (await scene.call('GET', `${debug}/actors`)).json.actors.find(
        (one: { sessionId: string }) => one.sessionId === id,
      )
    expect(await mine()).toEqual({
      sessionId: id,
      agentId: scene.agentId,
      instanceId: expect.stringMatching(uuid),
      state: 'streaming.generating',
      since: expect.stringMatching(isoUtc),
      subscribers: 2,
      newestAt: expect.stringMatching(isoUtc),
    })
    follower.leave()
    await expect.poll(async () => (await mine()).subscribers).toBe(1)
    await up.finish()
    await stream.rest()
    await expect.poll(async () => (await mine())?.state).toBe('complete')
    await expect.poll(mine).toBeUndefined()
  },
)

verifies('contract-8.find', 'a session, a reply and a request are found by their ids, and nothing else', async () => {
  scene.says(['ok'])
  const sessionId = await scene.newSession()
  const sent = await scene.send(sessionId, 'x', {}, { 'x-request-id': 'from-a-log-7"' })
  const find = (id: string) => scene.call('GET', `${debug}/find?id=${encodeURIComponent(id)}`)
  const [, reply] = await scene.messages(sessionId)
  const found = { agentId: scene.agentId, sessionId, messageId: reply.id }
  const requestId = sent.headers.get('x-request-id') ?? ''
  expect((await find(sessionId.toUpperCase())).json).toEqual({ ...found, messageId: null })
  expect((await find(reply.id)).json).toEqual(found)
  expect((await find(requestId)).json).toEqual(found)
  for (const id of [requestId.slice(0, -1), '%', 'no-such-request']) {
    expect((await find(id)).status).toBe(404)
  }
  expect((await find('')).status).toBe(400)
})

verifies(
  'contract-8.actors',
  'an actor tells when its reply brought something last, beside what is waited for',
  async () => {
    const { status, json } = await scene.call('GET', `${debug}/actors`)
    expect(status).toBe(200)
    expect([json.now, json.silenceLimitMs, json.replyLimitMs]).toEqual([
      expect.stringMatching(isoUtc),
      300_000,
      600_000,
    ])
  },
)
