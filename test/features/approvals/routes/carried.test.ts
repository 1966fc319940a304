/** What decisions bring of their own, and what stays in force: contract sections 13 and 15 over real sockets. */
import { afterAll, expect } from 'vitest'
import { asks } from '../../../http/tool-scene.ts'
import { verifies } from '../../../verifies.ts'
import { approve, call, callsOfWaitingTest, openWaitingScene, weather } from './waiting-scene.ts'

const scene = await openWaitingScene()
afterAll(scene.close)
const { sent } = callsOfWaitingTest(scene)

for (const path of [scene.sessions, `${scene.agent}/playground/sessions`]) {
  const decide = (id: string, callId: string, extra: object = {}) =>
    scene.call('POST', `${path}/${id}/actions`, { decisions: [approve(callId)], ...extra })

  verifies(
    ['contract-15.carried', 'contract-13.fields'],
    `decisions below ${path.split('/').slice(-2).join('/')} bring tools and fields: honoured, carried over or refused`,
    async () => {
      const id = (await scene.call('POST', path, {})).json.id
      scene.up.next(asks('', call('pay', 'c1', '{"amount":5}')))
      await scene.send(id, 'Pay!', { seed: 1, max_tokens: 50 })
      for (const wrong of [{ seed: 'x' }, { n: 2 }, { tools: [weather, weather] }, { tool_choice: 'auto' }])
        expect([wrong, (await decide(id, 'c1', wrong)).status]).toEqual([wrong, 400])
      expect((await scene.session(id)).pending).toHaveLength(1)
      scene.up.next(asks('', call('pay', 'c2', '{"amount":6}')))
      scene.says('Paid twice.')
      const first = await decide(id, 'c1', { seed: 2, tools: [weather] })
      expect([first.status, first.headers.get('x-greenroom-ignored')]).toEqual([200, null])
      expect((await decide(id, 'c2')).status).toBe(200)
      for (const turn of [2, 3]) {
        const { seed, max_tokens, tools } = await sent(turn)
        const names = tools.map((tool: typeof weather) => tool.function.name)
        expect({ seed, max_tokens, names }).toEqual({ seed: 2, max_tokens: 50, names: ['pay', 'look', 'weather'] })
      }
    },
  )
}

verifies(
  'contract-15.one-winner',
  'decisions have the same hash in every release, so that a retry joins after an update',
  async () => {
    const id = await scene.newSession()
    const calls = ['c1', 'c2', 'c3'].map((name) => call('pay', name, '{"amount":5}'))
    scene.up.next(asks('', ...calls))
    await scene.send(id, 'Pay!')
    scene.says('Paid.')
    const { status } = await scene.decide(id, [
      { ...approve('c1'), arguments: { amount: 4 } },
      { call_id: 'c2', decision: 'reject', reason: 'No.' },
      { call_id: 'c3', decision: 'respond', output: 'Paid by hand.' },
    ])
    expect(status).toBe(200)
    const [stored] = await scene.app.sql`
    select encode(decisions_hash, 'hex') as hash from messages where session_id = ${id} and decisions_hash is not null`
    // Recorded. A wait may last for months.
    expect(stored?.hash).toBe('f5df576b1b4bf19b1ba54e1493b6bc8129ad8b4dcd47957ed137a5b47a50dc11')
  },
)
