/** Child sessions as rows: made, begun, ended (contract section 30). */
import type { Sql } from '../../../persistence/postgres/database.ts'
import type { Owner } from '../../../persistence/replies/admission/admission-answer.ts'
import { limitColumns, type StorageLimits } from '../../../persistence/replies/sessions/storage-limits.ts'

/** A call that makes a session. */
export interface ChildCall {
  sessionId: string
  userId: string
  replyId: string
  agentId: string
  /** The session and the reply that call, and the call's place among those of the reply. */
  parentSession: string
  parentReply: string
  place: number
  callId: string
  message: string
  title: string | null
  /** The number of MCP calls in a row that led to the call. */
  mcpDepth: number
}

/** `open`: the session is there. Else why there is none: `over` stands for a reply that has ended. */
export type Opened =
  | 'open'
  | 'over'
  | 'too_many'
  | 'too_deep'
  | 'no_agent'
  | 'session_full'
  | 'user_full'
  | `limit ${string}`

/** The end of a child, or (`waiting`) that it asks something, or waits for one that does. */
export interface ChildState {
  sessionId: string
  state: 'ended' | 'deleted' | 'removed' | 'waiting'
  content: string | null
  finishReason: string | null
  errorCode: string | null
  errorMessage: string | null
}

export interface ToEnd {
  replyId: string
  instanceId: string
}

/** Bytes of a result, at most. A character has at least one. */
const MOST_CHARACTERS = 256 * 1024

export interface ChildStoreOptions {
  sql: Sql
  owner(): Owner
  limits: StorageLimits
  /** The start of a child's reply, and the request of its message, as they are stored. */
  texts: { start: string; input: string }
}

/** Returns the arguments of open_child.sql. */
function childRow(made: ChildCall, { limits, texts }: Pick<ChildStoreOptions, 'limits' | 'texts'>) {
  const { max_user_sessions: _, ...most } = limitColumns(limits)
  const call = {
    session_id: made.sessionId,
    user_id: made.userId,
    reply_id: made.replyId,
    agent_id: made.agentId,
    parent_session: made.parentSession,
    parent_reply: made.parentReply,
    place: made.place,
    call_id: made.callId,
    title: made.title,
    facts: { overrides: null, start: texts.start, ...(made.mcpDepth > 0 && { depth: made.mcpDepth }) },
    ...most,
  }
  return { call, text: made.message, input: texts.input }
}

/** Creates the store. All reject while the database is away, and may be repeated. */
export const createChildStore = ({ sql, owner, ...options }: ChildStoreOptions) => ({
  async open(made: ChildCall): Promise<Opened> {
    const { call, text, input } = childRow(made, options)
    const [row] = await sql<{ opened: Opened }[]>`
      select open_child(${JSON.stringify(call)}::text::jsonb, ${text}, ${input}) as opened`
    if (row === undefined) throw new Error('open_child returned no row')
    return row.opened
  },
  /** Returns the row of store_along.sql that does the same. */
  rowOf: (made: ChildCall): object => childRow(made, options),
  /** Begins children of a reply, or (null) of all. Resolves to the replies that begin here. */
  async begin(parentReply: string | null, most: number): Promise<string[]> {
    const { id, epoch } = owner()
    if (epoch === 0) return []
    const rows = await sql<{ replyId: string }[]>`
      select begin_children(${id}, ${epoch}, ${parentReply}, ${most}) as "replyId"`
    return rows.map(({ replyId }) => replyId)
  },
  /** Returns how these have ended, of those that have, and which of the others ask something. */
  states: (sessionIds: readonly string[]): Promise<ChildState[]> => sql<ChildState[]>`
    select session_id as "sessionId", state, content, finish_reason as "finishReason", error_code as "errorCode",
           error_message as "errorMessage"
      from child_ends(${[...sessionIds]}::text[]::uuid[], ${MOST_CHARACTERS})
     union all
    select w.id, 'waiting', null, null, null, null from waiting_children(${[...sessionIds]}::text[]::uuid[]) as w (id)`,
  /** Ends the children of replies that have ended. Resolves to the replies that are to end. */
  end: (): Promise<ToEnd[]> => sql<ToEnd[]>`
    select reply_id as "replyId", instance_id as "instanceId" from end_children()`,
  /**
   * Ends a child that waits, or what runs below a session that waits. Both are read before, and named: a cancel that arrives
   * late ends nothing that has begun since. Resolves to the replies that are to end.
   */
  async cancel(sessionId: string): Promise<ToEnd[]> {
    const [wait] = await sql<{ id: string; running: string[] }[]>`
      select w.reply_id as id,
             array(select m.id from messages m
                    where m.session_id = any(sessions_below(array[w.session_id])) and m.status = 'streaming')::text[] as running
        from waits w where w.session_id = ${sessionId}`
    if (wait === undefined) return []
    return await sql<ToEnd[]>`
      select reply_id as "replyId", instance_id as "instanceId"
        from cancel_wait(${sessionId}, ${wait.id}, ${wait.running}::text[]::uuid[])`
  },
  /** Has the replies follow whose children ask nothing any more. */
  async follow(): Promise<void> {
    await sql`select follow_children()`
  },
  /** Returns how many calls lead to a session from the top. */
  async depth(sessionId: string): Promise<number> {
    const [row] = await sql<{ depth: number }[]>`select depth from children where session_id = ${sessionId}`
    return row?.depth ?? 0
  },
})

export type ChildStore = ReturnType<typeof createChildStore>
