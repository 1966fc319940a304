/**
 * The durable side of replies: one writer for the whole instance stores everything that gathered while its last
 * write was under way (group commit). A flush is one statement, fenced by this instance's epoch.
 */

import type { Journal, ReplyInfo, Settled, Settlement } from '../../../actors/ports/index.ts'
import { retry } from '../../../async/retry.ts'
import { askAgain, isBadData, isCanceled, isUnavailable, type Sql } from '../../postgres/database.ts'
import { createGroup } from '../../postgres/group-commit.ts'
import { createAdmissions } from '../admission/admission.ts'
import type { Contributions } from '../contributions.ts'
import { readHistory } from '../reading/history.ts'
import { readParts } from '../reading/part-rows.ts'
import { readReply } from '../reading/read-reply.ts'
import type { StorageLimits } from '../sessions/storage-limits.ts'
import { requestCancel } from '../settling/intents.ts'
import { type GroupedSettlement, settle, settlementRow, settleTogether } from '../settling/settlement.ts'
import { type Append, createFlushQueue, type FlushQueue, type Verdict } from './flush-queue.ts'
import { createFlushes, type FlushOptions } from './flushes.ts'
import { createFrameRuns, type FrameRuns } from './frame-runs.ts'

export interface JournalOptions extends FlushOptions {
  /** Pool for everything but flushes. */
  sql: Sql
  contributions: Contributions
  /** The limits of sessions. When absent, they may hold any number of bytes. */
  limits?: StorageLimits
  log: { warn(details: object, message: string): void }
}

const backOff = { firstMs: 20, longestMs: 500 }

/** The journal without what a capability stores by statements of its own. */
export interface ReplyJournal extends Omit<Journal, 'isHeld'> {
  close(): Promise<void>
}

export function createJournal(options: JournalOptions): ReplyJournal {
  const { sql, instance, contributions, limits, log } = options
  const flushes = createFlushes(options)
  const runs = createFrameRuns({
    sql,
    instanceId: instance.id,
    onError: (err) => log.warn({ err }, 'Flushes could not be moved or deleted yet.'),
  })
  const refused: Refused = new Map()
  let closed = false
  const queue = createFlushQueue((batch, epoch) => store(batch, epoch))
  const settleInGroup = createGroup<GroupedSettlement, Settled>({
    together: (items) => settleTogether(sql, instance.id, items),
    alone: ({ reply, settlement }) => settleAgain(reply, settlement),
  })
  const settling = { sql, instanceId: instance.id, contributions: contributions.settlement }
  const store = createStore(options, { flushes, runs, refused, again: queue.again, isClosed: () => closed })
  return {
    append: queue.append,
    withdraw: queue.withdraw,
    admit: createAdmissions({ sql, instance, log, limits, contributions: contributions.admission }),
    settle: settleAndClear,
    read: (replyId, after, readTo) => readReply(sql, replyId, after, readTo),
    requestCancel: (sessionId, which) => requestCancel(sql, sessionId, which),
    epoch: instance.epoch,
    // A reply that was accepted must not fail because one connection was cut.
    history: (sessionId, position, limits) =>
      askAgain(() => readHistory(sql, sessionId, position, limits), options.flushTimeoutMs),
    parts: (messageId) => askAgain(() => readParts(sql, messageId), options.flushTimeoutMs),
    async close() {
      closed = true
      await runs.close()
      await flushes.end()
    },
  }

  async function settleAndClear(...[reply, settlement]: Parameters<Journal['settle']>): Promise<Settled> {
    // What is not known here, or is another epoch's, goes alone.
    const isCurrent = reply.epoch === instance.epoch() && !closed
    const row = isCurrent ? settlementRow(settling, reply, settlement, refused.get(reply.id)) : null
    const settled = await (row === null
      ? settleAgain(reply, settlement)
      : settleInGroup({ reply, settlement, lane: reply.sessionId, row }))
    refused.delete(reply.id)
    runs.ended(reply.sessionNum)
    return settled
  }

  /** Settles, however long the database is away. */
  async function settleAgain(reply: ReplyInfo, settlement: Settlement): Promise<Settled> {
    const tryOnce = async (): Promise<Settled> => {
      if (reply.epoch !== instance.epoch() || closed) return { result: 'fenced' }
      return await settle(settling, reply, settlement, refused.get(reply.id))
    }
    const mayPass = (error: unknown) => {
      if (!isUnavailable(error)) return false
      log.warn({ err: error, replyId: reply.id }, 'A settlement failed and is sent again.')
      return true
    }
    return await retry(tryOnce, { ...backOff, mayPass })
  }
}

/** Replies with a refused frame, and the id after it, since an earlier try may still store it. */
type Refused = Map<string, number>

interface StoreParts {
  flushes: ReturnType<typeof createFlushes>
  runs: FrameRuns
  refused: Refused
  again: FlushQueue['again']
  isClosed(): boolean
}

function createStore(
  { instance, flushTimeoutMs, log }: JournalOptions,
  { flushes, runs, refused, again, isClosed }: StoreParts,
) {
  let num = 0
  return store

  /** Stores one batch of one epoch, however long the database is away; a batch with bad data reply by reply. */
  async function store(batch: readonly Append[], epoch: number, isRepeat = false): Promise<void> {
    num += 1
    const flush = { num, epoch }
    let maybeStored = isRepeat || batch.some((one) => one.maybeStored) // by a try whose answer was lost
    let begin = 0
    const tryOnce = async () => {
      // An epoch that this instance has given up can store nothing, and must not once it has a new one.
      if (epoch !== instance.epoch() || isClosed()) return resolveAll(batch, 'fenced')
      begin = performance.now()
      const verdict = await flushes.store(batch, { ...flush, maybeStored })
      if (verdict === 'stored') runs.stored(epoch, flush.num)
      resolveAll(batch, verdict)
    }
    const mayPass = (error: unknown) => {
      if (isCanceled(error) || !isUnavailable(error)) return false
      log.warn({ err: error, replies: batch.length }, 'A flush failed and is sent again.')
      maybeStored = true
      return true
    }
    try {
      await retry(tryOnce, { ...backOff, mayPass })
    } catch (error) {
      if (isCanceled(error)) {
        log.warn({ err: error, replies: batch.length }, 'A flush took too long and is sent in parts, or later.')
        return await storeParts(batch, epoch, { begin, maybeStored })
      }
      const [only] = batch
      if (only && batch.length === 1 && maybeStored) return refuse(only, error)
      for (const one of batch) await store([one], epoch, true)
    }
  }

  /** Divides a batch that takes longer than the server's `statement_timeout`, which would end it again and again. */
  async function storeParts(
    batch: readonly Append[],
    epoch: number,
    { begin, maybeStored }: { begin: number; maybeStored: boolean },
  ): Promise<void> {
    const half = batch.length >> 1
    const [only] = batch
    if (half > 0 || only === undefined) {
      await store(batch.slice(0, half), epoch, maybeStored)
      return await store(batch.slice(half), epoch, maybeStored)
    }
    const middle = only.events.length >> 1
    if (middle > 0) {
      const rest = { ...only, events: only.events.slice(middle), maybeStored }
      const resolve = (verdict: Verdict) => (verdict === 'stored' ? again(rest, 0) : only.resolve(verdict))
      return await store([{ ...only, events: only.events.slice(0, middle), resolve }], epoch, maybeStored)
    }
    // One frame. It may be to blame, or the database slow for all: it gets a lease, the others every other turn.
    const { canceledAt = begin } = only
    const now = performance.now()
    if (now - canceledAt < flushTimeoutMs) again({ ...only, maybeStored, canceledAt }, now - begin)
    else refuse(only, new Error('It takes longer than statement_timeout allows.'))
  }

  function refuse({ reply, events, resolve }: Append, error: unknown): void {
    const badData = isBadData(error)
    log.warn({ err: error, replyId: reply.id, badData }, 'A frame cannot be stored.')
    // No try can store bad data; after any other error one that hung may still do so.
    if (!badData) refused.set(reply.id, (events.at(-1)?.seq ?? 0) + 1)
    resolve('refused')
  }
}

function resolveAll(batch: readonly Append[], verdict: Verdict): void {
  for (const { resolve } of batch) resolve(verdict)
}
