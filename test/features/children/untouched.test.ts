/** Replies of agents that ask no others, in a database that has nothing of children (contract section 30). */
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { asks, openTreeScene, says, type TreeScene } from './tree-scene.ts'

let scene: TreeScene
beforeAll(async () => {
  scene = await openTreeScene({ settings: {} })
})
afterAll(() => scene.close())

const time = { name: 'current_time', arguments: '{}' }

verifies(
  'contract-30.child-costs',
  'a reply whose agent asks no other one reads and writes no row of children',
  async () => {
    const alone = await scene.newAgent('alone')
    await scene.toolsOf(alone, [], { builtInToolIds: ['current_time'] })
    const asking = await scene.newAgent('asking')
    await scene.toolsOf(asking, [], { builtInToolIds: ['current_time'], approvals: ['*'] })
    await scene.app.sql`alter table children rename to no_children`

    scene.plays('alone', says('Hello.'), asks('', time), says('It is late.'))
    const { reply, path } = await scene.ask(alone, 'Hi')
    expect(reply.json.choices[0].message.content).toBe('Hello.')
    const more = await scene.call('POST', path, { messages: [{ role: 'user', content: 'Late?' }] })
    expect(more.json.choices[0].message.content).toBe('It is late.')

    scene.plays('asking', asks('', time, time))
    const { session, path: own } = await scene.ask(asking, 'Time?')
    const pending = async () =>
      (await scene.sessionOf(asking, session)).json.pending.map(({ call_id }: { call_id: string }) => call_id)
    const [first, second] = await pending()
    const decide = (id: string) =>
      scene.call('POST', `/api/v1/agents/${asking}/deploy/sessions/${session}/actions`, {
        decisions: [{ call_id: id, decision: 'approve' }],
      })
    expect((await decide(first)).status).toBe(200)
    expect(await pending()).toEqual([second])
    scene.plays('asking', says('Late.'), asks('', time))
    expect((await decide(second)).json.choices[0].message.content).toBe('Late.')
    await scene.call('POST', own, { messages: [{ role: 'user', content: 'And now?' }] })
    expect(await pending()).toHaveLength(1)
    scene.plays('asking', says('Never mind.'))
    const instead = await scene.call('POST', own, { messages: [{ role: 'user', content: 'Leave it.' }] })
    expect(instead.json.choices[0].message.content).toBe('Never mind.')
  },
)
