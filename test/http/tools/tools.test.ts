/** Agents that act, end to end: contract sections 5 and 6 over real sockets. */
import { afterAll, beforeEach, expect } from 'vitest'
import { contentOf } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { asks, callsOfTest, look, openToolScene, says, startToolServer } from '../tool-scene.ts'

const scene = await openToolScene({ config: { maxToolCalls: 4 } })
afterAll(scene.close)
const { count, sent } = callsOfTest(scene)
beforeEach(() => scene.choose({}))

verifies('contract-6.loop', 'calls of one turn run side by side, their results go back in call order', async () => {
  // The first call is answered only once the second has arrived.
  await using tools = await startToolServer(async ({ url }) => {
    if (url.searchParams.get('q') === 'one') await tools.arrived(2)
    return `found ${url.searchParams.get('q')}`
  })
  const inputSchema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] }
  await scene.choose({ httpToolIds: [await scene.createTool({ name: 'look', url: tools.url, inputSchema })] })
  scene.up.next(asks('Let me look. ', look('one', 'c1'), look('two', 'c2')))
  scene.up.next(says('Found both.'))
  const stream = await scene.stream(await scene.newSession(), 'Look!')
  const { frames } = await stream.rest()
  // On the deploy wire only text is seen, as one content.
  expect(contentOf(frames)).toBe('Let me look. Found both.')
  expect(stream.raw()).not.toMatch(/event:|tool/)
  expect((await sent(1)).tools).toEqual([
    {
      type: 'function',
      function: { name: 'look', description: 'Calls look.', parameters: expect.objectContaining(inputSchema) },
    },
  ])
  const { messages } = await sent(2)
  expect(messages).toEqual([
    { role: 'user', content: 'Look!' },
    {
      role: 'assistant',
      content: 'Let me look. ',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"q":"one"}' } },
        { id: 'c2', type: 'function', function: { name: 'look', arguments: '{"q":"two"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: expect.stringContaining('found one') },
    { role: 'tool', tool_call_id: 'c2', content: expect.stringContaining('found two') },
  ])
})

verifies('contract-6.loop', 'stateless completions call tools too, streamed or not', async () => {
  await using tools = await startToolServer(() => 'sunny')
  await scene.choose({ httpToolIds: [await scene.createTool({ name: 'look', url: tools.url })] })
  for (const stream of [false, true]) {
    scene.up.next(asks('', look('x')))
    scene.up.next(says('It is sunny.'))
    const answer = await scene.stateless([{ role: 'user', content: 'Weather?' }], { stream })
    expect(answer.text).toContain('It is sunny.')
    expect(answer.text).not.toContain('tool')
  }
  expect(tools.requests).toHaveLength(2)
})

verifies(
  'contract-6.failing-tools',
  'unknown tools, broken arguments and tools that fail are told to the model',
  async () => {
    await using tools = await startToolServer(({ response }) => {
      response.statusCode = 500
      return 'out of order'
    })
    const inputSchema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] }
    const gone = await scene.createTool({ name: 'gone', url: 'http://127.0.0.1:1/' })
    await scene.choose({ httpToolIds: [await scene.createTool({ name: 'look', url: tools.url, inputSchema }), gone] })
    scene.up.next(
      asks(
        '',
        { name: 'look', arguments: '{"q": "half' },
        { name: 'no.such tool', arguments: '{}' },
        { name: 'look', arguments: '{"q": 7}' },
        look('x'),
      ),
    )
    scene.up.next(says('I could not.'))
    const chat = await scene.chat({ message: 'Look!' })
    const { frames } = await chat.rest()
    expect(contentOf(frames)).toBe('I could not.')
    const told = (kind: string) => frames.filter(({ event }) => event === kind).map(({ data }) => JSON.parse(data))
    const came = new Map(told('tool_result').map((result) => [result.id, result])) // in any order
    const results = told('tool_call').map(({ id }) => came.get(id))
    expect(results.map(({ ok }) => ok)).toEqual([false, false, false, false])
    expect(results[1].content).toContain('no.such tool')
    expect(results[3].content).toContain('out of order')
    expect(tools.requests).toHaveLength(1) // arguments are checked before anything is called
    // Strict vendors refuse a message with half a JSON or a dot in a name: it goes back in a form that all take.
    const [, asked, ...answers] = (await sent(2)).messages
    expect(asked.tool_calls.map((one: { function: object }) => one.function).slice(0, 2)).toEqual([
      { name: 'look', arguments: '{}' },
      { name: 'no_such_tool', arguments: '{}' },
    ])
    expect(answers.map(({ content }: { content: string }) => content)).toEqual(results.map(({ content }) => content))
    // The playground shows what the model really wrote.
    const [, reply] = await scene.shown(chat.headers.get('x-session-id') ?? '')
    expect(reply.toolCalls[0]).toMatchObject({ name: 'look', arguments: '{"q": "half', ok: false })
  },
)

verifies(
  'contract-6.max-tool-calls',
  'the same call for ever: after maxToolCalls the model is asked without tools',
  async () => {
    await using tools = await startToolServer(() => 'again')
    await scene.choose({ httpToolIds: [await scene.createTool({ name: 'look', url: tools.url })] })
    scene.up.always(async (call) => (call.body.tools ? asks('', look('x', 'same'))(call) : says('Enough.')(call)))
    const answer = await scene.send(await scene.newSession(), 'Look!')
    expect(answer.json.choices[0].message.content).toBe('Enough.')
    expect(answer.json.choices[0].finish_reason).toBe('stop')
    expect(tools.requests).toHaveLength(4)
    expect(count()).toBe(5)
  },
)

verifies(
  'contract-6.max-tool-calls',
  'calls of one turn beyond the limit are not made, and the model is told',
  async () => {
    await using tools = await startToolServer(() => 'ok')
    await scene.choose({ httpToolIds: [await scene.createTool({ name: 'look', url: tools.url })] })
    scene.up.next(asks('', look('1'), look('2'), look('3'), look('4'), look('5'), look('6')))
    scene.up.next(says('Done.'))
    await scene.send(await scene.newSession(), 'Look!')
    expect(tools.requests).toHaveLength(4)
    const { messages, tools: offered } = await sent(2)
    expect(messages.slice(-2).map(({ content }: { content: string }) => content)).toEqual([
      expect.stringContaining('Not called'),
      expect.stringContaining('Not called'),
    ])
    expect(offered).toBeUndefined()
  },
)

verifies('contract-6.max-tool-calls', 'with maxToolCalls 0 no tools are offered', async () => {
  await scene.choose({ builtInToolIds: ['current_time'] })
  scene.up.next(says('Hello.'))
  await (await scene.chat({ message: 'Hi', configOverrides: { maxToolCalls: 0 } })).rest()
  expect((await sent(1)).tools).toBeUndefined()
})

verifies('contract-6.kept-calls', 'a later turn shows the model what it called and what came back, cut', async () => {
  const long = 'x'.repeat(100_000)
  await using tools = await startToolServer(() => long)
  await scene.choose({ httpToolIds: [await scene.createTool({ name: 'look', url: tools.url })] })
  const session = await scene.newSession()
  scene.up.next(asks('Ähm. ', look('1', 'c1')))
  scene.up.next(says('Found it.'))
  await scene.send(session, 'Look!')
  expect((await sent(2)).messages.at(-1).content).toContain(long) // in its own reply it is whole
  scene.up.next(says('Yes.'))
  await scene.send(session, 'Sure?')
  const { messages } = await sent(3)
  expect(messages).toEqual([
    { role: 'user', content: 'Look!' },
    { role: 'assistant', content: 'Ähm. ', tool_calls: [expect.objectContaining({ id: 'c1' })] },
    { role: 'tool', tool_call_id: 'c1', content: expect.stringContaining('xxxx') },
    { role: 'assistant', content: 'Found it.' },
    { role: 'user', content: 'Sure?' },
  ])
  expect(messages[2].content.length).toBeLessThan(8100)
})

verifies(
  ['contract-6.stop', 'contract-10.unknown-outcome'],
  'cancel stops a running tool down to the socket; a later turn is told that its outcome is unknown, and it is not made again',
  async () => {
    await using tools = await startToolServer(() => new Promise<string>(() => {}))
    await scene.choose({ httpToolIds: [await scene.createTool({ name: 'look', url: tools.url })] })
    const session = await scene.newSession()
    scene.up.next(asks('Wait. ', look('1')))
    const stream = await scene.stream(session, 'Look!')
    const running = await tools.arrived(1)
    expect((await scene.cancel(session)).status).toBe(204)
    await running.closed
    expect(running.response.writableFinished).toBe(false)
    expect(contentOf((await stream.rest()).frames)).toBe('Wait. ')
    const [, reply] = await scene.messages(session)
    expect(reply).toMatchObject({ content: 'Wait. ', status: 'complete', finish_reason: 'cancelled' })
    expect((await scene.shown(session))[1].toolCalls).toMatchObject([
      { name: 'look', ok: null, content: null, offset: 6 },
    ])
    scene.up.next(says('Never mind.'))
    await scene.send(session, 'And?')
    const { messages } = await sent(2)
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(messages[2].content).toMatch(/outcome is unknown.*may have taken effect/)
    expect(tools.requests).toHaveLength(1)
  },
)

verifies(
  ['contract-6.stop', 'contract-3.stateless-disconnect'],
  'a stateless client that leaves stops its tools',
  async () => {
    await using tools = await startToolServer(() => new Promise<string>(() => {}))
    await scene.choose({ httpToolIds: [await scene.createTool({ name: 'look', url: tools.url })] })
    scene.up.next(asks('', look('1')))
    const stream = await scene.statelessStream('Look!')
    const running = await tools.arrived(1)
    stream.leave()
    await running.closed
    expect(running.response.writableFinished).toBe(false)
  },
)

verifies(
  'contract-6.dead-server',
  'a dead MCP server delays no first frame, can be cancelled, and the reply goes on without it',
  async () => {
    await using dead = await startToolServer(() => new Promise<string>(() => {}))
    const mcpServerId = await scene.createMcpServer({ name: 'dead', url: `${dead.url}/mcp` })
    await scene.choose({ mcpServers: [{ mcpServerId, toolNames: ['*'] }], builtInToolIds: ['current_time'] })
    const session = await scene.newSession()
    const cancelled = await scene.stream(session, 'Hi')
    await dead.arrived(1)
    expect(JSON.parse((await cancelled.next())?.data ?? '').choices[0].delta).toEqual({ role: 'assistant' })
    expect((await scene.cancel(session)).status).toBe(204)
    expect((await cancelled.rest()).frames.at(-1)?.data).toBe('[DONE]')
    expect(count()).toBe(0) // no model was asked
    scene.up.next(says('Here I am.'))
    const { frames } = await (await scene.stream(session, 'Hello?')).rest()
    expect(contentOf(frames)).toBe('Here I am.')
    expect((await sent(1)).tools).toHaveLength(1)
  },
)

verifies(
  ['contract-6.stop', 'contract-1.timeouts'],
  'GENERATION_TIMEOUT_S ends a reply in the middle of a tool, and the tool with it',
  async () => {
    const hurried = await openToolScene({ settings: { GENERATION_TIMEOUT_S: '1' } })
    try {
      await using tools = await startToolServer(() => new Promise<string>(() => {}))
      await hurried.choose({ httpToolIds: [await hurried.createTool({ name: 'look', url: tools.url })] })
      hurried.up.always(asks('Wait. ', look('1')))
      let session = ''
      // On a busy machine the time may be over before the tool is called.
      while (tools.requests.length === 0) {
        session = await hurried.newSession()
        const { frames } = await (await hurried.stream(session, 'Look!')).rest()
        expect(JSON.parse(frames.at(-1)?.data ?? '').error.code).toBe('provider_timeout')
      }
      const running = await tools.arrived(1)
      await running.closed
      expect(running.response.writableFinished).toBe(false)
      expect((await hurried.messages(session))[1]).toMatchObject({ status: 'error', content: 'Wait. ' })
    } finally {
      await hurried.close()
    }
  },
)
