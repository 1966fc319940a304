/** What a request is told whose message waits where a drain ends (contract section 22). */
import { expect } from 'vitest'
import { StreamCut } from '../../../src/actors/reply/frame-log.ts'
import { interruptQueue } from '../../../src/features/queue/send-queued.ts'
import { createWaitingRequests } from '../../../src/features/queue/waiting-requests.ts'
import { verifies } from '../../verifies.ts'

verifies('contract-22.drain', 'one that waits, or comes later, breaks off: its message is stored', async () => {
  const waiting = createWaitingRequests(async (of) => new Map([...of.keys()].map((id) => [id, 'waits'])))
  const { signal } = new AbortController()
  const before = waiting.wait('r', 's', signal)
  waiting.breakOff()
  for (const request of [before, waiting.wait('r', 's', signal)]) {
    const error: unknown = await request.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(StreamCut)
    expect(error).toMatchObject({ message: expect.stringMatching(/shutting down.*is stored/) })
  }
})

verifies('contract-22.drain', 'so does one that interrupts: it is not refused, since it is stored', async () => {
  const waiting = createWaitingRequests(async (of) => new Map([...of.keys()].map((id) => [id, 'waits'])))
  const store = { tend: async () => [], remove: async () => [] }
  const host = {
    options: { journal: { requestCancel: async () => null }, gate: { check: () => true }, maxRunning: 1 },
    registry: { running: () => 0 },
    admitting: new Map(),
    inTurn: (work: () => Promise<void>) => work(),
  }
  const queued = { outcome: 'queued' as const, replyId: 'r' }
  waiting.breakOff()
  // @ts-expect-error: of the host no more is looked at.
  expect(await interruptQueue({ host, waiting, options: { store }, next: null }, queued, 's')).toBe(queued)
})
