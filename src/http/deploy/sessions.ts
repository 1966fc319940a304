/** Deploy sessions (specification 4.12): create, list, read, change, delete. */
import type { SessionHost } from '../../actors/session-host.ts'
import { deriveTitle } from '../../actors/title.ts'
import type { Sql } from '../../persistence/postgres/database.ts'
import { changeSession } from '../../persistence/replies/session-changes.ts'
import type { MessageQuery, Session } from '../../persistence/replies/sessions.ts'
import * as sessions from '../../persistence/replies/sessions.ts'
import { missing } from '../http-error.ts'
import { listAs } from '../list.ts'
import { pageOf } from '../message-page.ts'
import type { Handlers } from '../mount.ts'
import { makeSession } from '../new-session.ts'
import { readMessages } from './chat-request.ts'

export interface SessionRooms {
  sql: Sql
  host: SessionHost
}

const wireSession = ({ id, agentId, title, user, metadata, createdAt, updatedAt }: Session) => ({
  id,
  agent_id: agentId,
  title,
  user,
  metadata,
  created_at: createdAt,
  updated_at: updatedAt,
})

export const sessionHandlers = ({ sql, host }: SessionRooms) =>
  ({
    createSession: async ({ params, body }) =>
      wireSession(
        await makeSession(sql, params.agent_id, { ...body, messages: body.messages && readMessages(body.messages) }),
      ),
    listSessions: ({ params, query }) =>
      listAs('sessions', query, async (page) => {
        const found = (await sessions.listSessions(sql, params.agent_id, page)) ?? missing('agent')
        return { items: found.items.map(wireSession), total: found.total }
      }),
    getSession: async ({ params }) =>
      wireSession((await sessions.findSession(sql, params.agent_id, params.session_id)) ?? missing('session')),
    updateSession: async ({ params, body }) =>
      wireSession(
        (await changeSession(sql, params.agent_id, params.session_id, body, deriveTitle)) ?? missing('session'),
      ),
    listSessionMessages: async ({ params, query }) => {
      const list = (page: MessageQuery) => sessions.listMessages(sql, params.agent_id, params.session_id, page)
      const messages = (await pageOf(query, list)) ?? missing('session')
      return {
        messages: messages.map(({ id, sessionId, role, content, status, finishReason, createdAt }) => ({
          id,
          session_id: sessionId,
          role,
          content,
          status,
          finish_reason: finishReason,
          created_at: createdAt,
        })),
      }
    },
    deleteSession: async ({ params }) => {
      const { owners } = (await sessions.deleteSession(sql, params.agent_id, params.session_id)) ?? missing('session')
      host.forget([params.session_id.toLowerCase()], owners)
    },
  }) satisfies Handlers<'sessions'>
