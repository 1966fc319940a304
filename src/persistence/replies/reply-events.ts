/** Messages with all that their replies emitted, in order: for readers that show where in a text a tool was called. */
import type { ReplyEvent } from '../../actors/reply-event.ts'
import type { Sql } from '../postgres/database.ts'
import { type EventRow, eventsOf, framesOf } from './stored-reply.ts'

export interface MessageWithEvents {
  id: string
  role: 'user' | 'assistant'
  status: 'complete' | 'streaming' | 'error'
  content: string
  /** Of a reply: each run of text, or of reasoning, is one event. */
  events: ReplyEvent[]
}

/** Those of a session, oldest first. One statement, one snapshot. */
export async function listMessagesWithEvents(sql: Sql, sessionId: string): Promise<MessageWithEvents[]> {
  const rows = await sql<(EventRow & Pick<MessageWithEvents, 'id' | 'role'>)[]>`
    select m.id, m.role, m.status, m.first_seq, m.content, m.frame_ends, m.tool_events, m.reasoning,
           m.reasoning_frames, m.reasoning_ends, ${framesOf(sql)}
      from messages m where m.session_id = ${sessionId} order by m.position`
  return rows.map((row) => ({
    id: row.id,
    role: row.role,
    status: row.status,
    content: row.content,
    events: runsOf(row),
  }))
}

function runsOf(row: EventRow): ReplyEvent[] {
  // Messages that a session was given have no frames.
  const isGiven = row.status !== 'streaming' && row.frame_ends === null
  if (isGiven) return row.content === '' ? [] : [{ type: 'text', text: row.content }]
  return joinedRuns(eventsOf(row).map(({ event }) => event))
}

function joinedRuns(events: readonly ReplyEvent[]): ReplyEvent[] {
  const joined: ReplyEvent[] = []
  let texts: string[] = []
  for (const [index, event] of events.entries()) {
    if (event.type !== 'text' && event.type !== 'reasoning') joined.push(event)
    else {
      texts.push(event.text)
      if (events[index + 1]?.type === event.type) continue
      joined.push({ type: event.type, text: texts.join('') })
      texts = []
    }
  }
  return joined
}
