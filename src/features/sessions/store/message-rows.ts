/** Messages as they are read: their columns, and their form in a list. Times are ISO 8601 UTC. */
import type { Continuation, MessagePart, ReplyFacts, ReplyFigures } from '../../../actors/ports/index.ts'
import type {
  FinishReason,
  MessageStatus,
  MissingServer,
  ReplyErrorCode,
  StoredEvent,
  Usage,
} from '../../../actors/reply/reply-event.ts'

import type { Sql } from '../../../persistence/postgres/database.ts'
import { type Fragment, isoOf, quickTime } from '../../../persistence/postgres/page.ts'
import { type PartRow, partOf } from '../../../persistence/replies/reading/part-rows.ts'
import {
  type CountedDetails,
  storedUsage,
  type UsageRow,
} from '../../../persistence/replies/settling/stored-outcome.ts'
import {
  type FramesOrEnds,
  framesOrEnds,
  offsetOf,
  type ShownRow,
  shownOf,
} from '../../../persistence/replies/settling/stored-reply.ts'
import { decodeFacts } from '../../../persistence/replies/stored/stored-columns.ts'
import { lastModel, missingIn, partsOfMany } from './shown-fields.ts'
import { mayHaveWaited, type WaitedCall } from './waiting-calls.ts'

export interface Message {
  id: string
  agentId: string
  sessionId: string
  /** The message before it on its path. Null when it is a first one. */
  parentId: string | null
  role: 'user' | 'assistant'
  content: string
  status: MessageStatus
  finishReason: FinishReason | 'error' | null
  createdAt: string
  errorCode: ReplyErrorCode | null
  /** The words of the error chunk. */
  errorMessage: string | null
  /** The provider's full error text. */
  errorDetail: string | null
  /** The model of the last turn. Null for a user's message. */
  model: string | null
  /** Null when it was not asked for, or none came. */
  reasoning: string | null
  /** The time for which the model thought. Null when it did not, or when that is not known. */
  reasoningMs: number | null
  toolEvents: (StoredEvent & { offset: number })[]
  /** The parts of a user's message, in order. */
  parts: MessagePart[]
  /** The provider of the last turn. Null for a user's message, or one made before it was stored. */
  providerId: string | null
  /** Null while it runs, and when it is none of the session's own replies. */
  usage: Usage | null
  /** Null when none of them is known. */
  facts: Partial<ReplyFacts & ReplyFigures & { counted: CountedDetails }> | null
  /** The calls of its own that were pending. */
  waited: WaitedCall[]
  /** The points where it went on in another instance. */
  continuations: Continuation[]
  /** The opinions of it, the oldest first. */
  feedback: GivenFeedback[]
  /** The MCP servers that it went without. */
  missingTools: readonly MissingServer[]
}

/** The opinion of a reply. Times are ISO 8601 UTC. */
export interface GivenFeedback {
  by: 'user' | 'login'
  /** Null when it has none. */
  name: string | null
  score: 1 | -1
  comment: string | null
  createdAt: string
  updatedAt: string
}

/**
 * Returns the columns of `messages m`; a list may add `m.parent`. They are 16 at most, since V8 makes a dictionary of a
 * row with more, and reading 200 messages took half as long again. Seldom-set columns are packed into one, `extras`.
 */
export const messageColumns = (sql: Sql, sessionId: string): Fragment => sql`
  m.id, m.role, m.status, m.finish_reason as "finishReason", m.position, ${quickTime(sql, 'm.created_at')} as time,
  m.model, m.facts, m.prompt_tokens, m.completion_tokens, m.first_seq, m.content, m.tool_events,
  ${framesOrEnds(sql)},
  case when m.reasoning_ms is not null or coalesce(m.error_code, m.reasoning) is not null or ${mayHaveWaited(sql)}
            or coalesce(m.usage_estimated, m.prompt_tokens is not null)
            or m.role = 'assistant' and exists (select 1 from feedback where session_id = ${sessionId})
            or m.role = 'user' and exists (select 1 from message_parts where session_id = ${sessionId})
       then jsonb_build_object(
         'errorCode', m.error_code, 'errorMessage', m.error_message, 'errorDetail', m.error_detail, 'reasoning', m.reasoning,
         'reasoningMs', m.reasoning_ms, 'usage_estimated', m.usage_estimated,
         'waited', case when ${mayHaveWaited(sql)} then waited_calls(m.id) end,
         'feedback', ${feedbackOf(sql, sessionId)}, 'parts', ${partsOfMany(sql, sessionId)})
  end as extras`

/** Selects the feedback of the message `m`. Null where there is none in the session. */
const feedbackOf = (sql: Sql, sessionId: string): Fragment => sql`
  case when m.role = 'assistant' and exists (select 1 from feedback where session_id = ${sessionId}) then (
    select jsonb_agg(jsonb_build_object(
             'by', f.given_by, 'name', nullif(f.name, ''), 'score', f.score, 'comment', f.comment,
             'createdAt', to_char(f.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
             'updatedAt', to_char(f.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by f.created_at)
      from feedback f where f.message_id = m.id) end`

export type MessageRow = FramesOrEnds &
  Pick<Message, 'id' | 'role' | 'finishReason' | 'model'> &
  Pick<ShownRow, 'first_seq' | 'content' | 'tool_events'> &
  Omit<UsageRow, 'usage_estimated' | 'facts'> & {
    position: number
    /** See `decodeFacts`. */
    facts: unknown
    /** The stored value: null where it is the position before. When absent, it is not read, see `listMessages`. */
    parent?: number | null
    /** See `isoOf`. */
    time: string
    /** Null when all of it is null, or false. */
    extras:
      | (Pick<Message, 'errorCode' | 'errorMessage' | 'errorDetail' | 'reasoning' | 'reasoningMs'> &
          Pick<UsageRow, 'usage_estimated'> & {
            waited: WaitedCall[] | null
            parts: PartRow[] | null
            feedback: GivenFeedback[] | null
          })
      | null
  }

/**
 * Reads a row field by field: spreading a row and its remainders took twice as long as all that PostgreSQL does for it.
 */
export function messageOf(
  sql: Sql,
  row: MessageRow,
  place: Pick<Message, 'agentId' | 'sessionId' | 'parentId'>,
): Message {
  const { extras, status, first_seq, content, tool_events, prompt_tokens, completion_tokens } = row
  const reasoning = extras?.reasoning ?? null
  const [frames, frame_ends] = row.status === 'streaming' ? [row.frames_or_ends, null] : [null, row.frames_or_ends]
  const shown = shownOf({ status, first_seq, content, frame_ends, tool_events, reasoning, frames })
  const offset = (seq: number) => offsetOf(shown, seq - (first_seq ?? 0))
  const last = lastModel(shown)
  const facts = decodeFacts(row.facts)
  return {
    id: row.id,
    agentId: place.agentId,
    sessionId: place.sessionId,
    parentId: place.parentId,
    role: row.role,
    content: shown.content,
    status,
    finishReason: row.finishReason,
    createdAt: isoOf(row.time),
    errorCode: extras?.errorCode ?? null,
    errorMessage: extras?.errorMessage ?? null,
    errorDetail: extras?.errorDetail ?? null,
    model: last?.model ?? row.model,
    reasoning: shown.reasoning,
    reasoningMs: extras?.reasoningMs ?? null,
    toolEvents: shown.others.map((tool) => ({ ...tool, offset: offset(tool.seq) })),
    parts: extras?.parts?.map((part) => partOf(sql, part)) ?? [],
    providerId: last?.providerId ?? facts?.providerId ?? null,
    // `extras` may be null where counts are no estimate.
    usage: storedUsage({
      prompt_tokens,
      completion_tokens,
      usage_estimated: extras === null ? false : extras.usage_estimated,
      facts: row.facts,
    }),
    facts,
    waited: extras?.waited ?? [],
    continuations: facts?.continuations ?? [],
    feedback: extras?.feedback ?? [],
    missingTools: missingIn(shown),
  }
}
