/** Making a session, with what its caller gives it to begin with, or with a copy of another one's path. */
import type { GivenMessage, GivenSummary } from '../../../actors/ports/index.ts'
import { newId } from '../../../actors/reply/new-id.ts'
import { codeOf, type Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import {
  type Full,
  limitColumns,
  noLimits,
  type StorageLimits,
} from '../../../persistence/replies/sessions/storage-limits.ts'
import { jsonText } from '../../../persistence/replies/settling/stored-reply.ts'
import { admittedParts } from '../../parts/index.ts'
import { findSession, type Session, sessionColumns } from '../../sessions/index.ts'
import { bytesOfSummary, givenRows } from './given-messages.ts'

/** A session to create. Absent or null fields are empty. */
export interface NewSession {
  /** A UUID. When absent, one is made. */
  id?: string | null | undefined
  title?: string | null | undefined
  /** A model's title may replace it. */
  titleIsDraft?: boolean
  user?: string | null | undefined
  metadata?: Readonly<Record<string, string>> | null | undefined
  externalId?: string | null | undefined
  /** The version of the agent that its replies use. Null for the live one; absent: a copy's is that of its original. */
  agentVersion?: number | null | undefined
  /** A history to begin with, oldest first. */
  messages?: readonly GivenMessage[] | null | undefined
  /** The summary of what was before these messages. */
  summary?: GivenSummary | undefined
}

/** A conversation to begin with a copy of (contract section 14). */
export interface Fork {
  sessionId: string
  /** The user whose session it must be. Null for any user. */
  owner: string | null
  /** The last message to copy; absent or null for the head. */
  messageId?: string | null | undefined
  /** The frame up to which its reply is copied; absent or null for all that is stored. */
  frameId?: number | null | undefined
}

/** The conversation cannot be copied: `no_frame` is no frame that a reader of the last message had. */
export type NoFork = 'no_session' | 'unknown_message' | 'no_frame'

export interface Making {
  secretNumber?: number | null
  limits?: StorageLimits
}

/**
 * Creates a session. Returns null if there is no such agent. `taken`: another session has the id, or the external id.
 * Given messages are complete and have no frames: `first_seq` distinguishes replies of the session's own.
 * `secretNumber`: of the client secret that creates it for its user. `revoked`: that user's secrets were revoked.
 */
export async function createSession(
  sql: Sql,
  agentId: string,
  session: NewSession = {},
  { secretNumber = null, limits = noLimits }: Making = {},
): Promise<Session | 'taken' | 'revoked' | Full | null> {
  try {
    return await insertSession(sql, agentId, session, { secretNumber, limits })
  } catch (error) {
    if (codeOf(error) === SECRET_REVOKED) return 'revoked'
    throw error
  }
}

/** The SQLSTATE that check_client_secret.sql raises. */
const SECRET_REVOKED = 'GR401'
/** The SQLSTATE that fork_session.sql raises. */
const TOO_LARGE = 'GR413'

/**
 * Makes a session like `createSession`. What the new one does not set is taken from the other session. Resolves to null when
 * there is no such agent.
 */
export async function forkSession(
  sql: Sql,
  agentId: string,
  { id, title, user, metadata, agentVersion }: Omit<NewSession, 'messages' | 'summary' | 'externalId'>,
  { sessionId, owner, messageId, frameId }: Fork,
  { secretNumber = null, limits = noLimits }: Making = {},
): Promise<Session | 'taken' | 'revoked' | Full | NoFork | null> {
  if (!isUuid(agentId)) return null
  if (!isUuid(sessionId)) return 'no_session'
  if (messageId != null && !isUuid(messageId)) return 'unknown_message'
  const made = id ?? newId()
  const fork = jsonText({
    id: made,
    agent_id: agentId,
    title,
    end_user: user,
    metadata,
    secret_number: secretNumber,
    from: sessionId,
    owner,
    message_id: messageId,
    frame_id: frameId,
    agent_version: agentVersion,
    ...limitColumns(limits),
  })
  try {
    const [row] = await sql<{ outcome: 'made' | 'taken' | 'too_many_sessions' | 'no_agent' | NoFork }[]>`
      select fork_session(${fork}::text::jsonb) as outcome`
    const outcome = row?.outcome ?? 'no_agent'
    if (outcome === 'no_agent') return null
    return outcome === 'made' ? await findSession(sql, agentId, made) : outcome
  } catch (error) {
    if (codeOf(error) === TOO_LARGE) return String(error).includes('user_full') ? 'user_full' : 'session_full'
    if (codeOf(error) === SECRET_REVOKED) return 'revoked'
    throw error
  }
}

async function insertSession(
  sql: Sql,
  agentId: string,
  session: NewSession,
  { secretNumber, limits }: Required<Making>,
): Promise<Session | 'taken' | Full | null> {
  if (!isUuid(agentId)) return null
  const {
    id,
    title = null,
    titleIsDraft = false,
    user = null,
    metadata,
    externalId = null,
    messages,
    summary,
  } = session
  const { agentVersion = null } = session
  const { rows: given, bytes: ofMessages } = givenRows(messages ?? [], admittedParts)
  const before = summary && { id: newId(), ...summary }
  const ofHistory = ofMessages + bytesOfSummary(summary)
  const bytes = ofHistory + (metadata ? Buffer.byteLength(jsonText(metadata)) : 0)
  if (bytes > (limits.sessionBytes ?? Number.POSITIVE_INFINITY)) return 'session_full'
  const isGood =
    secretNumber === null ? sql`` : sql`and check_client_secret(${agentId}, ${user ?? ''}, ${secretNumber})`
  const [row] = await sql<
    { known: boolean; isFull: boolean; bytesFull: boolean; session: Session | null; begun: number }[]
  >`
    with agent as (select a.id from agents a where a.id = ${agentId} ${isGood} for key share),
    free as (
      select user_full(agent.id, ${user}, ${bytes}, ${bytes === 0 ? null : limits.userBytes}, true) as is_full,
             coalesce(free_sessions(agent.id, ${user}, ${limits.userSessions}), 1) as places
        from agent),
    made as (
      insert into sessions (id, agent_id, title, title_is_draft, end_user, metadata, uncounted, external_id, agent_version, bytes)
      select ${id ?? newId()}, agent.id, ${title}, ${titleIsDraft}, ${user}, given.metadata,
             case when ${secretNumber !== null} then uncounted_metadata(given.metadata, '{}') else '{}' end, ${externalId}, ${agentVersion}, ${ofHistory} + metadata_bytes(given.metadata)
        from agent join free on free.places > 0 and not free.is_full cross join (select ${jsonText(metadata ?? {})}::text::jsonb as metadata) given
      on conflict do nothing
      returning ${sessionColumns(sql)}
    ), begun as (
      select begin_session(made.id, ${jsonText({ messages: given, summary: before })}::text::jsonb)
        from made where ${given.length > 0 || before !== undefined})
    select exists (select 1 from agent) as known, exists (select 1 from free where places < 1) as "isFull",
           exists (select 1 from free where is_full) as "bytesFull",
           (select to_jsonb(made) from made) as session, (select count(*)::integer from begun) as begun`
  if (!row?.known) return null
  if (row.bytesFull) return 'user_full'
  if (row.isFull) return 'too_many_sessions'
  if (row.session === null) return 'taken'
  // The statement does not see its own messages.
  return { ...row.session, headId: given.at(-1)?.id ?? null }
}
