/** What the AI SDK and AG-UI show of decided calls while, and after, a reply carries them out: contract section 15. */
import { EventSchemas } from '@ag-ui/core/schemas'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { asks, startToolServer } from '../../../http/tool-scene.ts'
import { refusedBySdk, rest, uiScene, type WirePart } from '../../../http/ui-scene.ts'
import { untilFollowed } from '../../../support/followers.ts'
import { verifies } from '../../../verifies.ts'
import { sdkChat, toolParts } from './sdk-chat.ts'
import { approve, call, openWaitingScene, reject, respond, type WaitingScene, weather } from './waiting-scene.ts'

let scene: WaitingScene
let ui: ReturnType<typeof uiScene>
beforeAll(async () => {
  scene = await openWaitingScene()
  ui = uiScene(scene)
})
beforeEach(async () => {
  scene.tools.requests.length = 0
  scene.up.forget()
  await scene.choose()
})
afterAll(() => scene.close())

const unknown = 'The outcome is unknown: the reply ended before a result of this call was stored.'
const notMade = 'The call was not made: the reply that was to make it ended before.'
const cancel = (id: string) => scene.call('POST', `${scene.sessions}/${id}/chat/completions/cancel`)

/** The next call of a tool is at work from `at` until `done`. */
function heldTool() {
  const [at, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  scene.answer(async () => {
    at.resolve()
    await gate.promise
    return 'done'
  })
  return { at: at.promise, done: () => gate.resolve() }
}

/** A session that waits for decisions about c1 and c2. */
async function waitingForTwo(): Promise<string> {
  const id = await scene.newSession()
  scene.up.next(asks('Paying. ', call('pay', 'c1', '{"amount":1}'), call('pay', 'c2', '{"amount":2}')))
  expect((await scene.send(id, 'Pay twice!')).status).toBe(200)
  return id
}

/** What the AI SDK's page sends: c1 approved, c2 rejected. */
async function decidedByPage(id: string) {
  const [, asking] = await ui.uiMessages(id)
  const parts = asking.parts.map((part: { toolCallId?: string; approval?: object }) =>
    part.toolCallId === undefined
      ? part
      : {
          ...part,
          state: 'approval-responded',
          approval: { ...part.approval, approved: part.toolCallId === 'c1', reason: 'Too dear.' },
        },
  )
  return await ui.chat(id, '', { messages: [{ ...asking, parts }] })
}

const resume = [
  { interruptId: 'c1', status: 'resolved', payload: { approved: true } },
  { interruptId: 'c2', status: 'resolved', payload: { approved: false, reason: 'Too dear.' } },
]

const outcomesIn = (parts: readonly WirePart[]) =>
  parts.flatMap(({ type, toolCallId, errorText }) =>
    type.startsWith('tool-output') ? [[type, toolCallId, errorText]] : [],
  )
const resultsIn = (events: readonly WirePart[]) =>
  events.flatMap(({ type, toolCallId, content }) => (type === 'TOOL_CALL_RESULT' ? [[toolCallId, content]] : []))

verifies(
  ['contract-15.ai-sdk', 'contract-15.ag-ui', 'contract-15.once'],
  'a reply that is cancelled while a decided call runs: that one is unknown, a rejected one denied',
  async () => {
    const id = await waitingForTwo()
    const tool = heldTool()
    const stream = await decidedByPage(id)
    await tool.at
    await cancel(id)
    const parts = await rest(stream)
    expect(outcomesIn(parts)).toEqual([
      ['tool-output-error', 'c1', unknown],
      ['tool-output-denied', 'c2', undefined],
    ])
    expect(await refusedBySdk(parts)).toEqual([])
    tool.done()
    expect(toolParts((await ui.uiMessages(id)).at(-1))).toMatchObject([
      { state: 'output-error', errorText: unknown, approval: { id: 'c1', approved: true } },
      { state: 'output-denied', approval: { id: 'c2', approved: false, reason: 'Too dear.' } },
    ])

    const thread = await waitingForTwo()
    const again = heldTool()
    const run = await ui.run(thread, 'run', '', { resume, messages: [] })
    await again.at
    await cancel(thread)
    const events = await rest(run)
    again.done()
    expect(events.filter((event) => !EventSchemas.safeParse(event).success)).toEqual([])
    expect(resultsIn(events)).toEqual([
      ['c1', unknown],
      ['c2', 'The call was rejected, and not made: Too dear.'],
    ])
  },
)

verifies(
  ['contract-15.ai-sdk', 'contract-15.ag-ui', 'contract-15.once'],
  'a reply that is cancelled before an approved call begins: it was not made, everywhere',
  async () => {
    await using silent = await startToolServer(() => new Promise<never>(() => {}))
    const [id, thread] = [await waitingForTwo(), await waitingForTwo()]
    // The tools are opened before any is called, and this server keeps that from ending.
    const holding = async (nth: number, open: typeof decidedByPage) => {
      const mcpServerId = await scene.createMcpServer({ name: `silent${nth}`, url: `${silent.url}/mcp` })
      const session = nth === 1 ? id : thread
      await scene.choose({ mcpServers: [{ mcpServerId, toolNames: ['*'] }] })
      const stream = await open(session)
      await silent.arrived(nth)
      await cancel(session)
      return await rest(stream)
    }
    expect(outcomesIn(await holding(1, decidedByPage))).toEqual([
      ['tool-output-error', 'c1', notMade],
      ['tool-output-denied', 'c2', undefined],
    ])
    expect(toolParts((await ui.uiMessages(id)).at(-1))).toMatchObject([
      { state: 'output-error', errorText: notMade },
      { state: 'output-denied' },
    ])
    expect(resultsIn(await holding(2, (one) => ui.run(one, 'run', '', { resume, messages: [] })))).toEqual([
      ['c1', notMade],
      ['c2', 'The call was rejected, and not made: Too dear.'],
    ])
    expect(scene.tools.requests).toEqual([])
  },
)

verifies(
  ['contract-15.ai-sdk', 'contract-15.forked'],
  'a path that ends at the reply that asked shows what became of its calls',
  async () => {
    const id = await waitingForTwo()
    scene.answer(({ response }) => {
      response.statusCode = 500
      return 'broken'
    })
    scene.says('Paid.')
    await scene.decide(id, [approve('c1'), approve('c2')])
    const [, asking] = await scene.messages(id)
    const made = [
      { state: 'output-error', errorText: expect.stringContaining('broken'), approval: { approved: true } },
      { state: 'output-available', output: expect.stringContaining('done /pay'), approval: { approved: true } },
    ]
    const copy = await scene.call('POST', scene.sessions, { fork_of: { session_id: id, message_id: asking.id } })
    const shown = toolParts((await ui.uiMessages(copy.json.id))[1])
    expect(shown.sort((a, b) => (a.state > b.state ? -1 : 1))).toMatchObject(made)
    scene.says('Else.')
    await scene.send(id, 'Something else', { parent_id: asking.id })
    const beside = (await ui.uiMessages(id))[1]
    expect(toolParts(beside).sort((a, b) => (a.state > b.state ? -1 : 1))).toMatchObject(made)

    const other = await scene.newSession()
    scene.up.next(asks('', call('weather', 'w1')))
    await scene.send(other, 'Weather?', { tools: [weather] })
    scene.says('Sunny.')
    await scene.decide(other, [respond('w1', 'sun')])
    const [, asked, continuation] = await scene.messages(other)
    expect((await scene.call('DELETE', `${scene.agent}/deploy/responses/${continuation.id}`)).status).toBe(200)
    expect((await ui.uiMessages(other)).at(-1)).toMatchObject({ id: asked.id })
    expect(toolParts((await ui.uiMessages(other)).at(-1))).toMatchObject([{ state: 'output-available', output: 'sun' }])
  },
)

verifies(
  'contract-15.ai-sdk',
  'while a decided call runs a page that is opened anew sees what was decided, and follows to the end',
  async () => {
    const id = await waitingForTwo()
    const tool = heldTool()
    scene.says('Paid once.')
    const deciding = scene.decide(id, [approve('c1'), reject('c2', 'Too dear.')])
    await tool.at
    const stored = await ui.uiMessages(id)
    expect(toolParts(stored.at(-1))).toMatchObject([
      { state: 'approval-responded', approval: { id: 'c1', approved: true } },
      { state: 'approval-responded', approval: { id: 'c2', approved: false, reason: 'Too dear.' } },
    ])
    const { chat, state } = sdkChat(`${scene.app.url}${ui.aiSdk}`, id, {}, stored)
    const stream = await ui.follow(id)
    const resumed = chat.resumeStream()
    await untilFollowed(scene.app.url, id, 3)
    tool.done()
    await resumed
    const parts = await rest(stream)
    expect(await refusedBySdk(parts)).toEqual([])
    expect((await deciding).status).toBe(200)
    expect(state.error).toBeUndefined()
    const ended = (await ui.uiMessages(id)).at(-1)
    for (const last of [state.messages.at(-1), ended]) {
      expect(toolParts(last).map((part) => part.state)).toEqual(['output-available', 'output-denied'])
    }
    // It has sent nothing by itself.
    expect(await scene.messages(id)).toHaveLength(3)
  },
)
