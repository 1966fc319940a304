/** Admits a message: stores it and opens its reply, or says why not. */
import { v7 as uuidv7 } from 'uuid'
import type { Admission, NewMessage } from '../../actors/ports.ts'
import type { RestState } from '../../actors/reply-event.ts'
import { changedNothing, isUnavailable, type Sql } from '../postgres/database.ts'
import { jsonText } from './stored-reply.ts'

/** An instance, and the epoch under which it writes. */
export interface Owner {
  id: string
  epoch: number
}

/** As sql/admit_message.sql answers; what only some outcomes have is absent from the others. */
interface Answer {
  outcome: Exclude<Admission['outcome'], 'unknown'>
  reply_id: string
  session_num: number
  first_seq: number
  created_at: string
  position: number
  rest_state: RestState
  untitled: boolean
  first_text?: string | null
  by_key?: boolean
}

/** A client waits for the answer: while the database is away, it is asked for again for about so long. */
const RETRY_MS = 1000
const FIRST_WAIT_MS = 20

interface Log {
  warn(details: object, message: string): void
}

/**
 * One statement, idempotent by the reply's id: while the database is away it is sent again. All tries go under one epoch,
 * since one whose answer was lost may have been stored under it. Rejects when no try has stored anything or will: each
 * was refused by the server, never reached it, or was only to look. Takes two silences of a connection and a second at most.
 */
export async function admit(sql: Sql, owner: Owner, message: NewMessage, log: Log): Promise<Admission> {
  let maybeStored = false // by a try whose answer was lost
  for (let wait = FIRST_WAIT_MS, begin = performance.now(); ; wait *= 2) {
    try {
      const answer = await ask(sql, owner, message)
      return maybeStored && !isForGood(answer, message) ? { outcome: 'unknown' } : admissionOf(answer, owner, message)
    } catch (error) {
      maybeStored ||= message.mayStart && !changedNothing(error)
      if (!isUnavailable(error) || performance.now() + wait - begin > RETRY_MS) {
        if (!maybeStored) throw error
        const { replyId, sessionId } = message
        log.warn({ err: error, replyId, sessionId }, 'It is not known whether a message was stored.')
        return { outcome: 'unknown' }
      }
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }
}

/**
 * Holds for earlier tries too that may still arrive at the server. What refuses a message now (a running reply, a full
 * instance) may be gone by then; a deleted session never returns, nor an epoch, and a key leads to its reply for a day.
 */
function isForGood({ outcome, reply_id, by_key }: Answer, { replyId }: NewMessage): boolean {
  if (outcome === 'joined') return by_key === true || reply_id === replyId
  return outcome === 'admitted' || outcome === 'fenced' || outcome === 'not_found' || outcome === 'key_reused'
}

async function ask(sql: Sql, owner: Owner, message: NewMessage): Promise<Answer> {
  const wanted = jsonText({
    agent_id: message.agentId,
    session_id: message.sessionId,
    end_user: message.user,
    user_id: uuidv7(),
    reply_id: message.replyId,
    model: message.model,
    include_usage: message.includeUsage,
    key: message.idempotency?.key,
    body_hash: message.idempotency?.bodyHash.toString('hex'),
    is_retry: message.isRetry,
    may_start: message.mayStart,
    configuration: message.configuration,
  })
  const [row] = await sql<{ answer: Answer }[]>`
    select admit_message(${owner.id}, ${owner.epoch}, ${wanted}::text::jsonb, ${message.text}) as answer`
  if (row === undefined) throw new Error('admit_message returned no row')
  return row.answer
}

function admissionOf(answer: Answer, owner: Owner, message: NewMessage): Admission {
  if (answer.outcome === 'joined') return { outcome: 'joined', replyId: answer.reply_id }
  if (answer.outcome !== 'admitted') return { outcome: answer.outcome }
  return {
    outcome: 'admitted',
    position: answer.position,
    restState: answer.rest_state,
    titleFrom: answer.untitled ? (answer.first_text ?? message.text) : null,
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
