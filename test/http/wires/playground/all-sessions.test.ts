import { afterAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { isoUtc, openScene } from '../../scene.ts'

const scene = await openScene({ settings: {} })
afterAll(scene.close)

const list = async (query = '') => (await scene.call('GET', `/api/v1/sessions${query}`)).json

verifies('contract-16.all-sessions', 'the list names what each session is and how its newest reply ended', async () => {
  const { json: made } = await scene.call('POST', scene.sessions, { title: 'First', user: 'ada' })
  const second = await scene.newSession('Second')
  scene.says(['Fine.'])
  await scene.send(made.id, 'Hello')
  const { sessions, ...envelope } = await list('?limit=1000')
  expect(envelope).toEqual({ total: 2, limit: 100, offset: 0 })
  expect(sessions[0]).toEqual({
    id: made.id,
    agentId: scene.agentId,
    agentName: expect.any(String),
    title: 'First',
    archived: false,
    user: 'ada',
    status: 'complete',
    errorCode: null,
    createdAt: expect.stringMatching(isoUtc),
    updatedAt: expect.stringMatching(isoUtc),
    parent: null,
  })
  expect(sessions[1]).toMatchObject({ id: second, status: 'idle', user: null })
  const page = await list('?status=idle&q=SEC&limit=1')
  expect(page).toMatchObject({ total: 1, limit: 1, sessions: [{ id: second }] })
  expect(await list('?user=ada')).toMatchObject({ total: 1, sessions: [{ id: made.id }] })
})

verifies('contract-16.all-sessions', 'an unknown status is 400, an unknown agent an empty list', async () => {
  const { status, json } = await scene.call('GET', '/api/v1/sessions?status=done')
  expect(status).toBe(400)
  expect(json.message).toMatch(/^status: must be one of "idle"/)
  expect(await list('?agentId=nobody')).toMatchObject({ sessions: [], total: 0 })
})

verifies(
  'contract-16.all-sessions',
  'what stands for other letters in a pattern stands for itself in a search',
  async () => {
    for (const title of ['100% wool', '100 sheep', 'a_b', 'axb', 'back\\slash', 'Ünder_way'])
      await scene.newSession(title)
    const found = async (q: string) =>
      (await list(`?q=${encodeURIComponent(q)}`)).sessions.map(({ title }: { title: string }) => title)
    expect(await found('100%')).toEqual(['100% wool'])
    expect(await found('A_B')).toEqual(['a_b'])
    expect(await found('back\\')).toEqual(['back\\slash'])
    expect(await found('ünder_')).toEqual(['Ünder_way'])
  },
)

verifies('contract-16.all-sessions', 'one session is read by its id', async () => {
  const id = await scene.newSession('Alone')
  const one = `${scene.agent}/playground/sessions/${id}`
  const { status, json } = await scene.call('GET', one)
  expect(status).toBe(200)
  expect(json).toMatchObject({ id, agentId: scene.agentId, title: 'Alone', user: null, metadata: {} })
  expect((await scene.call('GET', `${scene.agent}/playground/sessions/nothing`)).status).toBe(404)
})

verifies('contract-16.all-sessions', 'the HTTP status that a provider answered is a field of its reply', async () => {
  const refused = await scene.newSession('Refused')
  scene.up.always((call) => call.error(418, { error: { message: 'I am the 503rd teapot' } }))
  await scene.send(refused, 'Tea')
  const { sessions } = await list('?httpStatus=418&include=reply')
  expect(sessions).toMatchObject([{ id: refused, errorCode: 'provider_error', reply: { httpStatus: 418 } }])
  expect(sessions[0].reply.providerId).toBe(scene.providerId)
  expect(await list('?httpStatus=503')).toMatchObject({ total: 0 })

  scene.up.always((call) => call.text('Fine.').then(() => call.finish()))
  await scene.send(refused, 'Coffee')
  expect(await list('?httpStatus=418')).toMatchObject({ total: 0 })
  expect((await list(`?q=${refused}&include=reply`)).sessions[0].reply.httpStatus).toBe(null)
})

verifies(
  'contract-16.all-sessions',
  'times, statuses and texts of filters are checked, and each status is counted',
  async () => {
    for (const query of ['from=soon', 'to=2026-02-31', 'httpStatus=42', 'httpStatus=x', 'text=', 'include=all']) {
      expect((await scene.call('GET', `/api/v1/sessions?${query}`)).status).toBe(400)
    }
    const { status, json } = await scene.call('GET', '/api/v1/sessions/counts?from=2001-01-01')
    expect(status).toBe(200)
    expect(Object.keys(json).sort()).toEqual(['cancelled', 'complete', 'error', 'idle', 'streaming', 'waiting'])
    expect(json.complete).toBeGreaterThan(0)
    expect((await scene.call('GET', '/api/v1/sessions/counts?to=2001-01-01')).json.complete).toBe(0)
  },
)
