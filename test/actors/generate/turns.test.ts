/** The time between the turns of a reply, and calls that are not simply made. */
import { describe, expect, test } from 'vitest'
import { noActions } from '../../../src/actors/generate/defaults.ts'
import { createGeneration } from '../../../src/actors/generate/generate.ts'
import type { CallPolicy, GenerateOptions, Judgement, Resumption } from '../../../src/actors/generate/running.ts'
import type { Model, ModelEvent, ModelRequest, OpenTurn, Toolbox, ToolCall } from '../../../src/actors/ports/index.ts'
import { type ToolCallEvent, unobserved } from '../../../src/actors/ports/observer.ts'
import type { ReplyEvent } from '../../../src/actors/reply/reply-event.ts'
import { verifies } from '../../verifies.ts'
import { ask, end, never, request, say, script } from './generation-scene.ts'

interface Wanted extends Partial<Omit<GenerateOptions, 'model'>> {
  sent?: Partial<Omit<ModelRequest, 'tools'>>
  toolbox?: Partial<Toolbox>
  signal?: AbortSignal
}

async function run(model: Model, { sent, toolbox, signal = never, ...options }: Wanted = {}) {
  const opened: Toolbox = {
    tools: [{ name: 'tool', description: 'd', inputSchema: { type: 'object' } }],
    call: async ({ id }) => ({ ok: true, content: `result of ${id}` }),
    ...toolbox,
  }
  const generation = createGeneration(
    { ...request, ...sent },
    { replyId: 'r', model, openToolbox: async () => opened, timeoutMs: 60_000, ...options },
  )
  const events: ReplyEvent[] = []
  const ending = await generation.run(signal, (emitted) => {
    events.push(...emitted)
    return undefined
  })
  return { generation, events, ending }
}

/** A policy that judges each call by its id. `turns` gets what waits. */
function policy(judged: Record<string, Judgement>, turns: OpenTurn[] = []): () => CallPolicy {
  return () => ({
    offered: (own) => own,
    considered: (calls) => calls,
    judge: async (calls) => calls.map(({ id }) => judged[id] ?? null),
    waitOf: (chain) => {
      turns.push(chain.turn)
      return chain.turn.waiting.some((call) => call !== null) ? { chain, shown: [] } : null
    },
    runDecided: null,
  })
}
const idsOf = (events: readonly ReplyEvent[], type: 'tool_call' | 'tool_result') =>
  events.flatMap((event) => (event.type === type ? [event.id] : []))

describe('between two turns', () => {
  verifies('contract-22.steer', 'a reply ends where it is steered, and its model is not asked again', async () => {
    const model = script([say('a'), ask('c'), end('tool_calls')], [say('b'), end()])
    const told: boolean[] = []
    const atBoundary = async (isStored: boolean) => told.push(isStored) > 0
    const { ending, events } = await run(model, { atBoundary })
    expect([ending, model.requests.length, told]).toEqual([{ type: 'finished', reason: 'steered' }, 1, [true]])
    expect(idsOf(events, 'tool_result')).toEqual(['c'])
    // A reply that calls nothing has no boundary.
    expect((await run(script([say('a'), end()]), { atBoundary })).ending).toEqual({ type: 'finished', reason: 'stop' })
  })

  verifies('contract-15.caller-tools', 'the choice of a tool is the first call’s alone', async () => {
    const model = script([ask('c'), end('tool_calls')], [say('b'), end()])
    await run(model, { actions: { ...noActions, toolChoice: 'required' } })
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(['required', undefined])
  })

  test('with the last call that may be made the tools are gone from the next request', async () => {
    const model = script([ask('c'), end('tool_calls')], [say('b'), end()])
    await run(model, { sent: { config: { maxToolCalls: 1 } } })
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 0])
    const other = script([ask('d'), end('tool_calls')], [say('b'), end()])
    await run(other, { sent: { config: { maxToolCalls: 2 } }, actions: { ...noActions, callsUsed: 1 } })
    expect(other.requests.map(({ tools }) => tools.length)).toEqual([1, 0])
  })

  verifies('contract-19.estimates', 'what corrects the next estimate is the report of a whole turn', async () => {
    const told = {
      conversation: {
        turns: [],
        newest: [{ role: 'user', content: 'a' }],
        isWhole: true,
        checkpoint: null,
        before: null,
      },
      maxTokens: 1000,
    } as const
    const part: ModelEvent = { type: 'usage', usage: { promptTokens: 70, completionTokens: 1 } }
    const reported = async (...steps: ModelEvent[]) => {
      const model: Model = {
        countTokens: async (texts) => texts.map(() => 0),
        stream: async (asked, _signal, take) => {
          asked.calls?.({ type: 'sent', request: asked } as Parameters<NonNullable<typeof asked.calls>>[0])
          take(steps)
        },
      }
      return (await run(model, { told })).generation.sent()?.reported
    }
    expect(await reported(part, say('a'), end('stop', 80))).toBe(80)
    expect(await reported(part, say('a'), { type: 'end', reason: 'stop', usage: null })).toBeNull()
  })
})

describe('calls', () => {
  test('the result of a call that is not made waits for those of the calls before it', async () => {
    const release = Promise.withResolvers<void>()
    const call = async ({ id }: ToolCall) => {
      setImmediate(release.resolve)
      await release.promise
      return { ok: true, content: id }
    }
    const model = script([ask('a'), ask('b'), end('tool_calls')], [say('x'), end()])
    const { events } = await run(model, { sent: { config: { maxToolCalls: 1 } }, toolbox: { call } })
    expect(idsOf(events, 'tool_result')).toEqual(['a', 'b'])
  })

  test('observers are told 500 characters of a failure', async () => {
    const told: ToolCallEvent[] = []
    const observer = {
      ...unobserved,
      toolCall: () => ({ on: (event: ToolCallEvent) => void told.push(event), within: <T>(work: () => T) => work() }),
    }
    const call = async () => ({ ok: false, content: `${'x'.repeat(499)}😀` })
    await run(script([ask('a'), end('tool_calls')], [end()]), { observer, toolbox: { call } })
    expect(told).toEqual([{ type: 'ended', ok: false, error: `${'x'.repeat(499)}\ufffd` }])
  })

  verifies('contract-30.child-once', 'nothing is stored along with a call that is not made, or waits', async () => {
    const started: string[] = []
    const start = (key: string) => {
      started.push(key)
      return undefined
    }
    const own = new Map([['tool', { key: 'T', needsApproval: false, start }]])
    const judged: Record<string, Judgement> = { b: { refused: 'no' }, c: { waits: 'approval' }, d: { waits: 'caller' } }
    const turns: OpenTurn[] = []
    const first = [ask('z'), end('tool_calls')]
    const model = script(first, [ask('a'), ask('b'), ask('c'), ask('d'), end('tool_calls')])
    const { events, ending } = await run(model, { calls: policy(judged, turns), toolbox: { own } })
    expect(started).toEqual(['r:1', 'r:2'])
    expect(ending).toMatchObject({ type: 'finished', reason: 'tool_calls' })
    // Places count over the whole reply; the caller's own tool has no identity of ours.
    expect(turns.at(-1)?.waiting.map((call) => call && [call.id, call.kind, call.place])).toEqual([
      ...[null, null, ['c', 'approval', 4], ['d', 'caller', 5]],
    ])
    const shown = events.flatMap((event) => (event.type === 'tool_call' ? [[event.id, event.waits, event.tool]] : []))
    expect(shown).toEqual([
      ['z', undefined, 'T'],
      ['a', undefined, 'T'],
      ['b', undefined, 'T'],
      ['c', 'approval', 'T'],
      ['d', 'caller', undefined],
    ])
  })

  verifies('contract-35.one-call-id', 'calls that wait get ids of their own; below a parent all do', async () => {
    const idsWith = async (actions: object) => {
      const model = script([ask('a'), ask('c'), end('tool_calls')])
      const calls = policy({ c: { waits: 'approval' } })
      const { events } = await run(model, { actions: { ...noActions, ...actions }, calls })
      return idsOf(events, 'tool_call').map((id) => id.startsWith('call_'))
    }
    expect(await idsWith({})).toEqual([false, false])
    expect(await idsWith({ uniqueIds: true })).toEqual([false, true])
    expect(await idsWith({ hasParent: true })).toEqual([true, true])
  })

  verifies('contract-27.questions', 'a call whose server asks waits with its questions', async () => {
    const asked = { server: 's', questions: [], of: 'o' }
    const turns: OpenTurn[] = []
    const call = async () => ({ ok: true, content: '', asked })
    const model = script([ask('a'), end('tool_calls')])
    const { ending } = await run(model, { calls: policy({}, turns), toolbox: { call } })
    expect(ending).toMatchObject({ type: 'finished', reason: 'tool_calls' })
    expect(turns[0]?.waiting).toMatchObject([{ id: 'a', kind: 'input', asked, place: 1 }])
  })
})

describe('the end', () => {
  test('2,000 characters of a refusal are kept, as they can be stored', async () => {
    const refusal = `a\0${'x'.repeat(3000)}`
    const { generation } = await run(script([{ type: 'end', reason: 'content_filter', usage: null, refusal }]))
    expect(generation.refusal()).toBe(`a\ufffd${'x'.repeat(1998)}`)
  })

  test('half a character of reasoning at the end of a turn is shown as what it is', async () => {
    const { events } = await run(script([{ type: 'reasoning', text: 'a\ud83d' }, end()]))
    expect(events).toEqual([
      { type: 'reasoning', text: 'a' },
      { type: 'reasoning', text: '\ufffd' },
    ])
  })
})

describe('going on', () => {
  const from = (changes: Partial<Resumption>): Resumption => ({
    ...{ said: [], spent: 0, calls: 0, turns: 0, text: '', isFirstCall: true, hasDecided: false, attempts: 0 },
    ...{ used: { promptTokens: 0, completionTokens: 0, estimated: false }, firstTokenMs: null, reasoningMs: null },
    ...{ lacksTools: false, model: null, beginAgain: async () => null, goOnBehind: (running, ask) => ask([], running) },
    ...changes,
  })

  verifies(
    'contract-15.limit',
    'calls of the reply that waited count, and its tools are there even without any left',
    async () => {
      const turn = { answer: { role: 'assistant', content: '' }, results: [], waiting: [] } as const
      const actions = { ...noActions, continued: { chain: { turns: [], turn, callsUsed: 2 }, decisions: [] } }
      const calls = policy({})
      const model = script([ask('c'), end('tool_calls')], [say('b'), end()])
      await run(model, { actions, calls, sent: { config: { maxToolCalls: 3 } } })
      expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 0])
      let opened = 0
      const openToolbox = async () => {
        opened += 1
        return { tools: [], call: async () => ({ ok: true, content: '' }) }
      }
      await run(script([say('b'), end()]), { actions, calls, sent: { config: { maxToolCalls: 0 } }, openToolbox })
      expect(opened).toBe(1)
    },
  )

  verifies(
    'contract-21.continued',
    'behind its first call a reply is not told again which tool to choose',
    async () => {
      const choiceOf = async (isFirstCall: boolean) => {
        const model = script([say('a'), end()])
        await run(model, { actions: { ...noActions, toolChoice: 'required' }, from: from({ isFirstCall }) })
        return model.requests[0]?.toolChoice
      }
      expect([await choiceOf(true), await choiceOf(false)]).toEqual(['required', undefined])
    },
  )

  verifies(
    'contract-21.continued',
    'an interrupted turn is no boundary, and is stored with the text before',
    async () => {
      const stored: string[] = []
      const keepTurn: GenerateOptions['keepTurn'] = async (n, { turn }) =>
        stored.push(`${n} ${turn.answer.content}`) > 0
      const steps: string[] = []
      const atBoundary = async () => {
        steps.push(`boundary behind ${stored.length}`)
        return false
      }
      const model = script([say('def'), ask('c'), end('tool_calls')], [say('g'), end()])
      await run(model, { from: from({ text: 'abc', turns: 1 }), keepTurn, atBoundary })
      expect([stored, steps]).toEqual([['2 abcdef'], ['boundary behind 1']])
      steps.length = 0
      await run(script([say('g'), end()]), { from: from({ turns: 1 }), atBoundary })
      expect(steps).toEqual(['boundary behind 1'])
    },
  )

  verifies(
    'contract-10.commit-first',
    'a turn that cannot be stored ends the reply before its calls are made',
    async () => {
      const made: string[] = []
      const call = async ({ id }: ToolCall) => {
        made.push(id)
        return { ok: true, content: '' }
      }
      const model = script([ask('c'), end('tool_calls')], [say('b'), end()])
      const { ending } = await run(model, { keepTurn: async () => false, toolbox: { call } })
      expect([ending.type, made, model.requests.length]).toEqual(['failed', [], 1])
    },
  )
})
