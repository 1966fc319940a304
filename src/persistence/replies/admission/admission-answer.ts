/** Reads what an admission answered, at once or when its message began from the queue. */
import type {
  Admission,
  Admitted,
  DecidedCall,
  NewMessage,
  OverLimit,
  RequestRate,
} from '../../../actors/ports/index.ts'
import type { RestState } from '../../../actors/reply/reply-event.ts'
import type { Sql } from '../../postgres/database.ts'
import { type HistoryRow, historyOf } from '../reading/history.ts'

/** An instance, and the epoch under which it writes. */
export interface Owner {
  id: string
  epoch: number
}

/** The answer of admit_message.sql. Fields of some outcomes are absent from the others. */
export interface Answer {
  outcome: Exclude<Admission['outcome'], 'unknown'>
  reply_id: string
  session_num: number
  first_seq: number
  created_at: string
  parent_id: string | null
  history_end: number
  /** The text of a message that is answered again. */
  text?: string | null
  rest_state: RestState
  untitled: boolean
  first_text?: string | null
  by_key?: boolean
  /** In the queue, when the message waits there; else in its session. */
  position?: number
  values?: Admitted['values'] | null
  /** The messages before this one. Absent or null when it must be read by a statement of its own. */
  history?: HistoryRow[] | null
  rate?: RequestRate | null
  over?: OverLimit
  pin?: number | null
  decided?: DecidedCall[] | null
  repeated?: boolean
  has_parent?: boolean
  /** Set when the session's parent refuses the message, whatever `outcome` says. */
  by_parent?: boolean
}

/** Reads what admit_message, or admit_messages, answered of a message. */
export function admissionOf(sql: Sql, answer: Answer, owner: Owner, message: NewMessage): Admission {
  if (answer.by_parent) return { outcome: 'parent_waits' }
  if (answer.outcome === 'joined') return { outcome: 'joined', replyId: answer.reply_id }
  const rate = answer.rate && { rate: answer.rate }
  if (answer.outcome === 'limited') {
    if (answer.over === undefined) throw new Error('A refusal names no limit.')
    return { outcome: 'limited', over: answer.over, ...rate }
  }
  if (answer.outcome === 'queued')
    return { outcome: 'queued', replyId: answer.reply_id, position: answer.position ?? 0, ...rate }
  if (answer.outcome === 'decided_in_part') return { outcome: answer.outcome, repeated: answer.repeated === true }
  if (answer.outcome === 'pinned') return { outcome: 'pinned', pin: answer.pin ?? null }
  if (answer.outcome !== 'admitted') return { outcome: answer.outcome }
  const admitted = admittedOf(answer, owner, message)
  const { history } = answer
  return history ? { ...admitted, history: () => historyOf(sql, history) } : admitted
}

/** Reads the answer of a message that was admitted, now or when it began from the queue. */
export function admittedOf(
  answer: Omit<Answer, 'outcome' | 'history'>,
  owner: Owner,
  message: Pick<NewMessage, 'replyId' | 'sessionId' | 'model' | 'includeUsage' | 'text'>,
): Admitted {
  return {
    outcome: 'admitted',
    restState: answer.rest_state,
    text: answer.text ?? message.text,
    parentId: answer.parent_id,
    historyEnd: answer.history_end,
    titleFrom: answer.untitled ? (answer.first_text ?? message.text) : null,
    ...(answer.values && { values: answer.values }),
    ...(answer.rate && { rate: answer.rate }),
    ...(answer.has_parent && { hasParent: true }),
    ...(answer.decided && { decided: answer.decided }),
    reply: {
      id: message.replyId,
      sessionId: message.sessionId,
      sessionNum: answer.session_num,
      firstSeq: answer.first_seq,
      model: message.model,
      createdAt: new Date(answer.created_at).toISOString(),
      includeUsage: message.includeUsage,
      instanceId: owner.id,
      epoch: owner.epoch,
    },
  }
}
