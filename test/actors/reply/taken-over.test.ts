/** A reply that another instance began, as it goes on here, and one that begins here (contract sections 13, 21 and 23). */
import { expect } from 'vitest'
import type { Resumption } from '../../../src/actors/generate/running.ts'
import { type ObservedReply, unobserved } from '../../../src/actors/ports/observer.ts'
import { openReply } from '../../../src/actors/reply/start-reply.ts'
import type { Host } from '../../../src/actors/session/host.ts'
import { verifies } from '../../verifies.ts'
import { message, openScene } from '../scene.ts'
import { info } from './reply-log-scene.ts'

const place = {
  ...{ info, agentId: 'a', text: 'hi', parts: [], parentId: null, historyEnd: -1, isRegenerated: false },
  ...{ isQueued: false, refusal: null, continued: null, titleFrom: null, values: { user: 'ann' } },
}
const from: Resumption = {
  ...{ said: [], spent: 0, calls: 0, turns: 0, text: '', isFirstCall: true, hasDecided: false, attempts: 0 },
  ...{ used: { promptTokens: 0, completionTokens: 0, estimated: false }, firstTokenMs: null, reasoningMs: null },
  ...{ lacksTools: false, model: null, beginAgain: async () => null, goOnBehind: (running, ask) => ask([], running) },
}

function opened(elapsedMs: number | null, more: object = {}) {
  const hosts: Host[] = []
  const began: ObservedReply[] = []
  const starts: unknown[] = []
  const observer = {
    begin(reply: ObservedReply) {
      began.push(reply)
      return unobserved
    },
  }
  const keepTurn = async (_info: unknown, _n: number, _turn: unknown, start: unknown) => {
    starts.push(start)
    return true
  }
  openScene({ observer, generationTimeoutMs: 60_000, capabilities: { keepTurn } }, (host) => {
    hosts.push(host)
    return []
  })
  const [host] = hosts
  if (host === undefined) throw new Error('no host')
  const adopted = {
    reason: 'instance_lost',
    from: 'i',
    elapsedMs: elapsedMs ?? 0,
    ...{ attempts: 0, turns: 0, tools: 0 },
  } as const
  const taken = elapsedMs === null ? null : { adopted, from, events: [] }
  return { reply: openReply(host, message().setup, { ...place, ...more }, taken), began, starts }
}

verifies('contract-21.continued', 'a reply that is taken over has what is left of its time, at least a little', () => {
  const timeOf = (elapsedMs: number | null) => opened(elapsedMs).reply.options.timeoutMs
  expect([timeOf(null), timeOf(20_000), timeOf(90_000)]).toEqual([60_000, 40_000, 1])
  const before = performance.now()
  expect(opened(20_000).reply.admittedAt).toBeLessThan(before - 19_000)
})

verifies('contract-21.continued', 'its client may send the same again, and joins it', () => {
  expect([opened(null).reply.requesterLost, opened(0).reply.requesterLost]).toEqual([false, true])
})

verifies('contract-21.stored', 'what its request asked for is stored with its first turn alone', async () => {
  const { reply, starts } = opened(null)
  const turn = { answer: { role: 'assistant', content: '' }, results: [], waiting: [] } as const
  const used = { promptTokens: 0, completionTokens: 0, estimated: false }
  for (const n of [1, 2]) await reply.options.keepTurn?.(n, { turn, spent: 0, used })
  expect(starts).toEqual([expect.objectContaining({ tools: [], fields: {} }), null])
})

verifies('contract-23.limits-use', 'use is counted for a user only where the user has limits', () => {
  const countsFor = (counts: object | undefined) => opened(null, { counts }).began[0]?.countsFor
  expect(countsFor(undefined)).toBeUndefined()
  expect(countsFor({ key: 'k' })).toEqual({ key: 'k', user: null })
  expect(countsFor({ user: true })).toEqual({ key: null, user: 'ann' })
})
