/** A session host on ports that the test holds in its hand: a journal in memory, a model that says what it is told. */
import type { Reply } from '../../src/actors/frame-log.ts'
import type {
  Admission,
  Journal,
  Model,
  ModelEvent,
  ReplyInfo,
  StoredReply,
  TransitionRecord,
} from '../../src/actors/ports.ts'
import { createRemoteReplies } from '../../src/actors/remote-reply.ts'
import { type Frame, kindOf, type RestState, restStateOf, type StoredEvent } from '../../src/actors/reply-event.ts'
import { createSessionHost, type HostOptions, type Message, type Sent } from '../../src/actors/session-host.ts'
import { createTransitionRecorder } from '../../src/actors/transitions.ts'
import { noExchange } from '../../src/coordination/local.ts'
import { told } from '../support/model-stream.ts'
import { into } from '../support/take.ts'

/** Lets every promise that can go on do so. */
export const turn = () => new Promise((resolve) => setImmediate(resolve))

export const end: ModelEvent = { type: 'end', reason: 'stop', usage: { promptTokens: 1, completionTokens: 1 } }
export const say = (text: string): ModelEvent => ({ type: 'text', text })
export const fail: ModelEvent = {
  ...{ type: 'failed', failure: { code: 'provider_error', message: 'm', detail: 'd' } },
}

export interface ModelCall {
  readonly aborted: boolean
  say(...events: ModelEvent[]): Promise<void>
}

/** Each call of the model, in order; it says nothing until the test does. */
export function heldModel() {
  const calls: ModelCall[] = []
  const model: Model = {
    countTokens: async (texts) => texts.map(({ length }) => length),
    stream: told(async function* (_, signal) {
      const queue: ModelEvent[] = []
      let wake = () => {}
      signal.addEventListener('abort', () => wake())
      calls.push({
        get aborted() {
          return signal.aborted
        },
        async say(...events) {
          queue.push(...events)
          wake()
          await turn()
        },
      })
      while (!signal.aborted) {
        const event = queue.shift()
        if (event) yield event
        else await new Promise<void>((resolve) => (wake = resolve))
        if (event?.type === 'end' || event?.type === 'failed') return
      }
    }),
  }
  return { model, calls }
}

/** Where the journal waits while the test holds it: before the effect, or between the effect and its answer. */
export type Gate = 'admitted' | 'append' | 'settle' | 'settled' | 'cancel'

interface Row extends StoredReply {
  events: StoredEvent[]
  requesterLost: boolean
}

function memoryJournal() {
  const sessions = new Map<string, { num: number; nextSeq: number; rows: Row[] }>()
  const byId = new Map<string, Row>()
  const gates = new Map<Gate, (() => void)[]>()
  const control = { epoch: 1, append: 'stored' as 'stored' | 'refused' }
  const pass = (gate: Gate) =>
    new Promise<void>((resolve) => {
      const waiting = gates.get(gate)
      if (waiting) waiting.push(resolve)
      else resolve()
    })
  const running = (sessionId: string) => sessions.get(sessionId)?.rows.find(({ outcome }) => outcome === null)

  function admitNow({
    replyId,
    sessionId,
    model,
    includeUsage,
    mayStart,
    isRetry,
  }: Parameters<Journal['admit']>[0]): Admission {
    const session = sessions.get(sessionId) ?? { num: sessions.size + 1, nextSeq: 1, rows: [] }
    sessions.set(sessionId, session)
    const newest = session.rows.at(-1)
    if (newest && isRetry) return { outcome: 'joined', replyId: newest.info.id }
    if (newest?.outcome === null) return { outcome: 'busy' }
    if (!mayStart) return { outcome: 'refused' }
    const restState: RestState = newest?.outcome ? restStateOf(newest.outcome) : 'idle'
    const reply: ReplyInfo = {
      ...{
        id: replyId,
        sessionId,
        sessionNum: session.num,
        firstSeq: session.nextSeq,
        model,
        includeUsage,
      },
      ...{ createdAt: new Date().toISOString(), instanceId: 'i', epoch: control.epoch },
    }
    const row: Row = { info: reply, events: [], outcome: null, endedAt: null, settledAt: null, requesterLost: false }
    session.rows.push(row)
    byId.set(reply.id, row)
    return { outcome: 'admitted', reply, position: 2 * session.rows.length - 1, restState, untitled: false }
  }

  const journal: Journal = {
    async admit(message) {
      const admission = admitNow(message)
      await pass('admitted')
      return admission
    },
    async append({ id, epoch }, take) {
      const events = take()
      await pass('append')
      if (epoch !== control.epoch) return 'fenced'
      if (control.append === 'stored') byId.get(id)?.events.push(...structuredClone(events))
      return control.append
    },
    async settle({ id, epoch }, { outcome, events, endedAt, requesterLost }) {
      await pass('settle')
      const row = byId.get(id)
      if (epoch !== control.epoch) return { result: 'fenced' }
      if (!row) return { result: 'gone' }
      const settledAt = new Date().toISOString()
      if (row.outcome === null) {
        Object.assign(row, { outcome, endedAt: endedAt.toISOString(), settledAt, requesterLost })
        if (events !== null) row.events = structuredClone([...events])
        const session = sessions.get(row.info.sessionId)
        if (session) session.nextSeq = (row.events.at(-1)?.seq ?? row.info.firstSeq) + 3
      }
      await pass('settled')
      return { result: 'settled', settledAt }
    },
    async read(replyId, after) {
      const row = byId.get(replyId)
      const isAfter = ({ seq, part }: StoredEvent) => seq > after || (seq === after && part > 0)
      return row ? { ...row, events: row.events.filter(isAfter) } : null
    },
    async requestCancel(sessionId) {
      await pass('cancel')
      const info = running(sessionId)?.info
      return info ? { replyId: info.id, instanceId: info.instanceId } : null
    },
    history: async () => [],
  }
  return {
    journal,
    /** Of the session's replies, oldest first. */
    rows: (sessionId = 's') => sessions.get(sessionId)?.rows ?? [],
    /** Others declare this instance lost: its replies are settled, it has a new epoch. The one that is lost. */
    fence(): number {
      const error = { code: 'instance_lost', message: 'm', detail: 'd' } as const
      for (const row of byId.values()) {
        if (row.outcome !== null) continue
        const [endedAt, usage] = [new Date().toISOString(), { promptTokens: 0, completionTokens: 0, estimated: true }]
        Object.assign(row, { outcome: { type: 'failed', error, usage }, endedAt, settledAt: endedAt })
      }
      control.epoch += 1
      return control.epoch - 1
    },
    refuseAppends() {
      control.append = 'refused'
    },
    remove(sessionId: string) {
      for (const { info } of sessions.get(sessionId)?.rows ?? []) byId.delete(info.id)
      sessions.delete(sessionId)
    },
    hold: (gate: Gate) => void gates.set(gate, gates.get(gate) ?? []),
    async release(gate: Gate) {
      const waiting = gates.get(gate) ?? []
      gates.delete(gate)
      for (const resolve of waiting) resolve()
      await turn()
    },
  }
}

export const message = (sessionId = 's', more: Partial<Message> = {}): Message => ({
  ...{
    agentId: 'a',
    agentName: 'A',
    origin: null,
    sessionId,
    text: 'hi',
    model: 'm',
    includeUsage: false,
    idempotency: null,
    isRetry: false,
    configuration: null,
  },
  request: { provider: { id: 'p', type: 'demo', baseUrl: null, apiKey: null }, model: 'm', system: null, config: {} },
  openToolbox: async () => ({ tools: [], call: async () => ({ ok: false, content: '' }) }),
  onBusy: 'reject',
  ...more,
})

export function openScene(options: Partial<HostOptions> = {}) {
  const { model, calls } = heldModel()
  const store = memoryJournal()
  const steps: TransitionRecord[] = []
  const errors: unknown[] = []
  const record = async (batch: readonly TransitionRecord[]) => void steps.push(...batch)
  const recorder = createTransitionRecorder({ record }, (error) => errors.push(error))
  const host = createSessionHost({
    ...{ journal: store.journal, model, recorder, maxRunning: 10, historyMaxTokens: 100, generationTimeoutMs: 60_000 },
    ...{ exchange: noExchange, leaseMs: 1000, log: { error: (details) => errors.push(details), warn() {}, info() {} } },
    ...options,
  })
  return {
    ...{ host, calls, store, errors },
    /** `from event to`, of all sessions or of one message. */
    steps: async (messageId?: string) => {
      await recorder.flush()
      const wanted = steps.filter((one) => messageId === undefined || one.messageId === messageId)
      return wanted.map(({ from, event, to }) => `${from} ${event} ${to}`)
    },
    running: () => host.registry.running(),
    live: (sessionId = 's') => host.registry.live.get(sessionId),
    /** Sends a message that must start a reply, and reads that from its beginning. */
    async start(sessionId = 's', more: Partial<Message> = {}) {
      const sent = started(await host.send(message(sessionId, more)))
      await turn()
      return { ...sent, ...follow(sent.reply) }
    },
  }
}

export function started(sent: Sent): Extract<Sent, { outcome: 'started' }> {
  if (sent.outcome !== 'started') throw new Error(sent.outcome)
  return sent
}

/** What a finished reply reads as from the database, after the id `after`. */
export async function framesOf(stored: StoredReply, after = 0): Promise<Frame[]> {
  const remote = createRemoteReplies({ read: async () => stored, exchange: noExchange, waitLimitMs: 0 })
  const reply = await remote.open(stored.info.id)
  if (reply === null) throw new Error('It is not there.')
  const { frames, done } = follow(reply, after)
  await done
  return frames
}

/** Reads on; `frames` grows, `done` rejects when the stream breaks off. */
export function follow(reply: Reply, after = 0) {
  const frames: Frame[] = []
  const done = reply.read(after, new AbortController().signal, into(frames))
  done.catch(() => {})
  const shapes = () =>
    frames.flatMap((frame) => (frame.type === 'state' ? [] : frame.type === 'text' ? [frame.text] : [kindOf(frame)]))
  return { frames, done, shapes }
}
