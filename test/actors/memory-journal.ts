/** A journal in memory, which a test can hold at any step, and whose replies it can declare lost. */
import type {
  Admission,
  Journal,
  NewMessage,
  ReplyInfo,
  Settlement,
  StoredReply,
} from '../../src/actors/ports/index.ts'
import { type RestState, restStateOf, type StoredEvent } from '../../src/actors/reply/reply-event.ts'
import { turn } from './turn.ts'

/** Where the journal waits while the test holds it: before the effect, or between the effect and its answer. */
export type Gate = 'admitted' | 'append' | 'settle' | 'settled' | 'cancel'

interface Row extends Omit<StoredReply, 'readTo'> {
  events: StoredEvent[]
  requesterLost: boolean
}

interface Session {
  num: number
  nextSeq: number
  rows: Row[]
}

interface Store {
  sessions: Map<string, Session>
  /** Sessions that were ever made. */
  made: number
  byId: Map<string, Row>
  epoch: number
  append: 'stored' | 'refused'
  onSteps?: (steps: NonNullable<Settlement['steps']>) => void
}

export function memoryJournal() {
  const store: Store = { sessions: new Map(), made: 0, byId: new Map(), epoch: 1, append: 'stored' }
  const { pass, hold, release } = createGates()
  return {
    journal: createJournal(store, pass),
    /** Of the session's replies, oldest first. */
    rows: (sessionId = 's') => store.sessions.get(sessionId)?.rows ?? [],
    /** Others declare this instance lost: its replies are settled, it has a new epoch. The one that is lost. */
    fence(): number {
      const error = { code: 'instance_lost', message: 'm', detail: 'd' } as const
      for (const row of store.byId.values()) {
        if (row.outcome !== null) continue
        const [endedAt, usage] = [new Date().toISOString(), { promptTokens: 0, completionTokens: 0, estimated: true }]
        Object.assign(row, { outcome: { type: 'failed', error, usage }, endedAt, settledAt: endedAt })
        passEnd(store, row)
      }
      store.epoch += 1
      return store.epoch - 1
    },
    refuseAppends() {
      store.append = 'refused'
    },
    remove(sessionId: string) {
      for (const { info } of store.sessions.get(sessionId)?.rows ?? []) store.byId.delete(info.id)
      store.sessions.delete(sessionId)
    },
    hold,
    release,
    /** Called with the steps that settlements store. */
    onSteps(listener: NonNullable<Store['onSteps']>) {
      store.onSteps = listener
    },
  }
}

function createGates() {
  const gates = new Map<Gate, (() => void)[]>()
  return {
    pass: (gate: Gate) =>
      new Promise<void>((resolve) => {
        const waiting = gates.get(gate)
        if (waiting) waiting.push(resolve)
        else resolve()
      }),
    hold: (gate: Gate) => void gates.set(gate, gates.get(gate) ?? []),
    async release(gate: Gate) {
      const waiting = gates.get(gate) ?? []
      gates.delete(gate)
      for (const resolve of waiting) resolve()
      await turn()
    },
  }
}

function admit(
  store: Store,
  { replyId, sessionId, text, model, includeUsage, mayStart, isLate, isRetry }: NewMessage,
): Admission {
  const session = store.sessions.get(sessionId) ?? { num: ++store.made, nextSeq: 1, rows: [] }
  store.sessions.set(sessionId, session)
  const newest = session.rows.at(-1)
  if (newest && isRetry) return { outcome: 'joined', replyId: newest.info.id }
  if (newest?.outcome === null) return { outcome: isLate ? 'unknown' : 'busy' }
  if (!mayStart) return { outcome: isLate ? 'unknown' : 'refused' }
  const restState: RestState = newest?.outcome ? restStateOf(newest.outcome) : 'idle'
  const reply: ReplyInfo = {
    id: replyId,
    sessionId,
    sessionNum: session.num,
    firstSeq: session.nextSeq,
    model,
    includeUsage,
    createdAt: new Date().toISOString(),
    instanceId: 'i',
    epoch: store.epoch,
  }
  const row: Row = { info: reply, events: [], outcome: null, endedAt: null, settledAt: null, requesterLost: false }
  session.rows.push(row)
  store.byId.set(reply.id, row)
  const place = { parentId: newest?.info.id ?? null, historyEnd: -1 }
  return { outcome: 'admitted', reply, text, ...place, restState, titleFrom: null }
}

/** The next reply's frames are numbered behind those of this one. */
function passEnd({ sessions }: Store, { info, events }: Row): void {
  const session = sessions.get(info.sessionId)
  if (session) session.nextSeq = (events.at(-1)?.seq ?? info.firstSeq) + 3
}

function createJournal(store: Store, pass: (gate: Gate) => Promise<void>): Journal {
  const { sessions, byId } = store
  return {
    async admit(message) {
      const admission = admit(store, message)
      await pass('admitted')
      return admission
    },
    async append({ id, epoch }, take) {
      const events = take()
      await pass('append')
      if (epoch !== store.epoch) return 'fenced'
      if (store.append === 'stored') byId.get(id)?.events.push(...structuredClone(events))
      return store.append
    },
    withdraw() {},
    async settle({ id, epoch }, { outcome, events, endedAt, requesterLost, steps = [] }) {
      await pass('settle')
      const row = byId.get(id)
      if (epoch !== store.epoch) return { result: 'fenced' }
      if (!row) return { result: 'gone' }
      const settledAt = new Date().toISOString()
      if (row.outcome === null) {
        Object.assign(row, { outcome, endedAt: endedAt.toISOString(), settledAt, requesterLost })
        store.onSteps?.(steps)
        if (events !== null) row.events = structuredClone([...events])
        passEnd(store, row)
      }
      await pass('settled')
      return { result: 'settled', settledAt }
    },
    async read(replyId, after, readTo = 0) {
      const row = byId.get(replyId)
      const isAfter = ({ seq, part }: StoredEvent) => seq > after || (seq === after && part > 0)
      const events = row?.outcome === null ? row.events.slice(readTo) : row?.events
      return row && events ? { ...row, events: events.filter(isAfter), readTo: row.events.length } : null
    },
    async requestCancel(sessionId, { only, but }) {
      await pass('cancel')
      const isMeant = ({ outcome, info: { id } }: Row) => outcome === null && id === (only ?? id) && id !== but
      const info = sessions.get(sessionId)?.rows.find(isMeant)?.info
      return info ? { replyId: info.id, instanceId: info.instanceId } : null
    },
    history: async () => ({ messages: [], isWhole: true, checkpoint: null, before: null }),
    isHeld: async () => false,
    epoch: () => store.epoch,
    parts: async () => [],
  }
}
