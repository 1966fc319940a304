/** Deploy sessions (specification 4.12): create, list, read, change, delete. */

import type { components } from '../../../../openapi/generated/schema.ts'
import { deriveTitle } from '../../../actors/history/title.ts'
import type { SessionHost } from '../../../actors/session/host.ts'
import { makeSession, moveHead } from '../../../features/branches/index.ts'
import { asCountedRequest, type LimitDependencies } from '../../../features/limits/index.ts'
import { type FeedDependencies, type Follower, sendChanges, tellPosition } from '../../../features/live-lists/index.ts'
import * as sessions from '../../../features/sessions/index.ts'
import { changeSession, type Session } from '../../../features/sessions/index.ts'
import {
  type Caller,
  callerLimits,
  callerName,
  type DeployHandlers,
  ownSession,
  refuseUsedMetadata,
  type UsedMetadataDependencies,
  userOf,
} from '../../../features/users/index.ts'
import { readPin } from '../../../features/versions/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import type { StorageLimits } from '../../../persistence/replies/sessions/storage-limits.ts'
import { changed } from '../../sending/refusals.ts'
import { HttpError, missing } from '../../server/http-error.ts'
import { listAs } from '../../server/paging/list.ts'
import { sessionsBelow } from '../shared/sessions-below.ts'
import { readMessages } from './chat-request.ts'
import { messageHandlers } from './messages.ts'

export interface SessionDependencies extends UsedMetadataDependencies, FeedDependencies, LimitDependencies {
  sql: Sql
  storage: StorageLimits
  host: SessionHost
}

export const wireSession = ({ headId, forkedFrom, parent, ...session }: Session) => ({
  id: session.id,
  agent_id: session.agentId,
  title: session.title,
  user: session.user,
  metadata: session.metadata,
  external_id: session.externalId,
  agent_version: session.agentVersion,
  archived: session.archived,
  pending: session.pending,
  head_id: headId,
  forked_from: forkedFrom && {
    session_id: forkedFrom.sessionId,
    message_id: forkedFrom.messageId,
    frame_id: forkedFrom.frameId,
  },
  parent: parent && {
    agent_id: parent.agentId,
    session_id: parent.sessionId,
    message_id: parent.messageId,
    call_id: parent.callId,
  },
  created_at: session.createdAt,
  updated_at: session.updatedAt,
})

/** Decides whether a list has children: those of client secrets have them only where they are asked for. */
const withChildren = ({ children }: { children?: 'true' | 'false' | undefined }, caller: Caller): boolean =>
  (children ?? (caller.kind === 'secret' ? 'false' : 'true')) === 'true'

/** Reads a session, and throws 404 when there is none. */
export const shownSession = async (sql: Sql, { agent_id, session_id }: Record<'agent_id' | 'session_id', string>) =>
  wireSession((await sessions.findSession(sql, agent_id, session_id)) ?? missing('session'))

const wireListed = ({ status, queued, ...session }: sessions.ListedSession) => ({
  ...wireSession(session),
  status,
  queued,
})

const followerOf = (caller: Caller): Follower => ({
  kind: caller.kind === 'secret' ? 'user' : 'key',
  id: callerName(caller),
})

/** Throws 403 for the version that a client secret names, whatever it is. */
function refusePin(caller: Caller, given: unknown): void {
  if (caller.kind === 'secret' && given !== undefined)
    throw new HttpError(403, 'agent_version: a client secret chooses no version')
}

/** Throws 403 for fields that a client secret cannot give a session. */
function refuseOthers(caller: Caller, { user, messages, agent_version }: components['schemas']['SessionCreate']): void {
  if (caller.kind !== 'secret') return
  if (user != null && user !== caller.user)
    throw new HttpError(403, 'user: a client secret makes sessions of its own user')
  refusePin(caller, agent_version)
  if (messages != null) throw new HttpError(403, 'messages: a history is given with the deploy key')
}

/**
 * Throws 403 for metadata that a client secret cannot give a session. A copy keeps its original's metadata unless it is
 * given its own.
 */
async function refuseMetadata(
  deps: SessionDependencies,
  caller: Caller,
  agentId: string,
  { metadata, of }: { metadata: Readonly<Record<string, string>> | null | undefined; of: string | undefined },
): Promise<void> {
  if (caller.kind !== 'secret' || metadata === undefined) return
  const own = () => (of === undefined ? null : ownSession(deps.sql, caller, { agent_id: agentId, session_id: of }))
  const stored = async () => (await own())?.metadata ?? {}
  await refuseUsedMetadata(deps, agentId, metadata ?? {}, stored, of ?? null)
}

export const sessionHandlers = (deps: SessionDependencies) => {
  const { sql, host } = deps
  return {
    createSession: async ({ params, body, caller, reply }) => {
      refuseOthers(caller, body)
      const { metadata, fork_of } = body
      if (metadata != null) await refuseMetadata(deps, caller, params.agent_id, { metadata, of: fork_of?.session_id })
      const messages = body.messages && readMessages(body.messages)
      const agentVersion = await readPin(sql, params.agent_id, body.agent_version, 'agent_version')
      const wanted = {
        ...body,
        agentVersion,
        user: userOf(caller) ?? body.user,
        externalId: body.external_id,
        messages,
      }
      const secretNumber = caller.kind === 'secret' ? caller.number : null
      const fork = body.fork_of && {
        sessionId: body.fork_of.session_id,
        owner: userOf(caller),
        messageId: body.fork_of.message_id,
        frameId: body.fork_of.frame_id,
      }
      const make = () => makeSession(deps, params.agent_id, wanted, { fork: fork ?? null, secretNumber })
      if (caller.kind !== 'secret') return wireSession(await make())
      const agent = (await deps.agents.find(params.agent_id)) ?? missing('agent')
      const { user } = caller
      return wireSession(await asCountedRequest(deps, { agent, user, counted: callerLimits(caller, reply) }, make))
    },
    listSessions: async ({ params, query, caller, reply }) => {
      await tellPosition(deps.sessionFeed, reply)
      return await listAs('sessions', query, async (page) => {
        const withParent = withChildren(query, caller)
        const found = await sessions.listSessions(sql, params.agent_id, { ...page, withParent, owner: userOf(caller) })
        const { items, total } = found ?? missing('agent')
        return { items: items.map(wireListed), total }
      })
    },
    listSessionChildren: ({ params, query }) => sessionsBelow(sql, params, query, wireListed),
    streamSessions: async ({ params: { agent_id: agentId }, query, caller, request, reply }) => {
      const agent = (await deps.agents.find(agentId)) ?? missing('agent')
      await sendChanges(
        deps,
        { request, reply },
        {
          agentId: agent.id,
          users: [userOf(caller), query.user ?? null],
          lastEventId: query.last_event_id,
          endsAt: caller.kind === 'secret' ? caller.expiresAt : null,
          children: withChildren(query, caller),
          show: wireListed,
          follower: followerOf(caller),
        },
      )
    },
    getSession: ({ params }) => shownSession(sql, params),
    updateSession: async ({ params, body, caller }) => {
      const { agent_id: agentId, session_id: sessionId } = params
      refusePin(caller, body.agent_version)
      await refuseMetadata(deps, caller, agentId, { metadata: body.metadata, of: sessionId })
      const agentVersion = await readPin(sql, agentId, body.agent_version, 'agent_version')
      const changes = { ...body, agentVersion, bySecret: caller.kind === 'secret' }
      return wireSession(
        changed(await changeSession(sql, agentId, sessionId, changes, deriveTitle, deps.storage), 'session'),
      )
    },
    ...messageHandlers(sql),
    moveHead: async ({ params, body }) =>
      wireSession(await moveHead(sql, params.agent_id, params.session_id, body.message_id)),
    deleteSession: async ({ params }) => {
      const { owners } = (await sessions.deleteSession(sql, params.agent_id, params.session_id)) ?? missing('session')
      host.forget([params.session_id.toLowerCase()], owners)
    },
  } satisfies DeployHandlers<'sessions'>
}
