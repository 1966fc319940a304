/** What ends a summary that no reply waits for, whenever it comes (contract section 19). */
import { expect } from 'vitest'
import { historyLimits } from '../../../src/actors/history/history.ts'
import type { HistoryLimits, Intent, Journal } from '../../../src/actors/ports/index.ts'
import { newId } from '../../../src/actors/reply/new-id.ts'
import { createCompactions } from '../../../src/features/compaction/compact-session.ts'
import type { HeldSession, Holds, Summaries } from '../../../src/features/compaction/store/checkpoints.ts'
import { script } from '../../actors/generate/generation-scene.ts'
import { memoryJournal } from '../../actors/memory-journal.ts'
import { end, message, openScene, say } from '../../actors/scene.ts'
import { turn } from '../../actors/turn.ts'
import { verifies } from '../../verifies.ts'

const history: Journal['history'] = async () => ({
  messages: [
    { position: 0, role: 'user', content: 'Hello' },
    { position: 1, role: 'assistant', content: 'Good day' },
  ],
  isWhole: true,
  checkpoint: null,
  before: null,
})

const holdsOf = (hold: Holds['hold']): Holds & Summaries => ({
  hold,
  release: async () => null,
  releaseLate: async () => [],
  keepCheckpoint: async () => 'stored',
})

/** A summary that somebody asks for, of a session that is held once `held` is called. `hold`: what it is held by. */
async function compacting() {
  const holding = Promise.withResolvers<string>()
  const answer = Promise.withResolvers<HeldSession>()
  const { host, inner, calls } = openScene({
    journal: {
      ...memoryJournal().journal,
      history,
    },
  })
  const { agentId, sessionId } = message().message
  const { agentName, request, openToolbox, origin } = message().setup
  const values = { user: null, metadata: {}, sessionId, at: '2026-01-01T00:00:00.000Z' }
  const holds = holdsOf(({ hold }) => {
    holding.resolve(hold)
    return answer.promise
  })
  const compacted = createCompactions(inner, holds).compact({
    id: newId(),
    inPlaces: (begin, work) => work(begin()),
    agentId,
    agentName,
    sessionId,
    request,
    appended: null,
    values,
    openToolbox,
    origin,
  })
  return {
    compacted,
    calls,
    hold: await holding.promise,
    held: () => answer.resolve({ rest: 'complete', historyEnd: 1 }),
    apply: (kind: Intent['kind'], replyId: string) => host.owned.apply({ kind, sessionId, replyId }),
  }
}

const ends = {
  cancel: { outcome: 'failed', message: 'The compaction was cancelled.' },
  delete: { outcome: 'deleted' },
} as const

for (const kind of ['cancel', 'delete'] as const) {
  verifies(
    ['contract-19.compact', 'contract-19.compaction-stops'],
    `a ${kind} that comes before it is known that the session is held ends it, and no model is asked`,
    async () => {
      const { compacted, calls, hold, held, apply } = await compacting()
      apply(kind, hold)
      held()
      expect(await compacted).toEqual(ends[kind])
      expect(calls).toEqual([])
    },
  )
}

verifies(
  ['contract-19.compaction-stops', 'contract-26.made-again'],
  'it is ended with its own session, and not by what was told late of one that had the same id before',
  async () => {
    const [first, second] = [await compacting(), await compacting()]
    for (const { held, calls } of [first, second]) {
      held()
      while (calls.length === 0) await turn()
    }
    first.apply('delete', 'a reply of the former session')
    await first.calls[0]?.say(say('They met.'), end)
    expect(await first.compacted).toEqual({ outcome: 'compacted', id: first.hold })
    second.apply('delete', second.hold)
    expect(await second.compacted).toEqual({ outcome: 'deleted' })
    expect(second.calls[0]?.aborted).toBe(true)
  },
)

verifies(
  'contract-19.compact',
  'the agent’s own limit of tokens bounds what is read, and the model gets its prompt filled in',
  async () => {
    const read: HistoryLimits[] = []
    const model = script([say('They met.'), end])
    const { inner } = openScene({
      model,
      journal: {
        ...memoryJournal().journal,
        history: (sessionId, to, limits) => {
          read.push(limits)
          return history(sessionId, to, limits)
        },
      },
    })
    const { agentId, sessionId } = message().message
    const { agentName, request, openToolbox, origin } = message().setup
    await createCompactions(
      inner,
      holdsOf(async () => ({ rest: 'complete', historyEnd: 1 })),
    ).compact({
      id: newId(),
      inPlaces: (begin, work) => work(begin()),
      agentId,
      agentName,
      sessionId,
      request: { ...request, system: 'Speak with {{session.user}}.', historyMaxTokens: 7 },
      appended: null,
      values: { user: 'ann', metadata: {}, sessionId, at: '2026-01-01T00:00:00.000Z' },
      openToolbox,
      origin,
    })
    expect(read).toEqual([historyLimits(7)])
    expect(JSON.stringify(model.requests[0])).toContain('Speak with ann.')
  },
)
