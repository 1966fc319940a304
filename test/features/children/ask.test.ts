/** An agent asks another one, which answers in a session of its own (contract section 30). */
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { asking, asks, openTreeScene, says, type TreeScene } from './tree-scene.ts'

let scene: TreeScene
let desk: string
let billing: string
beforeAll(async () => {
  scene = await openTreeScene()
  billing = await scene.newAgent('billing')
  desk = await scene.newAgent('desk')
  const { status, text } = await scene.toolsOf(desk, [{ agentId: billing }])
  if (status !== 200) throw new Error(text)
})
afterAll(() => scene.close())

const childrenOf = (session: string) =>
  scene.app.sql<{ id: string; agentId: string; user: string; title: string; metadata: object; parent: object }[]>`
    select id, agent_id as "agentId", end_user as "user", title, metadata, parent from sessions
     where parent ->> 'session_id' = ${session}`

verifies('contract-30.child', 'its answer is the result of the call, and the child has its parent’s user', async () => {
  scene.plays('desk', asks('', asking('billing', 'What does Ann owe?')))
  scene.plays('billing', says('12 euros.'))
  let results: unknown
  scene.plays('desk', (call) => {
    results = call.body.messages.at(-1)
    return says('Ann owes 12 euros.')(call)
  })
  const { session, reply } = await scene.ask(desk, 'Ann?', { user: 'ann', metadata: { plan: 'gold' } })
  expect(reply.json.choices[0].message.content).toBe('Ann owes 12 euros.')
  expect(results).toMatchObject({ role: 'tool', content: '12 euros.' })
  const [child, ...others] = await childrenOf(session)
  expect(others).toEqual([])
  const [, asked] = await scene.messagesOf(desk, session)
  expect(child).toMatchObject({
    agentId: billing,
    user: 'ann',
    metadata: { plan: 'gold' },
    title: 'What does Ann owe?',
    parent: { agent_id: desk, session_id: session, message_id: asked.id, call_id: expect.any(String) },
  })
  expect(await scene.messagesOf(billing, child?.id ?? '')).toMatchObject([
    { role: 'user', content: 'What does Ann owe?' },
    { role: 'assistant', content: '12 euros.', status: 'complete' },
  ])
})

verifies('contract-30.child', 'stateless completions are offered none', async () => {
  const tools = Promise.withResolvers<unknown>()
  scene.plays('desk', (call) => {
    tools.resolve(call.body.tools)
    return says('Hi.')(call)
  })
  const path = `/api/v1/agents/${desk}/deploy/chat/completions`
  await scene.call('POST', path, { messages: [{ role: 'user', content: 'Hi' }] })
  expect(await tools.promise).toBeUndefined()
})

/** Returns the result that the desk's model is told when billing does this. */
async function told(message: string, ...steps: Parameters<TreeScene['plays']>[1][]) {
  scene.plays('desk', asks('', asking('billing', message)))
  scene.plays('billing', ...steps)
  const result = Promise.withResolvers<string>()
  scene.plays('desk', (call) => {
    result.resolve(call.body.messages.at(-1).content)
    return says('Done.')(call)
  })
  const { session } = await scene.ask(desk, 'Ask!')
  return { result: await result.promise, children: await childrenOf(session) }
}

for (const [message, why] of [
  [' \n', 'is empty'],
  ['a\0b', 'holds the character U+0000'],
  ['a\ud800b', 'holds one half of a surrogate pair'],
] as const)
  verifies('contract-30.child-result', `a message that ${why} makes no child`, async () => {
    const { result, children } = await told(message)
    expect([result, children]).toEqual([`The agent was not asked: the message ${why}.`, []])
  })

verifies('contract-30.child-result', 'a failed reply is told with its code, an empty one as empty', async () => {
  const failed = await told('Fail!', (call) => call.error(400, { error: { message: 'no' } }))
  expect(failed.result).toMatch(/failed: provider_error: /)
  const empty = await told('Be silent!', (call) => call.finish())
  expect(empty.result).toBe('The agent gave an empty answer.')
})

/** A child that runs, asked by a desk that waits. */
async function running() {
  scene.plays('desk', asks('', asking('billing', 'Wait!')))
  const asked = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  scene.plays('billing', async (call) => {
    await call.text('So far')
    asked.resolve()
    await Promise.race([gate.promise, call.closed])
    if (!call.abandoned) await call.finish()
  })
  const sessions = `/api/v1/agents/${desk}/deploy/sessions`
  const { id } = (await scene.call('POST', sessions, {})).json
  const reply = scene.call('POST', `${sessions}/${id}/chat/completions`, {
    messages: [{ role: 'user', content: 'Ask!' }],
  })
  await asked.promise
  const [child] = await childrenOf(id)
  if (child === undefined) throw new Error('no child')
  const path = `/api/v1/agents/${billing}/deploy/sessions/${child.id}`
  return { session: id as string, path: `${sessions}/${id}`, child: { id: child.id, path }, reply, goOn: gate.resolve }
}

verifies('contract-30.child-busy', 'a message to a child that is waited for is 409; later it is answered', async () => {
  const { child, reply, goOn } = await running()
  scene.plays('desk', says('Done.'))
  const body = { messages: [{ role: 'user', content: 'Me too' }] }
  for (const on_busy of ['reject', 'enqueue', 'interrupt', 'steer']) {
    const refused = await scene.call('POST', `${child.path}/chat/completions`, { ...body, on_busy })
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([409, 'false'])
  }
  const [asked, answer] = await scene.messagesOf(billing, child.id)
  for (const place of [{ parent_id: null }, { parent_id: answer.id }]) {
    const edited = await scene.call('POST', `${child.path}/chat/completions`, { ...body, ...place })
    expect([place, edited.status, edited.text]).toEqual([place, 409, expect.stringContaining('answers a call')])
  }
  const again = await scene.call('POST', `${child.path}/chat/completions`, { regenerate: true, message_id: asked.id })
  expect([again.status, again.text]).toEqual([409, expect.stringContaining('answers a call')])
  const unmoved = await scene.call('POST', `${child.path}/head`, { message_id: answer.id })
  expect([unmoved.status, unmoved.text]).toEqual([409, expect.stringContaining('answers a call')])
  goOn()
  expect((await reply).json.choices[0].message.content).toBe('Done.')
  scene.plays('billing', says('Yes.'))
  const later = await scene.call('POST', `${child.path}/chat/completions`, body)
  expect(later.json.choices[0].message.content).toBe('Yes.')
})

verifies('contract-30.child-cancel', 'a cancelled parent takes its child along', async () => {
  const { path, child, reply } = await running()
  expect((await scene.call('POST', `${path}/chat/completions/cancel`)).status).toBe(204)
  await reply
  await expect
    .poll(async () => (await scene.messagesOf(billing, child.id))[1])
    .toMatchObject({ status: 'complete', finish_reason: 'cancelled', content: 'So far' })
})

verifies(
  ['contract-30.child-cancel', 'contract-30.child-result'],
  'a child alone is cancelled; its parent goes on',
  async () => {
    const { child, reply } = await running()
    const result = Promise.withResolvers<string>()
    scene.plays('desk', (call) => {
      result.resolve(call.body.messages.at(-1).content)
      return says('Alas.')(call)
    })
    expect((await scene.call('POST', `${child.path}/chat/completions/cancel`)).status).toBe(204)
    expect(await result.promise).toBe("The agent's reply was cancelled. Its text so far:\nSo far")
    expect((await reply).json.choices[0].message.content).toBe('Alas.')
  },
)

verifies('contract-30.child-deletion', 'a child alone is deleted; its parent is told', async () => {
  const { child, reply } = await running()
  const result = Promise.withResolvers<string>()
  scene.plays('desk', (call) => {
    result.resolve(call.body.messages.at(-1).content)
    return says('Gone.')(call)
  })
  expect((await scene.call('DELETE', child.path)).status).toBe(204)
  expect(await result.promise).toMatch(/^The agent's session was deleted\./) // its text so far may have been stored
  await reply
})

verifies('contract-30.child-deletion', 'a deleted parent takes those that run and those that have ended', async () => {
  const { session, path, child, reply, goOn } = await running()
  scene.plays('desk', asks('', asking('billing', 'Once more')))
  scene.plays('billing', says('Fine.'))
  const again = Promise.withResolvers<void>()
  scene.plays('desk', async (call) => {
    again.resolve()
    await call.closed
  })
  goOn()
  await again.promise
  expect(await childrenOf(session)).toHaveLength(2)
  expect((await scene.call('DELETE', path)).status).toBe(204)
  await reply
  expect((await scene.call('GET', child.path)).status).toBe(404)
  expect(await childrenOf(session)).toEqual([])
})
