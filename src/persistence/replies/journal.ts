/**
 * The durable side of replies: one writer for the whole instance stores everything that gathered while its last
 * write was under way (group commit). A flush is one statement, fenced by this instance's epoch.
 */
import { v7 as uuidv7 } from 'uuid'
import type { Admission, Journal, NewMessage, ReplyInfo, Settlement } from '../../actors/ports.ts'
import type { Outcome, StoredEvent } from '../../actors/reply-event.ts'
import { askAgain, isBadData, isUnavailable, type Sql } from '../postgres/database.ts'
import { createPace, leastPace } from './flush-pace.ts'
import { createFlushes, type FlushOptions, type ReplyFrames } from './flushes.ts'
import { createFrameClearing, type FrameClearing } from './frame-clearing.ts'
import { readHistory, readReply, requestCancel } from './read-reply.ts'

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
/** A client waits for this answer: it is asked for again for about so long. */
const ADMIT_RETRY_MS = 1000

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export function createJournal(options: JournalOptions): Journal & { close(): Promise<void> } {
  const { sql, instance } = options
  const flushes = createFlushes(options)
  const clearing = createFrameClearing(sql, (err) => {
    options.log.warn({ err }, 'The frames of settled replies could not be cleared yet.')
  })
  let closed = false
  return {
    append: createQueue(store),
    admit: (message) => admit(sql, instance, message),
    settle: (reply, settlement) => settle(options, clearing, reply, settlement, () => closed),
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

  /** Stores one batch of one epoch, however long the database is away; a batch with bad data reply by reply. */
  async function store(batch: readonly Append[], epoch: number, isRepeat = false): Promise<void> {
    const { log } = options
    let maybeStored = isRepeat // of a try whose answer was lost
    for (let wait = FIRST_RETRY_MS; ; wait = Math.min(wait * 2, LONGEST_RETRY_MS)) {
      // An epoch that this instance has given up can store nothing, and must not once it has a new one.
      if (epoch !== instance.epoch() || closed) return settleAll(batch, 'fenced')
      try {
        return settleAll(batch, await flushes.store(batch, epoch, maybeStored))
      } catch (error) {
        if (isUnavailable(error)) {
          log.warn({ err: error, replies: batch.length }, 'A flush failed and is sent again.')
          maybeStored = true
          await sleep(wait)
          continue
        }
        if (batch.length === 1 && maybeStored) {
          log.warn({ err: error, replyId: batch[0]?.reply.id, badData: isBadData(error) }, 'A frame cannot be stored.')
          return settleAll(batch, 'refused')
        }
        for (const one of batch) await store([one], epoch, true)
        return
      }
    }
  }
}

/** Gathers appends while a write is under way; `store` gets all that gathered, of one epoch. */
function createQueue(store: (batch: readonly Append[], epoch: number) => Promise<void>): Journal['append'] {
  let queue: Waiting[] = []
  let writing = false
  let isAlone = true
  const pace = createPace()
  async function writeAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.map(({ reply, events, take, resolve }) => ({ reply, events: events ?? take(), resolve }))
      const begin = performance.now()
      queue = []
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

function settleAll(batch: readonly Append[], verdict: Verdict): void {
  for (const { resolve } of batch) resolve(verdict)
}

interface AdmitRow {
  outcome: Admission['outcome']
  reply_id: string
  session_num: number
  first_seq: number
  created_at: Date
  reply_position: number
  rest_state: 'idle' | 'complete' | 'error' | 'cancelled'
  untitled: boolean
}

/** A commit whose answer was lost is asked for again by its id: `admit_message` is idempotent by the reply's. */
async function admit(sql: Sql, instance: JournalOptions['instance'], message: NewMessage): Promise<Admission> {
  const { replyId } = message
  const userId = uuidv7()
  const epoch = instance.epoch()
  const call = () => sql<AdmitRow[]>`
    select * from admit_message(
      ${instance.id}, ${epoch}, ${message.agentId}, ${message.sessionId}, ${userId}, ${replyId}, ${message.text},
      ${message.model}, ${message.includeUsage}, ${message.idempotency?.key ?? null},
      ${message.idempotency?.bodyHash ?? null}, ${message.isRetry}, ${message.mayStart},
      ${message.configuration})`
  const [row] = await askAgain(call, ADMIT_RETRY_MS)
  if (row === undefined) throw new Error('admit_message returned no row')
  if (row.outcome === 'joined') return { outcome: 'joined', replyId: row.reply_id }
  if (row.outcome !== 'admitted') return { outcome: row.outcome }
  return {
    outcome: 'admitted',
    position: row.reply_position,
    restState: row.rest_state,
    untitled: row.untitled,
    reply: {
      id: replyId,
      sessionId: message.sessionId,
      sessionNum: row.session_num,
      firstSeq: row.first_seq,
      model: message.model,
      createdAt: row.created_at.toISOString(),
      includeUsage: message.includeUsage,
      instanceId: instance.id,
      epoch,
    },
  }
}

/** The stored finish reason: `error` for every failure. */
const finishOf = (outcome: Outcome): string => (outcome.type === 'failed' ? 'error' : outcome.reason)

const unknown = { content: null, ends: null, tools: null }

/** A reply as its message keeps it: the text, where its frames end in it (UTF-8 bytes), and its tools' events. */
function folded(events: readonly StoredEvent[]) {
  const texts: string[] = []
  const ends: number[] = []
  let end = 0
  for (const { event } of events) {
    if (event.type !== 'text') continue
    end += Buffer.byteLength(event.text)
    texts.push(event.text)
    ends.push(end)
  }
  const tools = events.filter(({ event }) => event.type !== 'text')
  return { content: texts.join(''), ends, tools: tools.length > 0 ? JSON.stringify(tools) : null }
}

async function settle(
  { sql, instance, log }: JournalOptions,
  clearing: FrameClearing,
  reply: ReplyInfo,
  { outcome, events, endedAt, requesterLost, title }: Settlement,
  closed: () => boolean,
): ReturnType<Journal['settle']> {
  const error = outcome.type === 'failed' ? outcome.error : null
  const { promptTokens, completionTokens, estimated } = outcome.usage
  const { content, ends, tools } = events === null ? unknown : folded(events)
  for (let wait = FIRST_RETRY_MS; ; wait = Math.min(wait * 2, LONGEST_RETRY_MS)) {
    if (reply.epoch !== instance.epoch() || closed()) return { result: 'fenced' }
    try {
      const [row] = await sql<{ outcome: 'settled' | 'fenced' | 'gone'; settled_at: Date | null }[]>`
        select * from settle_reply(
          ${instance.id}, ${reply.epoch}, ${reply.id}, ${finishOf(outcome)}, ${error?.code ?? null},
          ${error?.message ?? null}, ${error?.detail ?? null}, ${promptTokens}, ${completionTokens}, ${estimated},
          ${endedAt}, ${requesterLost}, ${title}, ${content}, ${ends}::integer[], ${tools}::text::jsonb, true)`
      if (row?.outcome === 'settled' && row.settled_at) {
        clearing.later(reply.sessionNum)
        return { result: 'settled', settledAt: row.settled_at.toISOString() }
      }
      return { result: row?.outcome === 'fenced' ? 'fenced' : 'gone' }
    } catch (failure) {
      if (!isUnavailable(failure)) throw failure
      log.warn({ err: failure, replyId: reply.id }, 'A settlement failed and is sent again.')
      await sleep(wait)
    }
  }
}
