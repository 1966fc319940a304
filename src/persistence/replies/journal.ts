/**
 * The durable side of replies: one writer for the whole instance stores everything that gathered while its last
 * write was under way (group commit). A flush is one statement, fenced by this instance's epoch.
 */
import type { Journal } from '../../actors/ports.ts'
import type { StoredEvent } from '../../actors/reply-event.ts'
import { askAgain, isBadData, isCanceled, isUnavailable, type Sql } from '../postgres/database.ts'
import { admit } from './admission.ts'
import { createPace, leastPace } from './flush-pace.ts'
import { createFlushes, type FlushOptions } from './flushes.ts'
import { createFrameClearing } from './frame-clearing.ts'
import { readHistory } from './history.ts'
import { requestCancel } from './intents.ts'
import { readReply } from './read-reply.ts'
import { settle } from './settlement.ts'
import type { ReplyFrames } from './stored-reply.ts'

type Verdict = 'stored' | 'fenced' | 'refused'

interface Append extends ReplyFrames {
  resolve(verdict: Verdict): void
}

/** An append that waits for its turn. `events` is null where they are taken then. */
interface Waiting extends Omit<Append, 'events'> {
  events: readonly StoredEvent[] | null
  take(): readonly StoredEvent[]
}

export interface JournalOptions extends FlushOptions {
  /** Pool for everything but flushes. */
  sql: Sql
  log: { warn(details: object, message: string): void }
}

const FIRST_RETRY_MS = 20
const LONGEST_RETRY_MS = 500
/** Characters of one flush, about. Thousands of replies that hold 1 MiB each after an outage are no single statement. */
const MAX_FLUSH = 8 << 20

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export function createJournal(options: JournalOptions): Journal & { close(): Promise<void> } {
  const { sql, instance, log } = options
  const flushes = createFlushes(options)
  const clearing = createFrameClearing(sql, (err) => {
    log.warn({ err }, 'The frames of settled replies could not be cleared yet.')
  })
  const refused: Refused = new Map()
  let closed = false
  return {
    append: createQueue(createStore(options, flushes, refused, () => closed)),
    admit: (message) => admit(sql, { id: instance.id, epoch: instance.epoch() }, message, log),
    settle: settleAgain,
    read: (replyId, after) => readReply(sql, replyId, after),
    requestCancel: (sessionId) => requestCancel(sql, sessionId),
    // A reply that was accepted must not fail because one connection was cut.
    history: (sessionId, position, limits) =>
      askAgain(() => readHistory(sql, sessionId, position, limits), options.flushTimeoutMs),
    async close() {
      closed = true
      await clearing.close()
      await flushes.end()
    },
  }

  /** Settles, however long the database is away. */
  async function settleAgain(...[reply, settlement]: Parameters<Journal['settle']>): ReturnType<Journal['settle']> {
    for (let wait = FIRST_RETRY_MS; ; wait = Math.min(wait * 2, LONGEST_RETRY_MS)) {
      if (reply.epoch !== instance.epoch() || closed) {
        refused.delete(reply.id)
        return { result: 'fenced' }
      }
      try {
        const settled = await settle(sql, instance.id, reply, settlement, refused.get(reply.id))
        refused.delete(reply.id)
        if (settled.result === 'settled') clearing.later(reply.sessionNum)
        return settled
      } catch (error) {
        if (!isUnavailable(error)) throw error
        log.warn({ err: error, replyId: reply.id }, 'A settlement failed and is sent again.')
        await sleep(wait)
      }
    }
  }
}

/** Replies with a refused frame, and the id after it, since an earlier try may still store it. */
type Refused = Map<string, number>

function createStore(
  { instance, log }: JournalOptions,
  flushes: ReturnType<typeof createFlushes>,
  refused: Refused,
  isClosed: () => boolean,
) {
  return store

  /** Stores one batch of one epoch, however long the database is away; a batch with bad data reply by reply. */
  async function store(batch: readonly Append[], epoch: number, isRepeat = false): Promise<void> {
    let maybeStored = isRepeat // of a try whose answer was lost
    for (let wait = FIRST_RETRY_MS; ; wait = Math.min(wait * 2, LONGEST_RETRY_MS)) {
      // An epoch that this instance has given up can store nothing, and must not once it has a new one.
      if (epoch !== instance.epoch() || isClosed()) return resolveAll(batch, 'fenced')
      try {
        return resolveAll(batch, await flushes.store(batch, epoch, maybeStored))
      } catch (error) {
        if (isCanceled(error) && isDivisible(batch)) {
          log.warn({ err: error, replies: batch.length }, 'A flush took too long and is sent in two parts.')
          return await storeHalves(batch, epoch, maybeStored)
        }
        if (isUnavailable(error)) {
          log.warn({ err: error, replies: batch.length }, 'A flush failed and is sent again.')
          maybeStored = true
          await sleep(wait)
          continue
        }
        const [only] = batch
        if (only && batch.length === 1 && maybeStored) {
          const badData = isBadData(error)
          log.warn({ err: error, replyId: only.reply.id, badData }, 'A frame cannot be stored.')
          // No try can store bad data; after any other error one that hung may still do so.
          if (!badData) refused.set(only.reply.id, (only.events.at(-1)?.seq ?? 0) + 1)
          return resolveAll(batch, 'refused')
        }
        for (const one of batch) await store([one], epoch, true)
        return
      }
    }
  }

  /** For a batch that takes longer than the server's `statement_timeout`, which would end it again and again. */
  async function storeHalves(batch: readonly Append[], epoch: number, isRepeat: boolean): Promise<void> {
    const half = batch.length >> 1
    const [only] = batch
    if (half > 0 || only === undefined) {
      await store(batch.slice(0, half), epoch, isRepeat)
      return await store(batch.slice(half), epoch, isRepeat)
    }
    const middle = only.events.length >> 1
    const { promise, resolve } = Promise.withResolvers<Verdict>()
    await store([{ ...only, events: only.events.slice(0, middle), resolve }], epoch, isRepeat)
    const verdict = await promise
    if (verdict !== 'stored') return only.resolve(verdict)
    await store([{ ...only, events: only.events.slice(middle) }], epoch, isRepeat)
  }
}

/** Gathers appends while a write is under way; `store` gets all that gathered, of one epoch. */
function createQueue(store: (batch: readonly Append[], epoch: number) => Promise<void>): Journal['append'] {
  let queue: Waiting[] = []
  let writing = false
  let isAlone = true
  const pace = createPace()
  /** What goes along now: all that waits, or as much of it as one statement may hold. */
  function takeBatch(): Append[] {
    let size = 0
    let count = 0
    const batch: Append[] = []
    for (const { reply, events, take, resolve } of queue) {
      if (size >= MAX_FLUSH) break
      const taken = events ?? take()
      for (const { event } of taken) size += 'text' in event ? event.text.length : JSON.stringify(event).length
      batch.push({ reply, events: taken, resolve })
      count += 1
    }
    queue = queue.slice(count)
    return batch
  }

  async function writeAll(): Promise<void> {
    while (queue.length > 0) {
      const begin = performance.now()
      const batch = takeBatch()
      for (const [epoch, appends] of Map.groupBy(batch, ({ reply }) => reply.epoch)) await store(appends, epoch)
      pace.flushed(batch.length)
      isAlone = batch.length === 1
      const left = isAlone ? 0 : pace.ms() - (performance.now() - begin)
      if (left >= 1) await sleep(left)
    }
    writing = false
  }
  return (reply, take) =>
    new Promise((resolve) => {
      // With time to spare each text keeps a frame of its own; else all that comes until the write goes along.
      queue.push({ reply, events: pace.ms() > leastPace ? null : take(), take, resolve })
      if (writing) return
      writing = true
      // One reply alone waits for nothing. Else all that the network brings in this turn of the event loop comes along.
      if (isAlone) void writeAll()
      else setImmediate(() => void writeAll())
    })
}

function resolveAll(batch: readonly Append[], verdict: Verdict): void {
  for (const { resolve } of batch) resolve(verdict)
}

const isDivisible = (batch: readonly Append[]): boolean => batch.length > 1 || (batch[0]?.events.length ?? 0) > 1
