/** A reply that is taken over: while the database that tells of its agent is away, or not at all (contract section 21). */
import { expect } from 'vitest'
import { createContinuation } from '../../../src/features/continuation/continuation.ts'
import type { Claimed, Handovers } from '../../../src/features/continuation/handovers.ts'
import { memoryJournal } from '../../actors/memory-journal.ts'
import { openScene } from '../../actors/scene.ts'
import { verifies } from '../../verifies.ts'

const reply = {
  id: 'r',
  sessionId: 's',
  sessionNum: 1,
  firstSeq: 1,
  model: 'm',
  createdAt: '2026-01-01T00:00:00.000Z',
  includeUsage: false,
  instanceId: 'i',
  epoch: 1,
}
const claimed: Claimed = {
  reply,
  events: [],
  hasParent: false,
  reason: 'instance_lost',
  from: 'lost',
  cancelled: false,
  elapsedMs: 0,
  noted: { firstTokenMs: null, attempts: 0, turns: 0, tools: 0 },
  agentId: 'a',
  providerId: null,
  answeredId: null,
  hasParts: false,
  text: 'hi',
  historyEnd: -1,
  titleFrom: null,
  values: { user: null, metadata: {} },
  start: null,
  turns: [],
  continued: null,
}

/** The reply `r` is left. `offered`: the reasons of its offers. */
function handoversOf(offered: string[]): Handovers {
  const left = ['r']
  return {
    keepTurn: async () => true,
    offer: async (_, reason) => {
      offered.push(reason)
      return 'offered'
    },
    takeBack: async () => true,
    mayGoOn: async () => new Set(),
    isOwn: async () => true,
    left: async () => left.splice(0),
    claim: async () => claimed,
    setReady: async () => {},
  }
}

const basisOf = () => Promise.reject(new Error('gone'))

/** What becomes of it when its agent cannot be read. */
async function takenOver(isAway: boolean) {
  const offered: string[] = []
  const settled: string[] = []
  const handovers = handoversOf(offered)
  const { journal } = memoryJournal()
  const { inner } = openScene({
    journal: {
      ...journal,
      settle: async (_, { outcome, endedAt }) => {
        settled.push(outcome.type === 'failed' ? outcome.error.code : outcome.type)
        return { result: 'settled', settledAt: endedAt.toISOString() }
      },
    },
  })
  await createContinuation(inner, { handovers, agentOf: () => undefined, basisOf, isAway: () => isAway }).takeOver(true)
  return { offered, settled }
}

verifies(
  'contract-21.continued',
  'a database that is away ends no reply that is taken over: it is left again',
  async () => {
    expect(await takenOver(true)).toEqual({ offered: ['database'], settled: [] })
  },
)

verifies('contract-21.continued', 'one that its agent cannot go on with ends', async () => {
  expect(await takenOver(false)).toEqual({ offered: [], settled: ['provider_error'] })
})

verifies('contract-21.continued', 'an instance that drains claims nothing that it was still looking for', async () => {
  const asked = Promise.withResolvers<string[]>()
  const claims: string[] = []
  const handovers: Handovers = {
    ...handoversOf([]),
    left: () => asked.promise,
    claim: async (replyId) => {
      claims.push(replyId)
      return null
    },
  }
  const { host, inner } = openScene()
  const taking = createContinuation(inner, { handovers, agentOf: () => undefined, basisOf }).takeOver(false)
  await host.drain(0, 0)
  asked.resolve(['r'])
  await taking
  expect(claims).toEqual([])
})

verifies(
  'contract-35.late-writes',
  'a reply that a claim without an answer may take later is offered to others when it proves to be taken',
  async () => {
    const offered: string[] = []
    const handovers: Handovers = {
      ...handoversOf(offered),
      claim: () => Promise.reject(new Error('A try without an answer may take it still.')),
    }
    const { host, inner } = openScene({}, (one) => [
      createContinuation(one, { handovers, agentOf: () => undefined, basisOf }),
    ])
    await createContinuation(inner, { handovers, agentOf: () => undefined, basisOf }).takeOver(true)
    await host.owned.settleOrphan({ ...claimed.reply, offered: null })
    expect(offered).toEqual(['database'])
  },
)
