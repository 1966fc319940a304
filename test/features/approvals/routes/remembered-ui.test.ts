/** Decisions that last, through the AI SDK and AG-UI: contract section 29 over real sockets. */
import { randomUUID } from 'node:crypto'
import { EventSchemas } from '@ag-ui/core/schemas'
import { afterAll, expect } from 'vitest'
import { asks } from '../../../http/tool-scene.ts'
import { refusedBySdk, rest, uiScene } from '../../../http/ui-scene.ts'
import { verifies } from '../../../verifies.ts'
import { sdkChat, toolParts } from './sdk-chat.ts'
import { call, callsOfWaitingTest, openWaitingScene } from './waiting-scene.ts'

const scene = await openWaitingScene()
afterAll(scene.close)
callsOfWaitingTest(scene)
const ui = uiScene(scene)

const listed = async (id: string) => (await scene.call('GET', `${scene.sessions}/${id}/decisions`)).json.decisions
/** The decision about `c1` as a page sends it, with these fields beside. */
const decided = (messageId: unknown, approved: boolean) => {
  const part = { type: 'dynamic-tool', toolName: 'pay', toolCallId: 'c1', state: 'approval-responded', input: {} }
  return [
    { id: messageId, role: 'assistant', parts: [{ ...part, approval: { id: 'c1', approved, reason: 'Never.' } }] },
  ]
}

verifies('contract-29.remembered-wires', 'the AI SDK’s body remembers, and its parts name the decision', async () => {
  const id = randomUUID()
  scene.up.next(asks('', call('pay', 'c1', '{"amount":1}')))
  const [first] = await rest(await ui.chat(id, 'Pay!'))
  const messages = decided(first?.messageId, true)
  const refused = async (wish: object) => {
    const { status, json } = await scene.call('POST', ui.aiSdk, ui.chatBody(id, '', { messages, ...wish }))
    return [status, json.error.message]
  }
  expect(await refused({ remember: 'ever' })).toEqual([400, expect.stringContaining('remember')])
  expect(await refused({ remember: 'user' })).toEqual([400, 'remember: the session has no user'])
  expect(await refused({ remember_arguments: ['amount'] })).toEqual([
    400,
    expect.stringContaining('remember_arguments: '),
  ])
  scene.says('Paid.')
  const wish = { remember: 'session', remember_arguments: ['amount'] }
  await rest(await ui.chat(id, '', { messages, ...wish }))
  const [decision] = await listed(id)
  expect(decision).toMatchObject({ decision: 'approve', arguments: { amount: 1 } })

  scene.up.next(asks('', call('pay', 'c2', '{"amount":1}')))
  scene.says('Paid again.')
  const parts = await rest(await ui.chat(id, 'Again!'))
  expect(await refusedBySdk(parts)).toEqual([])
  const providerMetadata = { greenroom: { decisionId: decision.id } }
  expect(parts.find(({ type }) => type === 'tool-input-available')).toMatchObject({ providerMetadata })
  expect(parts.map(({ type }) => type)).toContain('tool-output-available')
})

verifies(
  'contract-29.remembered-wires',
  'a remembered rejection is an error to a page that was not asked',
  async () => {
    const id = randomUUID()
    const { chat, state } = sdkChat(`${scene.app.url}${ui.aiSdk}`, id)
    scene.up.next(asks('', call('pay', 'c1', '{"amount":1}')))
    await chat.sendMessage({ text: 'Pay!' })
    scene.says('Not paid.')
    const messages = decided(state.messages.at(-1)?.id, false)
    await rest(await ui.chat(id, '', { messages, remember: 'session' }))
    const [{ id: decisionId }] = await listed(id)

    scene.up.next(asks('', call('pay', 'c2', '{"amount":1}')))
    scene.says('Not again.')
    await chat.sendMessage({ text: 'Again!' })
    const shown = { state: 'output-error', callProviderMetadata: { greenroom: { decisionId } } }
    const [part] = toolParts(state.messages.at(-1))
    expect(part).toMatchObject({ ...shown, errorText: expect.stringContaining('Never.') })
    const stored = toolParts((await ui.uiMessages(id)).at(-1))
    expect(stored).toEqual([part])
    expect(scene.tools.requests).toEqual([])
  },
)

verifies(
  'contract-29.remembered-wires',
  'AG-UI’s payload remembers, and later calls are shown with results',
  async () => {
    const threadId = randomUUID()
    scene.up.next(asks('', call('pay', 'c1', '{"amount":1}')))
    await rest(await ui.run(threadId, 'run 1', 'Pay!'))
    const resume = (payload: object) => ({
      resume: [{ interruptId: 'c1', status: 'resolved', payload: { approved: true, ...payload } }],
      messages: [],
    })
    for (const wrong of [
      { remember: 'ever' },
      { remember: 'session', remember_arguments: [] },
      { remember: 'session', remember_arguments: ['amount', 'amount'] },
      { remember: 'session', remember_arguments: [1] },
      { remember: 'user' },
      { remember_arguments: ['amount'] },
    ]) {
      const { status, json } = await scene.call('POST', ui.agUi, ui.runBody(threadId, 'no', '', resume(wrong)))
      expect([wrong, status, json.error.message]).toEqual([
        wrong,
        400,
        expect.stringContaining('resume.0.payload.remember'),
      ])
    }
    scene.says('Paid.')
    await rest(await ui.run(threadId, 'run 2', '', resume({ remember: 'session' })))
    expect(await listed(threadId)).toMatchObject([{ remember: 'session', arguments: null }])
    scene.up.next(asks('', call('pay', 'c2', '{"amount":2}')))
    scene.says('Paid again.')
    const more = [{ id: 'u2', role: 'user', content: 'Again!' }]
    const events = await rest(await ui.run(threadId, 'run 3', '', { messages: more }))
    expect(events.filter((event) => !EventSchemas.safeParse(event).success)).toEqual([])
    expect(events.filter(({ type }) => type.startsWith('TOOL_CALL')).map(({ type }) => type)).toEqual([
      'TOOL_CALL_START',
      'TOOL_CALL_ARGS',
      'TOOL_CALL_END',
      'TOOL_CALL_RESULT',
    ])
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' } })
  },
)

verifies(
  'contract-29.remember-refused',
  'a client secret that is bound remembers nothing for its user, on the wires',
  async () => {
    const { httpToolIds } = (await scene.call('GET', `${scene.agent}/tools`)).json
    await scene.choose({ approvals: [{ httpToolId: httpToolIds[0], mayRemember: 'user' }] })
    const { id } = (await scene.call('POST', scene.sessions, { user: 'ann' })).json
    const made = await scene.call('POST', `${scene.agent}/deploy/client_secrets`, { user: 'ann', session_id: id })
    const headers = { authorization: `Bearer ${made.json.value}` }
    scene.up.next(asks('', call('pay', 'c1', '{"amount":1}')))
    const [first] = await rest(await ui.chat(id, 'Pay!', {}, headers))
    const body = ui.chatBody(id, '', { messages: decided(first?.messageId, true), remember: 'user' })
    expect((await scene.call('POST', ui.aiSdk, body, headers)).status).toBe(403)
    const resume = [{ interruptId: 'c1', status: 'resolved', payload: { approved: true, remember: 'user' } }]
    const run = ui.runBody(id, 'run 1', '', { resume, messages: [] })
    expect((await scene.call('POST', ui.agUi, run, headers)).status).toBe(403)
    expect((await scene.session(id)).pending).toHaveLength(1)
  },
)
