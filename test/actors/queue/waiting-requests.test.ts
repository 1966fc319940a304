/** What a request is told whose message waits where a drain ends (contract section 22). */
import { expect } from 'vitest'
import { createWaitingRequests } from '../../../src/actors/queue/waiting-requests.ts'
import { StreamCut } from '../../../src/actors/reply/frame-log.ts'
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
