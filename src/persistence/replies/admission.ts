/** Admits a message: stores it and opens its reply, or says why not. */
import { v7 as uuidv7 } from 'uuid'
import type { Admission, NewMessage } from '../../actors/ports.ts'
import type { RestState } from '../../actors/reply-event.ts'
import type { Sql } from '../postgres/database.ts'
import { jsonText } from './stored-reply.ts'

/** An instance, and the epoch under which it writes. */
export interface Owner {
  id: string
  epoch: number
}

/** As sql/admit_message.sql answers; what only some outcomes have is absent from the others. */
interface Answer {
  outcome: Admission['outcome']
  reply_id: string
  session_num: number
  first_seq: number
  created_at: string
  position: number
  rest_state: RestState
  untitled: boolean
}

/** One statement, idempotent by the reply's id: where its answer was lost, it may be called again. */
export async function admit(sql: Sql, owner: Owner, message: NewMessage): Promise<Admission> {
  const { replyId, sessionId, model, includeUsage, text } = message
  const wanted = jsonText({
    agent_id: message.agentId,
    session_id: sessionId,
    user_id: uuidv7(),
    reply_id: replyId,
    model,
    include_usage: includeUsage,
    key: message.idempotency?.key,
    body_hash: message.idempotency?.bodyHash.toString('hex'),
    is_retry: message.isRetry,
    may_start: message.mayStart,
    configuration: message.configuration,
  })
  const [row] = await sql<{ answer: Answer }[]>`
    select admit_message(${owner.id}, ${owner.epoch}, ${wanted}::text::jsonb, ${text}) as answer`
  if (row === undefined) throw new Error('admit_message returned no row')
  const { answer } = row
  if (answer.outcome === 'joined') return { outcome: 'joined', replyId: answer.reply_id }
  if (answer.outcome !== 'admitted') return { outcome: answer.outcome }
  return {
    outcome: 'admitted',
    position: answer.position,
    restState: answer.rest_state,
    untitled: answer.untitled,
    reply: {
      id: replyId,
      sessionId,
      sessionNum: answer.session_num,
      firstSeq: answer.first_seq,
      model,
      createdAt: new Date(answer.created_at).toISOString(),
      includeUsage,
      instanceId: owner.id,
      epoch: owner.epoch,
    },
  }
}
