/** A reply's log, the rows that its frames are stored in, what its owner announces, and a place to follow it from. */
import { vi } from 'vitest'
import type { Exchange, Journal, Notice, ReplyInfo, StoredReply } from '../../../src/actors/ports/index.ts'
import type { Reply } from '../../../src/actors/reply/frame-log.ts'
import { createRemoteReplies } from '../../../src/actors/reply/remote-reply.ts'
import type { Outcome, StoredEvent } from '../../../src/actors/reply/reply-event.ts'
import { createReplyLog } from '../../../src/actors/reply/reply-log.ts'

export const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`
export const usage = { promptTokens: 1, completionTokens: 2, estimated: false }
export const outcomes: Outcome[] = [
  { type: 'finished', reason: 'stop', usage },
  { type: 'finished', reason: 'cancelled', usage },
  { type: 'failed', error: { code: 'provider_error', message: 'm', detail: 'd' }, usage },
]
export const waitLimitMs = 4000

export const turn = () => new Promise((resolve) => setImmediate(resolve))
/** A follower whose owner is silent asks the database every 250 ms; only its clock is ours. */
export const poll = async () => {
  await vi.advanceTimersByTimeAsync(250)
  await turn()
}
/** What the owner says, on its way to those who follow; the test delivers or loses it. */
function heldExchange() {
  const listeners = new Set<(notice: Notice) => void>()
  const onTheWay: Notice[] = []
  const state = { isLive: false, reads: 0, away: false }
  const exchange: Exchange = {
    wake() {},
    follow(_, onNotice) {
      listeners.add(onNotice)
      return {
        isLive: () => state.isLive,
        [Symbol.dispose]: () => void listeners.delete(onNotice),
      }
    },
    stored: (_, after, events) => void onTheWay.push({ after, events: structuredClone(events) }),
    ended: () => void onTheWay.push('ended'),
  }
  const say = async (notice: Notice | undefined) => {
    if (notice !== undefined) for (const onNotice of [...listeners]) onNotice(notice)
    await turn()
  }
  return { exchange, onTheWay, say, state, listeners }
}

/** A log and the table that its frames are stored in, as `Journal.read` gives it, and a place to follow it from. */
export function openScene(firstSeq = 1, includeUsage = false) {
  const info: ReplyInfo = {
    id: 'r',
    sessionId: 's',
    sessionNum: 1,
    firstSeq,
    model: 'm',
    createdAt: at(0),
    includeUsage,
    instanceId: 'i',
    epoch: 1,
  }
  const rows: StoredEvent[] = []
  let outcome: Outcome | null = null
  let deleted = false
  const waiting: (() => void)[] = []
  const append: Journal['append'] = (_, take) => {
    const events = take()
    return new Promise((resolve) =>
      waiting.push(() => {
        rows.push(...structuredClone(events))
        resolve('stored')
      }),
    )
  }
  const held = heldExchange()
  const log = createReplyLog(info, {
    append,
    withdraw() {},
    onStored: (after, events) => held.exchange.stored('r', after, events),
    onRefused() {},
  })
  const read = async (_: string, after: number, readTo = 0): Promise<StoredReply | null> => {
    held.state.reads += 1
    if (held.state.away) throw new Error('away')
    if (deleted) return null
    const isAfter = ({ seq, part }: StoredEvent) => seq > after || (seq === after && part > 0)
    const ends = outcome ? { endedAt: at(1), settledAt: at(2) } : { endedAt: null, settledAt: null }
    const unread = outcome ? rows : rows.slice(readTo)
    return { info, events: structuredClone(unread.filter(isAfter)), outcome, readTo: rows.length, ...ends }
  }
  const remote = createRemoteReplies({ read, exchange: held.exchange, waitLimitMs })
  return {
    ...held,
    log,
    remote,
    rows,
    async open(): Promise<Reply> {
      const reply = await remote.open('r')
      if (reply === null) throw new Error('deleted')
      return reply
    },
    async store() {
      waiting.shift()?.()
      await turn()
    },
    async settle(how: Outcome) {
      while (waiting.length > 0) await this.store()
      outcome = how
      log.close({ outcome: how, endedAt: at(1), settledAt: at(2) })
      held.exchange.ended('r')
    },
    remove() {
      deleted = true
      log.drop()
      held.exchange.ended('r')
    },
  }
}
