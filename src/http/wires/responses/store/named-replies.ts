/**
 * Replies that the items of an input name (contract section 24), and what such a look-up may cost (section 32). The ids
 * of a reply's parts are derived, so an id is compared with those that its reply can have. They are derived for a reply
 * when one of its ids is asked for, and for so many parts at most in a request.
 */
import { setImmediate } from 'node:timers/promises'
import type { Sql } from '../../../../persistence/postgres/database.ts'
import { callUuid, type GivenCall, givenNames, outputUuid, replyHalf, replyRange } from '../output/ids.ts'

export interface NamedReply {
  id: string
  sessionId: string
  user: string | null
  /** The user message that it answers, when the lookup contained its id. */
  questionId: string | null
  /** The model's ids of the pending calls of this reply, or of the reply that it continues. */
  calls: string[]
  /** True for a message that was given with its session. */
  isGiven: boolean
  /** The number of texts and reasoning items that the reply has at most. */
  outputs: number
}

/** The maximum number of texts and reasoning items of a reply that are looked up. */
const MOST_OUTPUTS = 1024

/** Returns the agent's replies that these ids may belong to, and those directly after messages with these ids. */
async function readNamed(sql: Sql, agentId: string, ids: readonly string[]): Promise<NamedReply[]> {
  const ranges = [...new Map(ids.map((id) => [replyHalf(id), replyRange(id)])).values()]
  if (ranges.length === 0) return []
  return await sql<NamedReply[]>`
    with named as (
      select distinct m.id, case when n.role = 'user' then n.id end as question
        from unnest(${ranges.map(({ first }) => first)}::text[]::uuid[], ${ranges.map(({ last }) => last)}::text[]::uuid[])
               as r (first_id, last_id)
        join messages n on n.id between r.first_id and r.last_id
        join messages m on m.session_id = n.session_id and m.role = 'assistant'
                       and m.position = n.position + case when n.role = 'user' then 1 else 0 end
                       and (n.role = 'assistant' or m.parent is null)
    )
    select m.id, s.id as "sessionId", s.end_user as "user", n.question as "questionId",
           array(select w.call_id from waiting_calls w where w.reply_id in (m.id, m.continues)) as calls,
           m.first_seq is null and m.model is null as "isGiven",
           least(${MOST_OUTPUTS}::integer, case
             when m.status = 'streaming' then ${MOST_OUTPUTS}::integer
             when m.reasoning_frames is null and m.tool_events is null and m.first_seq is not null then 1
             else coalesce(cardinality(m.frame_ends), 0) + 1 end) as outputs
      from named n
      join messages m on m.id = n.id
      join sessions s on s.id = m.session_id and s.agent_id = ${agentId}`
}

/** Returns the calls and outputs of a message that was given with its session, in their order. */
async function readGiven(sql: Sql, replyId: string, most: number): Promise<GivenCall[]> {
  return await sql<GivenCall[]>`
    select e.stored #>> '{event,type}' as type, coalesce(e.stored #>> '{event,id}', '') as id
      from messages m, jsonb_array_elements(m.tool_events) with ordinality as e (stored, place)
     where m.id = ${replyId} and e.stored #>> '{event,type}' in ('tool_call', 'tool_result')
     order by e.place limit ${most}`
}

export interface NamedReplies {
  /** Returns the reply that answers the message with this id. */
  byQuestion(uuid: string): NamedReply | undefined
  /** Returns the reply that this id belongs to: its own, or that of a text, of reasoning or of a call. */
  byPart(uuid: string): Promise<NamedReply | undefined>
  /** Returns the message in which the output with this id was given together with its call. */
  byGivenOutput(uuid: string): Promise<NamedReply | undefined>
  /** Returns the reply that made the call with this id, and the model's id of the call. */
  byCall(uuid: string): Promise<{ reply: NamedReply; callId: string } | undefined>
}

/**
 * The number of part ids that a request has derived at most. Ids of further parts are unknown. A client that sends
 * what it has been sent needs those of one reply, the newest.
 */
const MOST_DERIVED = 10_000

/** The number of part ids that are derived in one piece. */
const DERIVED_AT_ONCE = 1000

/** Finds the replies of these ids in one statement. `isOwn` decides which of them the caller may name. */
export async function namedReplies(
  sql: Sql,
  { agentId, isOwn }: { agentId: string; isOwn: (reply: NamedReply) => boolean },
  ids: readonly string[],
): Promise<NamedReplies> {
  const replies = (await readNamed(sql, agentId, ids)).filter(isOwn)
  const byHalf = Map.groupBy(replies, ({ id }) => replyHalf(id))
  const byQuestion = new Map(replies.map((reply) => [reply.questionId, reply]))
  const derive = derivations()
  const calls = once(async ({ id, calls: named }: NamedReply) =>
    derive(named, (callId) => [callUuid(id, callId), callId] as const),
  )
  const parts = once(async ({ id, isGiven, outputs }: NamedReply) => {
    const given = isGiven ? await readGiven(sql, id, derive.left()) : []
    const nameOf = givenNames(id)
    return new Map<string, GivenCall['type'] | 'text'>([
      ...(await derive([...Array(outputs).keys()], (index) => [outputUuid(id, index), 'text'] as const)),
      ...(await derive(given, (part) => [nameOf(part), part.type] as const)),
    ])
  })

  async function first<T>(uuid: string, of: (reply: NamedReply) => Promise<T | undefined>): Promise<T | undefined> {
    for (const reply of byHalf.get(replyHalf(uuid)) ?? []) {
      const found = await of(reply)
      if (found !== undefined) return found
    }
    return undefined
  }
  return {
    byQuestion: (uuid) => byQuestion.get(uuid),
    byPart: (uuid) =>
      first(uuid, async (reply) => {
        const isPart = uuid === reply.id || (await calls(reply)).has(uuid) || (await parts(reply)).has(uuid)
        return isPart ? reply : undefined
      }),
    byGivenOutput: (uuid) =>
      first(uuid, async (reply) =>
        reply.isGiven && (await parts(reply)).get(uuid) === 'tool_result' ? reply : undefined,
      ),
    byCall: (uuid) =>
      first(uuid, async (reply) => {
        const callId = (await calls(reply)).get(uuid)
        return callId === undefined ? undefined : { reply, callId }
      }),
  }
}

/** Returns a function that maps the parts of a reply by their ids, in pieces, as long as the request may derive more. */
function derivations() {
  let left = MOST_DERIVED
  async function derive<P, T>(
    parts: readonly P[],
    entryOf: (part: P) => readonly [string, T],
  ): Promise<Map<string, T>> {
    const entries = new Map<string, T>()
    for (const part of parts) {
      if (left === 0) break
      entries.set(...entryOf(part))
      left -= 1
      if (left % DERIVED_AT_ONCE === 0) await setImmediate()
    }
    return entries
  }
  return Object.assign(derive, { left: () => left })
}

/** Returns the function with its results kept, one for each reply. */
function once<T>(work: (reply: NamedReply) => Promise<T>): (reply: NamedReply) => Promise<T> {
  const done = new Map<NamedReply, Promise<T>>()
  return (reply) => {
    const result = done.get(reply) ?? work(reply)
    done.set(reply, result)
    return result
  }
}
