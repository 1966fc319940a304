/** The parts that turns of a generation share: its count of tokens, its models, its ids, and the text held back. */
import { describe, expect, test } from 'vitest'
import { createLeaseGate, withinLimits } from '../../../src/actors/generate/endings.ts'
import { createGeneration } from '../../../src/actors/generate/generate.ts'
import { heldEvents, holdsText } from '../../../src/actors/generate/held-text.ts'
import { recordMissing } from '../../../src/actors/generate/missing-tools.ts'
import { createModelAttribution } from '../../../src/actors/generate/models.ts'
import { createTally } from '../../../src/actors/generate/usage-tally.ts'
import { withUniqueIds } from '../../../src/actors/generate/waiting-ids.ts'
import type { ModelEvent } from '../../../src/actors/ports/index.ts'
import type { ReplyEvent } from '../../../src/actors/reply/reply-event.ts'
import { verifies } from '../../verifies.ts'
import { end, never, request, script } from './generation-scene.ts'

type Counted = Extract<ModelEvent, { type: 'end' }>

describe('tokens', () => {
  const turn = (end: Counted | null, text = '') => ({
    ...{ text, reasoning: '', counted: { promptTokens: 0, completionTokens: 0 }, end },
  })
  const reported = (cachedTokens?: number): Counted => ({
    ...{ type: 'end', reason: 'stop' },
    usage: { promptTokens: 10, completionTokens: 1, ...(cachedTokens !== undefined && { cachedTokens }) },
  })

  verifies(
    'contract-19.usage',
    'details are summed over the turns that report them, and absent where none does',
    async () => {
      const usageOf = async (...ends: Counted[]) => {
        const tally = createTally(request, script())
        for (const end of ends) {
          const one = turn(end)
          tally.begin([], one)
          tally.end(one)
        }
        return await tally.usage()
      }
      expect(await usageOf(reported(3), reported(), reported(4))).toEqual({
        ...{ promptTokens: 30, completionTokens: 3, cachedTokens: 7, estimated: false },
      })
      expect(await usageOf(reported())).not.toHaveProperty('cachedTokens')
    },
  )

  verifies(
    'contract-21.continued',
    'what the former owner used counts, and stays an estimate where it was one',
    async () => {
      const before = { promptTokens: 5, completionTokens: 6, cachedTokens: 2 }
      for (const estimated of [true, false]) {
        const tally = createTally(request, script(), { ...before, estimated })
        const one = turn(reported(1))
        tally.begin([], one)
        tally.end(one)
        const all = { promptTokens: 15, completionTokens: 7, cachedTokens: 3 }
        expect(await tally.usage()).toEqual({ ...all, estimated })
        const broken = turn(null, 'four')
        tally.begin([], broken)
        expect(await tally.usage()).toEqual({ ...all, promptTokens: 18, completionTokens: 11, estimated: true })
      }
    },
  )
})

describe('models', () => {
  const other = { model: 'other', providerId: 'q' }
  const named = (model: string, providerId: string) => [{ type: 'model', model, providerId }]

  verifies(
    'contract-13.fallback-names',
    'each turn begins with the first model, and readers are told of each change once',
    () => {
      const models = createModelAttribution(request)
      models.beginTurn()
      expect(models.changeEvents()).toEqual([])
      models.answers(other)
      expect(models.changeEvents()).toEqual(named('other', 'q'))
      expect(models.changeEvents()).toEqual([])
      models.beginTurn()
      expect(models.changeEvents()).toEqual(named('m', 'p'))
    },
  )

  verifies(
    'contract-21.continued',
    'readers of a reply that goes on know the model that they were told of last',
    () => {
      const models = createModelAttribution(request, { attempts: 4, model: other })
      models.beginTurn()
      expect(models.changeEvents()).toEqual(named('m', 'p'))
      expect(models.attempts()).toBe(4)
    },
  )

  test('a refusal counts until the call is made again, and the first token once', () => {
    const models = createModelAttribution(request)
    const tell = models.countingCalls(() => {})
    tell({ type: 'call_ended', status: 503 } as Parameters<typeof tell>[0])
    expect(models.refusedWith()).toBe(503)
    tell({ type: 'retried' } as Parameters<typeof tell>[0])
    expect(models.refusedWith()).toBeNull()
    tell({ type: 'first_token' })
    const first = models.firstTokenAt()
    while (performance.now() === first) {}
    tell({ type: 'first_token' })
    expect(models.firstTokenAt()).toBe(first)
  })
})

verifies('contract-35.one-call-id', 'an id of a call’s own is the same however the reply’s id is written', () => {
  const call = { id: 'c', name: 'look', arguments: '{}' }
  const of = (replyId: string) => withUniqueIds(replyId, [call, call], [true, false]).map(({ id }) => id)
  const [own, kept] = of('0198C0DE-0000-7000-8000-00000000000A')
  expect([own, kept]).toEqual([expect.stringMatching(/^call_0198c0de000070008[0-9a-f]{15}$/), 'c'])
  expect(of('0198c0de-0000-7000-8000-00000000000a')).toEqual([own, 'c'])
})

verifies(
  'contract-35.last-turn',
  'text is held where the answer must be JSON and tools are offered, unless turns are apart',
  () => {
    const json = { fields: { responseFormat: { type: 'json_object' } } } as const
    expect(holdsText(json, {}, [{}])).toBe(true)
    expect(holdsText(json, {}, [])).toBe(false)
    expect(holdsText(json, { turnsApart: true }, [{}])).toBe(false)
    expect(holdsText({ fields: {} }, {}, [{}])).toBe(false)
    expect(heldEvents('a', true, { reasoning: true })).toEqual([{ type: 'reasoning', text: 'a' }])
    expect(heldEvents('a', true, { reasoning: false })).toEqual([])
    expect(heldEvents('a', false, { reasoning: false })).toEqual([{ type: 'text', text: 'a' }])
  },
)

verifies(
  'contract-27.missing-prompt',
  'the model is told what is missing, and readers when nothing is any more',
  async () => {
    const missing = { servers: [], words: 'shop (away)', fails: false }
    const systemOf = async (system: string | null) => {
      const model = script([end()])
      const openToolbox = async () => ({ tools: [], call: async () => ({ ok: true, content: '' }), missing })
      const options = { replyId: 'r', model, openToolbox, timeoutMs: 60_000 }
      await createGeneration({ ...request, system }, options).run(never, () => undefined)
      return model.requests[0]?.system
    }
    expect([await systemOf('sys'), await systemOf(null)]).toEqual([
      'sys\n\nTools not available in this reply: shop (away).',
      'Tools not available in this reply: shop (away).',
    ])
    const told = async (from: { lacksTools: boolean } | undefined) => {
      const events: ReplyEvent[] = []
      const take = (more: readonly ReplyEvent[]) => void events.push(...more)
      await recordMissing({ models: createModelAttribution(request), from, take }, null)
      return events
    }
    expect(await told(undefined)).toEqual([])
    expect(await told({ lacksTools: false })).toEqual([])
    expect(await told({ lacksTools: true })).toEqual([{ type: 'model', model: 'm', providerId: 'p', missing: [] }])
  },
)

test('of two limits the first one ends the work, which then lets the lease go', async () => {
  let validUntil = Number.POSITIVE_INFINITY
  const gate = createLeaseGate(() => validUntil)
  let holders = 0
  const counting = {
    ...gate,
    hold(stop: () => void) {
      holders += 1
      const release = gate.hold(stop)
      return () => {
        holders -= 1
        release()
      }
    },
  }
  const ending = await withinLimits(
    never,
    { timeoutMs: 60_000, deadline: performance.now() + 60_000, gate: counting },
    async (limits) => {
      validUntil = 0
      gate.check()
      return limits.notStored()
    },
  )
  expect(ending).toMatchObject({ type: 'failed', error: { message: expect.stringContaining('lease') } })
  expect(holders).toBe(0)
})
