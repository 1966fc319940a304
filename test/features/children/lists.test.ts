/** Changes below a waiting session are sent to those who follow its list (contract sections 22, 29 and 30). */
import { afterAll, beforeAll, expect } from 'vitest'
import { openSse, type SseStream } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { asking, asks, openTreeScene, says, type TreeScene } from './tree-scene.ts'

let scene: TreeScene
let desk: string
let billing: string
let ledger: string
beforeAll(async () => {
  scene = await openTreeScene()
  const approving = { builtInToolIds: ['current_time'], approvals: ['current_time'] }
  ledger = await scene.newAgent('ledger')
  billing = await scene.newAgent('billing')
  desk = await scene.newAgent('desk')
  await scene.toolsOf(ledger, [], { ...approving, approvalsExpireAfterS: 3600 })
  await scene.toolsOf(billing, [], approving)
  await scene.toolsOf(desk, [{ agentId: billing }, { agentId: ledger }])
})
afterAll(() => scene?.close())

const time = { name: 'current_time', arguments: '{}' }

/** The next record of the session that a followed list sends, with so many entries. */
async function sent(list: SseStream, session: string, entries: number): Promise<{ pending: { path: object[] }[] }> {
  for (;;) {
    const frame = await list.next()
    if (frame === null) throw new Error(`the list has ended after ${list.raw()}`)
    const record = JSON.parse(frame.data)
    if (record.id === session && record.pending.length === entries) return record
  }
}

verifies(
  ['contract-30.child-lists', 'contract-29.one-by-one'],
  'a list is sent the parent when a part is decided, expires or comes below it',
  async () => {
    scene.plays('desk', asks('', asking('billing', 'Add!'), asking('ledger', 'Add too!')))
    scene.plays('billing', asks('', time, time))
    scene.plays('ledger', asks('', time))
    const { session } = await scene.ask(desk, 'Sums?')
    const sessions = `/api/v1/agents/${desk}/deploy/sessions`
    const [first, second] = (await scene.sessionOf(desk, session)).json.pending
    const child = first.path[0].session_id
    const list = await openSse(`${scene.app.url}${sessions}/stream`)
    const decide = (call_id: string) =>
      scene.call('POST', `/api/v1/agents/${billing}/deploy/sessions/${child}/actions`, {
        decisions: [{ call_id, decision: 'approve' }],
      })
    expect((await decide(first.call_id)).status).toBe(200)
    expect(await sent(list, session, 2)).toMatchObject({ pending: [{ call_id: second.call_id }, { kind: 'approval' }] })

    // Billing is decided whole, and asks again: the parent waits on.
    const asksAgain = Promise.withResolvers<void>()
    scene.plays('billing', (call) => asksAgain.promise.then(() => asks('', time, time)(call)))
    const decided = decide(second.call_id)
    await sent(list, session, 1)
    asksAgain.resolve()
    expect((await decided).status).toBe(200)
    await sent(list, session, 3)

    // The ledger's time is over.
    scene.plays('ledger', (call) => says(call.body.messages.at(-1).content)(call))
    const { pending } = (await scene.sessionOf(desk, session)).json
    const late = pending.find(({ expires_at }: { expires_at?: string }) => expires_at !== undefined)
    await scene.app.sql`update waits set expires_at = clock_timestamp() where session_id = ${late.path[0].session_id}`
    await sent(list, session, 2)

    // The other call is cancelled at the child, and the parent follows with both results.
    const own = `/api/v1/agents/${billing}/deploy/sessions/${child}/chat/completions/cancel`
    let told: string[] = []
    scene.plays('desk', (call) => {
      told = call.body.messages.slice(-2).map(({ content }: { content: string }) => content)
      return says('Neither.')(call)
    })
    expect((await scene.call('POST', own)).status).toBe(204)
    await sent(list, session, 0)
    await expect.poll(async () => (await scene.messagesOf(desk, session)).at(-1).content).toBe('Neither.')
    expect(told).toEqual([
      expect.stringContaining('cancelled'),
      expect.stringContaining('Nobody decided about the call in time'),
    ])
    list.leave()
  },
)

verifies(
  ['contract-30.child-decided', 'contract-29.expires'],
  'where a child’s approvals expire and nothing is left above, each session follows by itself, once',
  async () => {
    scene.plays('desk', asks('', asking('ledger', 'Add!')))
    scene.plays('ledger', asks('', time))
    const { session } = await scene.ask(desk, 'Sum?')
    const [entry] = (await scene.sessionOf(desk, session)).json.pending
    expect(entry.expires_at).toBeDefined()
    scene.plays('ledger', says('Too late.'))
    scene.plays('desk', (call) => says(`It said: ${call.body.messages.at(-1).content}`)(call))
    await scene.app.sql`update waits set expires_at = clock_timestamp() where session_id = ${entry.path[0].session_id}`
    await expect.poll(async () => (await scene.messagesOf(desk, session)).at(-1).content).toBe('It said: Too late.')
    const replies = (await scene.messagesOf(desk, session)).filter(({ role }: { role: string }) => role === 'assistant')
    expect(replies.length).toBe(2)
    const [, asked] = (
      await scene.call('GET', `/api/v1/agents/${ledger}/playground/sessions/${entry.path[0].session_id}/messages`)
    ).json.messages
    expect(asked.toolCalls[0]).toMatchObject({ decision: 'expired', decidedBy: null })
  },
)

verifies(
  'contract-30.child-lists',
  'a list is sent the parent when one of its waiting children is deleted',
  async () => {
    scene.plays('desk', asks('', asking('billing', 'Add!'), asking('ledger', 'Add too!')))
    scene.plays('billing', asks('', time))
    scene.plays('ledger', asks('', time))
    const { session } = await scene.ask(desk, 'Sums?')
    const [gone, left] = (await scene.sessionOf(desk, session)).json.pending
    const list = await openSse(`${scene.app.url}/api/v1/agents/${desk}/deploy/sessions/stream`)
    const child = `/api/v1/agents/${billing}/deploy/sessions/${gone.path[0].session_id}`
    expect((await scene.call('DELETE', child)).status).toBe(204)
    expect(await sent(list, session, 1)).toMatchObject({ pending: [{ call_id: left.call_id }] })
    list.leave()
  },
)
