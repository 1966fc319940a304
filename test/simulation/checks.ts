/** What ARCHITECTURE.md promises, looked at the moment that it could break. */
import type { ReplyInfo } from '../../src/actors/ports/index.ts'
import { type Frame, type StoredEvent, storedEventOf } from '../../src/actors/reply/reply-event.ts'
import type { SimulatedLeases } from './simulated-leases.ts'
import { type Complain, idOf, type Row, type SimulatedReplies } from './simulated-replies.ts'

const hasEvent = (row: Row, event: StoredEvent): boolean => {
  const stored = row.events.find((one) => idOf(one) === idOf(event))
  return stored !== undefined && JSON.stringify(stored.event) === JSON.stringify(event.event)
}

export function createChecks({ replies }: SimulatedReplies, leases: SimulatedLeases, complain: Complain) {
  const made = new Set<string>()
  /** Others have taken over what this reply's owner had. */
  const isTakenOver = ({ info, isDeleted }: Row) =>
    !isDeleted && !leases.holds({ id: info.instanceId, epoch: info.epoch })

  return {
    /** A model or a tool is asked only by who owns the reply: others have not ended it. */
    modelTurn(asked: string): void {
      const row = [...replies.values()].findLast(({ text }) => text === asked)
      if (row && isTakenOver(row)) complain('A model was asked by an instance that was declared lost.')
    },
    /** Nothing acts before it is stored, nor twice, nor for a reply that others have ended. */
    toolCall(id: string, key: string): void {
      if (made.has(key)) complain('A call was made twice.')
      made.add(key)
      const row = replies.get(key.split(':')[0] ?? '')
      const isStored = row?.events.some(({ event }) => event.type === 'tool_call' && event.id === id)
      if (!isStored && !row?.isDeleted) complain('A call was made before it was stored.')
      // A call that waited is made by the reply that continues its own.
      if (row && !row.isDecided && isTakenOver(row)) complain('A call was made by an instance that was declared lost.')
    },
    /** Where nothing has failed, a cancel is heard within 2 s. */
    cancels(): void {
      for (const { cancelledAt, settledAt, isDeleted } of replies.values()) {
        if (cancelledAt === null || settledAt === null || isDeleted) continue
        if (Date.parse(settledAt) - cancelledAt > 2000) complain('A cancel was not heard.')
      }
    },
    /** Each stream: what is stored, all of it, in order, with one end. */
    reader({ id }: ReplyInfo, after: number) {
      let last: StoredEvent | null = null
      let ends = 0
      const see = (row: Row, frame: Frame) => {
        const stored = storedEventOf(frame)
        if (stored !== null) {
          if (!row.isDeleted && !hasEvent(row, stored)) complain('A reader saw what was not stored.')
          const isNext =
            last === null || stored.seq === last.seq + 1 || (stored.seq === last.seq && stored.part === last.part + 1)
          if (!isNext) complain('A reader missed something, or saw it twice.')
          if (ends > 0) complain('A reader saw something behind the end.')
          last = stored
        }
        if (frame.type !== 'finished' && frame.type !== 'failed') return
        ends += 1
        if (ends > 1) complain('A reader saw two ends.')
        if (frame.type === 'failed' && frame.error.code === 'session_deleted') {
          if (!row.isDeleted) complain('A reader was told of a deletion that was none.')
        } else if (row.outcome === null && !row.isDeleted) complain('An end was shown that was not stored.')
        else if (row.outcome && row.outcome.type !== frame.type) complain('Another end was shown than was stored.')
      }
      return {
        take(frames: readonly Frame[]): void {
          const row = replies.get(id)
          if (row === undefined) complain('A reply is shown that is not stored.')
          else for (const frame of frames) see(row, frame)
        },
        /** The stream has ended in order. */
        ended(): void {
          const row = replies.get(id)
          if (ends !== 1) complain('A stream ended without an end.')
          const newest = row?.events.at(-1)
          const isWhole = newest === undefined || newest.seq <= after || (last !== null && idOf(last) === idOf(newest))
          if (!row?.isDeleted && !isWhole) complain('A stream ended before all was shown.')
        },
      }
    },
  }
}

export type Checks = ReturnType<typeof createChecks>
