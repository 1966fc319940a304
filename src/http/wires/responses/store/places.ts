/**
 * The look-up of the places that a request names (contract section 24), and what it may cost (section 32): of its
 * conversation, of the response that it follows, and of the replies that its items belong to, in one statement. The ids of
 * a reply's parts are derived, so an id is compared with those that its reply can have. They are derived for a reply when
 * one of its ids is asked for, and for so many parts at most in a request.
 */
import { setImmediate } from 'node:timers/promises'
import type { MessagePlace } from '../../../../actors/ports/index.ts'
import type { MessageStatus } from '../../../../actors/reply/reply-event.ts'
import type { Sql } from '../../../../persistence/postgres/database.ts'
import { callUuid, type GivenCall, givenNames, outputUuid, replyHalf, replyRange } from '../output/ids.ts'

/** A place in a session: behind a reply, or at the head of a conversation. */
export interface Place {
  agentId: string
  sessionId: string
  /** The session's end user. Null without one. */
  user: string | null
  /** The reply that it is behind. Null at the head. */
  replyId: string | null
  /** The position of the message that it is behind: -1 where there is none. */
  position: number
  /** The status of the reply; `queued` while its message is in the queue. Null at the head. */
  status: MessageStatus | 'queued' | null
}

/** Returns where a message at this place is put. */
export const messagePlace = ({ replyId }: Place): MessagePlace | undefined =>
  replyId === null ? undefined : { parent: replyId }

/** The ids of a request: of its response and its conversation, and those among its items. */
export interface Names {
  response: string | null
  conversation: string | null
  items: readonly string[]
}

/** An item of the input that is stored, with the place behind its reply. `tool_…`: given with its message. */
export type KnownItem = { place: Place } & ({ kind: PartKind } | { kind: 'waiting'; callId: string })

type PartKind = 'question' | 'text' | GivenCall['type']

export interface Places {
  conversation: Place | null
  /** The place behind the response that is named, whosever it is. */
  response: Place | null
  /** Returns the item with this id: the message that a reply answers, a text or reasoning of the reply, or a call. */
  itemOf(uuid: string): Promise<KnownItem | undefined>
}

interface PlaceRow extends Place {
  /** False for a message that was given with its session, or copied to it. */
  isResponse: boolean
  /** The user message that the reply answers, when the look-up contained its id. */
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

/** Reads the replies that these ids may belong to, those directly after messages with these ids, and the conversation. */
async function readPlaces(sql: Sql, { response, conversation, items }: Names): Promise<PlaceRow[]> {
  const ids = response === null ? items : [response, ...items]
  const ranges = [...new Map(ids.map((id) => [replyHalf(id), replyRange(id)])).values()]
  if (ranges.length === 0 && conversation === null) return []
  return await sql<PlaceRow[]>`
    with named as (
      select distinct m.id, case when n.role = 'user' then n.id end as question
        from unnest(${ranges.map(({ first }) => first)}::text[]::uuid[], ${ranges.map(({ last }) => last)}::text[]::uuid[])
               as r (first_id, last_id)
        join messages n on n.id between r.first_id and r.last_id
        join messages m on m.session_id = n.session_id and m.role = 'assistant'
                       and m.position = n.position + case when n.role = 'user' then 1 else 0 end
                       and (n.role = 'assistant' or m.parent is null)
    )
    select s.agent_id as "agentId", s.id as "sessionId", s.end_user as "user", m.id as "replyId", m.position, m.status,
           m.first_seq is not null as "isResponse", n.question as "questionId",
           array(select w.call_id from waiting_calls w where w.reply_id in (m.id, m.continues)) as calls,
           m.first_seq is null and m.model is null as "isGiven",
           least(${MOST_OUTPUTS}::integer, case
             when m.status = 'streaming' then ${MOST_OUTPUTS}::integer
             when m.reasoning_frames is null and m.tool_events is null and m.first_seq is not null then 1
             else coalesce(cardinality(m.frame_ends), 0) + 1 end) as outputs
      from named n
      join messages m on m.id = n.id
      join sessions s on s.id = m.session_id
     union all
    select s.agent_id, s.id, s.end_user, q.reply_id, -1, 'queued', true, null, '{}', false, 0
      from queued_messages q join sessions s on s.id = q.session_id
     where q.reply_id = ${response} and q.admission is null
     union all
    select s.agent_id, s.id, s.end_user, null,
           coalesce(s.head, (select max(x.position) from messages x where x.session_id = s.id), -1),
           null, false, null, '{}', false, 0
      from sessions s where s.id = ${conversation}`
}

/** Returns the calls and outputs of a message that was given with its session, in their order. */
async function readGiven(sql: Sql, replyId: string, most: number): Promise<GivenCall[]> {
  return await sql<GivenCall[]>`
    select e.stored #>> '{event,type}' as type, coalesce(e.stored #>> '{event,id}', '') as id
      from messages m, jsonb_array_elements(m.tool_events) with ordinality as e (stored, place)
     where m.id = ${replyId} and e.stored #>> '{event,type}' in ('tool_call', 'tool_result')
     order by e.place limit ${most}`
}

/**
 * The number of part ids that a request has derived at most. Ids of further parts are unknown. A client that sends
 * what it has been sent needs those of one reply, the newest.
 */
const MOST_DERIVED = 10_000

/** The number of part ids that are derived in one piece. */
const DERIVED_AT_ONCE = 1000

/** Finds the places that a request names. `isOwn` decides which of them its items may name. */
export async function findPlaces(sql: Sql, names: Names, isOwn: (place: Place) => boolean): Promise<Places> {
  const rows = await readPlaces(sql, names)
  const own = rows.filter(isOwn)
  const byHalf = Map.groupBy(own, ({ replyId }) => replyId && replyHalf(replyId))
  const byQuestion = new Map(own.map((reply) => [reply.questionId, reply]))
  const derive = derivations()
  const callsOf = once(({ calls }, replyId) =>
    derive(calls, (callId) => [callUuid(replyId, callId), { kind: 'waiting', callId }] as const),
  )
  const partsOf = once(async ({ isGiven, outputs }, replyId) => {
    const given = isGiven ? await readGiven(sql, replyId, derive.left()) : []
    const nameOf = givenNames(replyId)
    return new Map<string, { kind: PartKind }>([
      ...(await derive([...Array(outputs).keys()], (n) => [outputUuid(replyId, n), { kind: 'text' }] as const)),
      ...(await derive(given, (part) => [nameOf(part), { kind: part.type }] as const)),
    ])
  })
  return {
    conversation: own.find(({ replyId }) => replyId === null) ?? null,
    response: rows.find(({ replyId, isResponse }) => isResponse && replyId === names.response) ?? null,
    async itemOf(uuid) {
      const answer = byQuestion.get(uuid)
      if (answer !== undefined) return { kind: 'question', place: answer }
      for (const place of byHalf.get(replyHalf(uuid)) ?? []) {
        if (place.replyId === uuid) return { kind: 'text', place }
        const part = (await callsOf(place)).get(uuid) ?? (await partsOf(place)).get(uuid)
        if (part !== undefined) return { ...part, place }
      }
      return undefined
    },
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
function once<T>(work: (reply: PlaceRow, replyId: string) => Promise<T>): (reply: PlaceRow) => Promise<T> {
  const done = new Map<PlaceRow, Promise<T>>()
  return (reply) => {
    const result = done.get(reply) ?? work(reply, reply.replyId ?? '')
    done.set(reply, result)
    return result
  }
}
