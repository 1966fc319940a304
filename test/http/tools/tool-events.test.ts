/** What the playground shows of tools, and which it may use (contract section 5). */
import { afterAll, beforeEach, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { asks, callsOfTest, look, openToolScene, says, startToolServer, told } from '../tool-scene.ts'

const scene = await openToolScene({ config: { maxToolCalls: 4 } })
afterAll(scene.close)
const { count, sent } = callsOfTest(scene)
beforeEach(() => scene.choose({}))

verifies(
  ['contract-5.tool-events', 'contract-5.shapes'],
  'the playground shows calls and results as named events and in its messages; every resume repeats what lies after its id',
  async () => {
    await using tools = await startToolServer(({ url }) => `found ${url.searchParams.get('q')}`)
    await scene.choose({ httpToolIds: [await scene.createTool({ name: 'look', url: tools.url })] })
    scene.up.next(asks('A', look('1', 'c1'), look('2', 'c2')))
    scene.up.next(asks('B', look('3', 'c1')))
    scene.up.next(says('C'))
    const chat = await scene.chat({ message: 'Look!' })
    const { frames } = await chat.rest()
    const called = (id: string, q: string) => ['tool_call', { id, name: 'look', arguments: JSON.stringify({ q }) }]
    const result = (id: string, q: string) => [
      'tool_result',
      { id, ok: true, content: expect.stringContaining(`found ${q}`), durationMs: expect.any(Number) },
    ]
    const all = [
      'A',
      called('c1', '1'),
      called('c2', '2'),
      result('c1', '1'),
      result('c2', '2'),
      'B',
      called('c1_2', '3'),
      result('c1_2', '3'),
      'C',
    ]
    expect(told(frames)).toEqual(all)
    expect(frames.filter(({ event }) => event !== undefined).every(({ data }) => !data.includes('"seq"'))).toBe(true)

    const session = chat.headers.get('x-session-id') ?? ''
    const [, reply] = await scene.shown(session)
    const toolCall = (id: string, q: string, offset: number) => ({
      id,
      name: 'look',
      arguments: JSON.stringify({ q }),
      ok: true,
      content: expect.stringContaining(`found ${q}`),
      offset,
      startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      durationMs: expect.any(Number),
    })
    expect(reply.toolCalls).toEqual([toolCall('c1', '1', 1), toolCall('c2', '2', 1), toolCall('c1_2', '3', 2)])
    expect(reply.content).toBe('ABC')

    // Frames: 1 role, 2 A, 3 B, 4 C, 5 finish, 6 [DONE].
    for (const [after, first] of [
      [0, 0],
      [1, 0],
      [2, 1],
      [3, 6],
      [4, 9],
    ] as const) {
      const resumed = await scene.resumeChat(session, after)
      expect(told((await resumed.rest()).frames)).toEqual(all.slice(first))
    }
  },
)

verifies(
  'contract-5.tool-events',
  'a call is shown while it runs, and a resume in its middle shows it again',
  async () => {
    const gate = Promise.withResolvers<string>()
    await using tools = await startToolServer(() => gate.promise)
    await scene.choose({ httpToolIds: [await scene.createTool({ name: 'look', url: tools.url })] })
    scene.up.next(asks('A', look('1', 'c1')))
    scene.up.next(says('B'))
    const chat = await scene.chat({ message: 'Look!' })
    await tools.arrived(1)
    const session = chat.headers.get('x-session-id') ?? ''
    for (let frame = await chat.next(); frame?.event !== 'tool_call'; frame = await chat.next())
      expect(frame).not.toBeNull()
    const running = await scene.shown(session)
    expect(running[1]).toMatchObject({
      status: 'streaming',
      toolCalls: [{ id: 'c1', ok: null, content: null, durationMs: null }],
    })
    const resumed = await scene.resumeChat(session, 2)
    const next = await resumed.next()
    expect(next).toMatchObject({ event: 'tool_call', id: undefined })
    gate.resolve('found')
    expect(told((await resumed.rest()).frames)).toMatchObject([
      ['tool_call', { id: 'c1' }],
      ['tool_result', { id: 'c1', ok: true }],
      'B',
    ])
  },
)

verifies(
  'contract-5.tool-arrays',
  'tool arrays of a chat replace those of the agent, absent ones keep them',
  async () => {
    const [kept, other] = [
      await scene.createTool({ name: 'kept', url: 'http://127.0.0.1:1/' }),
      await scene.createTool({ name: 'other', url: 'http://127.0.0.1:1/' }),
    ]
    await scene.choose({ httpToolIds: [kept], builtInToolIds: ['current_time'] })
    scene.up.always(says('Hi.'))
    const offered = async (fields: object): Promise<string[]> => {
      await (await scene.chat({ message: 'Hi', ...fields })).rest()
      const { tools = [] } = await sent(count())
      return tools.map((tool: { function: { name: string } }) => tool.function.name).sort()
    }
    expect(await offered({})).toEqual(['current_time', 'kept'])
    expect(await offered({ httpToolIds: [other] })).toEqual(['current_time', 'other'])
    expect(await offered({ httpToolIds: [], builtInToolIds: ['web_fetch'] })).toEqual(['web_fetch'])
    expect(await offered({ httpToolIds: [], builtInToolIds: [], mcpServers: [] })).toEqual([])
    expect(await offered({})).toEqual(['current_time', 'kept'])
    const nobody = '11111111-1111-4111-8111-111111111111'
    for (const [field, value] of [
      ['httpToolIds', [nobody]],
      ['httpToolIds', ['x']],
      ['mcpServers', [{ mcpServerId: nobody, toolNames: ['*'] }]],
      ['builtInToolIds', ['nothing']],
    ] as const) {
      const { status, json } = await scene.call('POST', `${scene.agent}/playground/chat`, {
        message: 'Hi',
        [field]: value,
      })
      expect([status, json]).toEqual([400, { message: expect.stringMatching(new RegExp(`^${field}`)) }])
    }
  },
)
