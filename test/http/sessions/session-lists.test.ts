/** Narrowed session lists and pages of messages. */
import { afterAll, expect } from 'vitest'
import { createAgent } from '../../support/app.ts'
import { refusedRequest } from '../../support/network/refused-request.ts'
import { verifies } from '../../verifies.ts'
import { nobody, openScene } from '../scene.ts'

const scene = await openScene()
afterAll(scene.close)
scene.says(['Fine.'])

const playground = `${scene.agent}/playground/sessions`

verifies('contract-11.filters', 'by user, by metadata, by title: all that is asked for must hold', async () => {
  const make = async (body: object) => (await scene.call('POST', scene.sessions, body)).json.id
  const a = await make({ user: 'ann', title: 'Alpha One', metadata: { plan: 'gold', team: 'x' } })
  const b = await make({ user: 'ann', title: 'Beta 100%', metadata: { plan: 'gold', 'a[b] c': 'ü&=' } })
  const c = await make({ user: 'Ann', title: 'Gamma_', metadata: { plan: 'tin' } })
  const d = await make({})
  const list = async (query: string, path = scene.sessions) => {
    const { json } = await scene.call('GET', `${path}?${query}`)
    return { ids: json.sessions.map(({ id }: { id: string }) => id), total: json.total }
  }
  for (const [query, ids] of [
    ['', [d, c, b, a]],
    ['user=ann', [b, a]],
    ['user=Ann', [c]],
    ['user=nobody', []],
    ['metadata[plan]=gold', [b, a]],
    ['metadata%5Bplan%5D=gold', [b, a]],
    ['metadata[plan]=gold&metadata[team]=x', [a]],
    ['metadata[plan]=gold&metadata[team]=y', []],
    ['metadata[plan]=GOLD', []],
    ['metadata[Plan]=gold', []],
    [`metadata[${encodeURIComponent('a[b] c')}]=${encodeURIComponent('ü&=')}`, [b]],
    ['metadata[plan]=gold&user=ann&q=BETA', [b]],
    ['q=a%20o', [a]],
    ['q=0%25', [b]],
    ['q=_', [c]],
    ['q=zzz', []],
  ] as const) {
    expect([query, await list(query)]).toEqual([query, { ids, total: ids.length }])
    expect([query, await list(query, playground)], 'the playground').toEqual([query, { ids, total: ids.length }])
  }
  expect(await list('user=ann&limit=1&offset=1')).toEqual({ ids: [a], total: 2 })
})

verifies(
  'contract-22.list-marks',
  'a list says what runs, failed or waits in the queue, as its stream does',
  async () => {
    const made = (await scene.call('POST', scene.sessions, { user: 'marks' })).json
    const list = async () => (await scene.call('GET', `${scene.sessions}?user=marks`)).json.sessions
    expect(await list()).toEqual([{ ...made, status: 'idle', queued: 0 }])
    scene.up.always((one) => one.error(400))
    await scene.send(made.id, 'x')
    expect((await list())[0]).toMatchObject({ status: 'error', queued: 0 })
    scene.says(['Fine.'])
    await scene.send(made.id, 'x')
    expect((await list())[0]).toMatchObject({ status: 'complete' })
  },
)

verifies('contract-11.filters', 'empty values, and what cannot be read, are 400', async () => {
  for (const query of [
    'user=',
    'q=',
    'metadata[plan]=',
    'metadata[]=x',
    'metadata=x',
    'user=a&user=b',
    'metadata[a]=1&metadata[a]=2',
    'user=%00',
    'metadata[a]=%00',
    'metadata[%00]=a',
  ]) {
    const { status, json } = await scene.call('GET', `${scene.sessions}?${query}`)
    expect([query, status, json]).toEqual([query, 400, refusedRequest()])
  }
  const { agentId } = await createAgent(scene.app)
  const other = `/api/v1/agents/${agentId}/deploy/sessions?user=ann&metadata[plan]=gold`
  expect((await scene.call('GET', other)).json).toMatchObject({ sessions: [], total: 0 })
  expect((await scene.call('GET', `/api/v1/agents/${nobody}/deploy/sessions?user=ann`)).status).toBe(404)
})

verifies(
  'contract-11.message-pages',
  'limit alone is the newest; after and before the nearest; oldest first',
  async () => {
    const messages = ['1', '2', '3', '4', '5', '6'].map((content) => ({ role: 'user', content }))
    const { json: session } = await scene.call('POST', scene.sessions, { messages })
    const ids = (await scene.messages(session.id)).map(({ id }) => id)
    const paths = [`${scene.sessions}/${session.id}/messages`, `${playground}/${session.id}/messages`]
    for (const path of paths) {
      const page = async (query: string) => {
        const { json } = await scene.call('GET', `${path}?${query}`)
        return json.messages.map(({ content }: { content: string }) => content).join('')
      }
      for (const [query, contents] of [
        ['', '123456'],
        ['limit=2', '56'],
        ['limit=1000', '123456'],
        [`after=${ids[1]}`, '3456'],
        [`after=${ids[1]}&limit=2`, '34'],
        [`after=${ids[5]}`, ''],
        [`before=${ids[3]}`, '123'],
        [`before=${ids[3]}&limit=2`, '23'],
        [`before=${ids[0]}&limit=2`, ''],
        [`before=${ids[3]?.toUpperCase()}&limit=1`, '3'],
      ]) {
        expect([path, query, await page(query ?? '')]).toEqual([path, query, contents])
      }
    }
    const elsewhere = (await scene.call('POST', scene.sessions, { messages })).json.id
    const [foreign] = await scene.messages(elsewhere)
    for (const query of [
      'limit=0',
      'limit=1001',
      'limit=-1',
      'limit=x',
      `after=${ids[0]}&before=${ids[1]}`,
      `after=${nobody}`,
      `before=${nobody}`,
      'after=',
      'before=not-a-uuid',
      `after=${foreign.id}`,
      `before=${foreign.id}`,
      `after=${session.id}`,
    ]) {
      for (const path of paths) {
        const { status } = await scene.call('GET', `${path}?${query}`)
        expect([path, query, status]).toEqual([path, query, 400])
      }
    }
    for (const id of [nobody, 'not-a-uuid']) {
      const { status } = await scene.call('GET', `${scene.sessions}/${id}/messages?after=${ids[0]}&limit=1`)
      expect([id, status]).toEqual([id, 404])
    }
  },
)

verifies('contract-11.message-pages', 'a running reply is on its page with what it has so far', async () => {
  const id = await scene.newSession()
  const next = scene.byHand()
  const stream = await scene.stream(id, 'x')
  const call = await next
  await call.text('half')
  await stream.next()
  await stream.next()
  const { json } = await scene.call('GET', `${scene.sessions}/${id}/messages?limit=1`)
  expect(json.messages).toMatchObject([{ role: 'assistant', status: 'streaming', content: 'half' }])
  await call.finish()
  await stream.rest()
})
