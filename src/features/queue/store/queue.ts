/** The queue of a session, as rows: what waits, what has begun, what is taken out (contract section 22). */
import type { Asked, DecidedCall } from '../../../actors/ports/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isoTime } from '../../../persistence/postgres/page.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { admittedOf, type Owner } from '../../../persistence/replies/admission/admission-answer.ts'
import { decodeFacts } from '../../../persistence/replies/stored/stored-columns.ts'
import { decodeCarried } from '../../../persistence/stored-forms/stored-carried.ts'
import type { BegunMessage, QueuedState, QueueStore } from '../queue-store.ts'
import { decodeInput } from './stored-input.ts'
import { decodeBegun } from './stored-rows.ts'

/** A message that waits. `position`: 1 is next. */
export interface QueuedMessage {
  id: string
  content: string
  createdAt: string
  position: number
}

/** Returns the queue, the next message first. Null if there is no such session, or it is another agent's. */
export async function listQueue(sql: Sql, agentId: string, sessionId: string): Promise<QueuedMessage[] | null> {
  if (!isUuid(agentId) || !isUuid(sessionId)) return null
  const rows = await sql<(Omit<QueuedMessage, 'id'> & { id: string | null })[]>`
    select q.id, q.content, ${isoTime(sql, 'q.created_at')} as "createdAt",
           (row_number() over (order by q.rank, q.num))::integer as position
      from sessions s
      left join queued_messages q on q.session_id = s.id and q.admission is null and q.rank > 0
     where s.id = ${sessionId} and s.agent_id = ${agentId}
     order by q.rank, q.num`
  if (rows.length === 0) return null
  return rows.flatMap(({ id, ...row }) => (id === null ? [] : [{ id, ...row }]))
}

interface BegunRow {
  id: string
  reply_id: string
  session_id: string
  agent_id: string
  content: string
  input: string
  model: string
  include_usage: boolean
  requester_lost: boolean
  /** See `decodeFacts`. */
  facts: unknown
  /** See `decodeBegun`. */
  admission: unknown
  /** Of a reply that follows decisions; null on a message. */
  follows:
    | (Omit<Asked, 'expiresAfterS'> & {
        carried: string
        decisions: DecidedCall[]
        by: string | null
        waitedMs: number
      })
    | null
}

export function createQueueStore(sql: Sql, owner: () => Owner): QueueStore {
  return {
    async take(replyId) {
      const { id, epoch } = owner()
      // Not only those that are not taken: the answer of an earlier try may have been lost.
      const [row] = await sql<BegunRow[]>`
        update queued_messages q set taken = true
          from messages m, sessions s
         where q.reply_id = ${replyId} and q.instance_id = ${id} and q.epoch = ${epoch} and m.id = q.reply_id
           and m.status = 'streaming' and m.instance_id = ${id} and m.epoch = ${epoch} and s.id = q.session_id
        returning q.id, q.reply_id, q.session_id, s.agent_id, q.content, q.input, m.model, m.include_usage, m.facts, q.requester_lost,
                  q.admission,
                  case when q.rank < 0 then jsonb_build_object(
                    'carried', (select t.body from reply_turns t where t.reply_id = q.reply_id and t.n = 0),
                    'decisions', decisions_for(q.reply_id), 'by', q.message -> 'decided_by', 'waitedMs', q.message -> 'waited_ms',
                    'reasoning', coalesce(q.message #> '{asked,reasoning}', 'false'),
                    'includeActions', coalesce(q.message #> '{asked,includeActions}', 'false')) end as follows`
      return row === undefined ? null : begunOf(row, { id, epoch })
    },
    async keepStart(replyId, start) {
      const { id, epoch } = owner()
      await sql`
        update messages set facts = jsonb_build_object('start', ${start}::text) || coalesce(facts, '{}')
         where id = ${replyId} and status = 'streaming' and instance_id = ${id} and epoch = ${epoch}`
    },
    states: (of) => readStates(sql, of),
    async remove(sessionId, id) {
      if (id !== null && !isUuid(id)) return []
      const ids = id === null ? await waitingIn(sql, sessionId) : [id]
      if (ids.length === 0) return []
      const rows = await sql<{ replyId: string }[]>`
        select take_out_messages(${sessionId}, ${ids}::text[]::uuid[]) as "replyId"`
      return rows.map(({ replyId }) => replyId)
    },
    async isSteered(sessionId) {
      const [row] = await sql`
        select 1 from queued_messages where session_id = ${sessionId} and rank = 1 and admission is null limit 1`
      return row !== undefined
    },
    async requesterLost(replyId) {
      await sql`update queued_messages set requester_lost = true where reply_id = ${replyId} and admission is null`
    },
    async tend(begins, limit) {
      const { id, epoch } = owner()
      if (epoch === 0) return []
      const rows = await sql<{ replyId: string }[]>`
        select tend_queues(${id}, ${epoch}, ${begins}, ${limit}) as "replyId"`
      return rows.map(({ replyId }) => replyId)
    },
  }
}

async function waitingIn(sql: Sql, sessionId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from queued_messages where session_id = ${sessionId} and admission is null and rank >= 0`
  return rows.map(({ id }) => id)
}

function begunOf(row: BegunRow, owner: Owner): BegunMessage {
  const { is_child: hasParent, ...admission } = decodeBegun(row.admission)
  const message = {
    replyId: row.reply_id,
    sessionId: row.session_id,
    model: row.model,
    includeUsage: row.include_usage,
    text: row.content,
  }
  const facts = decodeFacts(row.facts)
  return {
    id: row.id,
    agentId: row.agent_id,
    admission: admittedOf({ ...admission, ...(hasParent && { has_parent: true }) }, owner, message),
    ...followingOf(row),
    agentVersion: facts?.agentVersion ?? null,
    depth: facts?.depth,
    fault: admission.fault,
    requesterLost: row.requester_lost,
  }
}

/** Reads what a message asks for, or the decisions that its reply carries out. */
function followingOf({ input, include_usage, follows }: BegunRow): Pick<BegunMessage, 'input' | 'follows'> {
  if (follows === null) return { input: decodeInput(input), follows: null }
  const { carried: body, decisions, by, waitedMs, reasoning, includeActions } = follows
  const carried = decodeCarried(body)
  const nothing = { user: null, fields: {}, instructions: null, origin: null }
  return {
    input: { ...nothing, by, includeUsage: include_usage, reasoning, includeActions, overrides: carried.overrides },
    follows: { carried, decisions, waitedMs },
  }
}

/**
 * Reads the states in one statement, so from one snapshot: a message that begins meanwhile is in one of both places.
 */
async function readStates(sql: Sql, of: ReadonlyMap<string, string>): Promise<Map<string, QueuedState>> {
  const rows = await sql<{ id: string; state: QueuedState }[]>`
    select r.id, case when exists (select from queued_messages q where q.reply_id = r.id and q.admission is null) then 'waits'
                      when exists (select from messages m where m.id = r.id) then 'begun'
                      when exists (select from sessions s where s.id = r.session_id) then 'removed'
                      else 'deleted' end as state
      from unnest(${[...of.keys()]}::text[]::uuid[], ${[...of.values()]}::text[]::uuid[]) as r (id, session_id)`
  return new Map(rows.map(({ id, state }) => [id, state]))
}
