/**
 * Sessions and replies, as the statements of the journal change them, each at one moment. What a statement itself could do
 * wrong is the matter of the tests on PostgreSQL.
 */
import type {
  Admission,
  Intent,
  NewMessage,
  OwnedRow,
  ReplyInfo,
  Settlement,
  StoredReply,
} from '../../src/actors/ports/index.ts'
import { type Outcome, type RestState, restStateOf, type StoredEvent } from '../../src/actors/reply/reply-event.ts'
import type { StoredIntent } from '../../src/coordination/stored-replies.ts'
import type { Owner, SimulatedLeases } from './simulated-leases.ts'

export interface Row {
  info: ReplyInfo
  /** What its session was in when it was admitted. */
  restState: RestState
  text: string
  events: StoredEvent[]
  outcome: Outcome | null
  endedAt: string | null
  settledAt: string | null
  waiting: Settlement['waiting'] | null
  isDecided: boolean
  isDeleted: boolean
  /** When a cancel was first asked for, by the simulated clock. Null when none was. */
  cancelledAt: number | null
}

interface Store {
  leases: SimulatedLeases
  sessions: Map<string, { num: number; nextSeq: number; rows: Row[] }>
  /** Those of deleted sessions too, for the checks alone. */
  replies: Map<string, Row>
  intents: (StoredIntent & { owner: string })[]
  made: number
  time(): string
  complain: Complain
}

export const idOf = ({ seq, part }: StoredEvent): string => `${seq}.${part}`

/** What was found broken, in words. */
export type Complain = (what: string) => void

const ownerOf = ({ instanceId, epoch }: ReplyInfo): Owner => ({ id: instanceId, epoch })

const runs = ({ outcome, isDeleted }: Row): boolean => outcome === null && !isDeleted

function stored({ replies }: Store, replyId: string): Row | null {
  const row = replies.get(replyId)
  return row === undefined || row.isDeleted ? null : row
}

function end({ sessions, time }: Store, row: Row, outcome: Outcome): void {
  Object.assign(row, { outcome, endedAt: time(), settledAt: time() })
  const session = sessions.get(row.info.sessionId)
  if (session) session.nextSeq = (row.events.at(-1)?.seq ?? row.info.firstSeq) + 4
}

function intend({ intents }: Store, { info }: Row, kind: Intent['kind']): void {
  const { id: replyId, sessionId, instanceId: owner } = info
  intents.push({ id: `${replyId} ${kind} ${intents.length}`, kind, sessionId, replyId, owner })
}

const admitted = ({ info: reply, text, restState }: Row): Admission => ({
  ...{ outcome: 'admitted', reply, text, restState },
  ...{ parentId: null, historyEnd: -1, titleFrom: null },
})

function admit(store: Store, message: NewMessage, owner: Owner): Admission {
  const { replyId, sessionId, text, model, includeUsage, mayStart, isLate, extras } = message
  const { decided } = extras.approval ?? {}
  const known = stored(store, replyId)
  if (known !== null) return known.outcome === null ? admitted(known) : { outcome: 'joined', replyId }
  if (!store.leases.holds(owner)) return { outcome: 'fenced' }
  const session = store.sessions.get(sessionId) ?? { num: ++store.made, nextSeq: 1, rows: [] }
  const newest = session.rows.at(-1)
  if (newest?.outcome === null) return { outcome: isLate ? 'unknown' : 'busy' }
  const isWaiting = newest !== undefined && newest.waiting !== null && !newest.isDecided
  if (decided && !(isWaiting && newest.info.id === decided.waitId)) return { outcome: 'not_waiting' }
  if (!mayStart) return { outcome: isLate ? 'unknown' : 'refused' }
  if (newest) newest.isDecided = true
  const info: ReplyInfo = {
    ...{ id: replyId, sessionId, sessionNum: session.num, firstSeq: session.nextSeq, model, includeUsage },
    ...{ createdAt: store.time(), instanceId: owner.id, epoch: owner.epoch },
  }
  const row: Row = {
    restState: newest?.outcome ? restStateOf(newest.outcome) : 'idle',
    ...{ info, text, events: [], outcome: null, endedAt: null, settledAt: null },
    ...{ waiting: null, isDecided: false, isDeleted: false, cancelledAt: null },
  }
  store.sessions.set(sessionId, session)
  session.rows.push(row)
  store.replies.set(replyId, row)
  return admitted(row)
}

function append(store: Store, reply: ReplyInfo, events: readonly StoredEvent[]): 'stored' | 'fenced' {
  if (!store.leases.holds(ownerOf(reply))) return 'fenced'
  const row = stored(store, reply.id)
  // A write that comes late: the reply is settled, or this was stored by the attempt before.
  if (row === null || row.outcome !== null) return 'stored'
  const known = new Set(row.events.map(idOf))
  row.events.push(...events.filter((event) => !known.has(idOf(event))))
  return 'stored'
}

function settle(store: Store, reply: ReplyInfo, { outcome, events, waiting }: Settlement) {
  if (!store.leases.holds(ownerOf(reply))) return { result: 'fenced' } as const
  const row = stored(store, reply.id)
  if (row === null) return { result: 'gone' } as const
  if (row.outcome === null) {
    if (events !== null) {
      const kept = new Set(events.map(idOf))
      if (row.events.some((event) => !kept.has(idOf(event)))) store.complain('A settlement loses what was stored.')
      row.events = [...events]
    }
    row.waiting = waiting ?? null
    end(store, row, outcome)
  }
  return { result: 'settled', settledAt: row.settledAt ?? '' } as const
}

function read(store: Store, replyId: string, after: number): StoredReply | null {
  const row = stored(store, replyId)
  if (row === null) return null
  const { info, outcome, endedAt, settledAt } = row
  const events = row.events.filter(({ seq, part }) => seq > after || (seq === after && part > 0))
  return { info, events, outcome, endedAt, settledAt, readTo: 0 }
}

function settleLost(store: Store): ReplyInfo[] {
  const lost = [...store.replies.values()].filter((row) => runs(row) && !store.leases.holds(ownerOf(row.info)))
  const error = { code: 'instance_lost', message: 'm', detail: 'd' } as const
  const usage = { promptTokens: 0, completionTokens: 0, estimated: true }
  for (const row of lost) end(store, row, { type: 'failed', error, usage })
  return lost.map(({ info }) => info)
}

export function createSimulatedReplies(leases: SimulatedLeases, now: () => number, complain: Complain) {
  const time = () => new Date(now()).toISOString()
  const store: Store = { leases, complain, time, sessions: new Map(), replies: new Map(), intents: [], made: 0 }
  const running = (sessionId: string) => store.sessions.get(sessionId)?.rows.find(runs)
  return {
    replies: store.replies,
    running,
    newest: (sessionId: string) => store.sessions.get(sessionId)?.rows.at(-1),
    admit: (message: NewMessage, owner: Owner) => admit(store, message, owner),
    append: (reply: ReplyInfo, events: readonly StoredEvent[]) => append(store, reply, events),
    settle: (reply: ReplyInfo, settlement: Settlement) => settle(store, reply, settlement),
    read: (replyId: string, after: number) => read(store, replyId, after),
    settleLost: () => settleLost(store),
    requestCancel(sessionId: string) {
      const row = running(sessionId)
      if (row === undefined) return null
      intend(store, row, 'cancel')
      row.cancelledAt ??= now()
      return { replyId: row.info.id, instanceId: row.info.instanceId }
    },
    deleteSession(sessionId: string): void {
      const row = running(sessionId)
      if (row) intend(store, row, 'delete')
      for (const one of store.sessions.get(sessionId)?.rows ?? []) one.isDeleted = true
      store.sessions.delete(sessionId)
    },
    streaming: ({ id, epoch }: Owner): OwnedRow[] =>
      [...store.replies.values()]
        .filter((row) => runs(row) && row.info.instanceId === id && row.info.epoch === epoch)
        .map(({ info }) => ({ ...info, offered: null })),
    intents: (owner: string): StoredIntent[] => store.intents.filter((one) => one.owner === owner),
    removeIntents(applied: readonly StoredIntent[]): void {
      const ids = new Set(applied.map(({ id }) => id))
      const isOver = (replyId: string | null) => stored(store, replyId ?? '')?.outcome !== null
      const stays = ({ id, kind, replyId }: StoredIntent) => !ids.has(id) || (kind === 'cancel' && !isOver(replyId))
      store.intents = store.intents.filter(stays)
    },
  }
}

export type SimulatedReplies = ReturnType<typeof createSimulatedReplies>
