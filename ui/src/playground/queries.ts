/** Sessions and their messages at the server: keys, reads and writes. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { ApiError, api } from '../api.ts'
import { queryClient } from '../query-client.ts'
import { conversationOf } from './transcript/branches.ts'

export type Session = components['schemas']['PlaygroundSession']
export type Message = components['schemas']['PlaygroundMessage']
export type ToolCall = Message['toolCalls'][number]
export type Checkpoint = components['schemas']['PlaygroundCheckpoint']
export type PendingCall = Session['pending'][number]
export type Decision = components['schemas']['Decision']

const pageLimit = 30
const listPath = '/api/v1/agents/{agent_id}/playground/sessions'

/**
 * Returns the query of the newest sessions, polled: changes by other windows and the API's callers are seen here first.
 */
export const newestSessions = (agentId: string) =>
  queryOptions({
    queryKey: ['sessions', 'newest', agentId],
    queryFn: ({ signal }) =>
      api.GET(listPath, { params: { path: { agent_id: agentId }, query: { limit: pageLimit } }, signal }),
    refetchInterval: 3_000,
  })

/** The filters of the sidebar's list; empty: none. */
export interface SessionSearch {
  /** A part of the title. */
  q: string
  /** The whole name. */
  user: string
}

/** Returns the query of the sidebar's list, most recently used first. */
export const sessionList = (agentId: string, { q, user }: SessionSearch) =>
  infiniteQueryOptions({
    queryKey: ['sessions', 'list', agentId, q, user],
    initialPageParam: 0,
    queryFn: ({ client, pageParam, signal }) => {
      // The first page of all is what was just polled, or is being polled.
      if (pageParam === 0 && q === '' && user === '') {
        return client.fetchQuery({ ...newestSessions(agentId), staleTime: 1_000 })
      }
      const query = { limit: pageLimit, offset: pageParam, ...(q !== '' && { q }), ...(user !== '' && { user }) }
      return api.GET(listPath, { params: { path: { agent_id: agentId }, query }, signal })
    },
    getNextPageParam: ({ total, offset, sessions }) =>
      offset + sessions.length < total && sessions.length > 0 ? offset + sessions.length : undefined,
  })

export const messageList = (agentId: string, sessionId: string) =>
  queryOptions({
    queryKey: ['sessions', 'messages', agentId, sessionId],
    queryFn: async ({ signal }) => {
      const path = { agent_id: agentId, session_id: sessionId }
      const [{ headId }, { messages }] = await Promise.all([
        api.GET(`${listPath}/{session_id}`, { params: { path }, signal }),
        api.GET(`${listPath}/{session_id}/messages`, { params: { path, query: { branches: 'all' } }, signal }),
      ])
      return conversationOf(messages, headId)
    },
  })

/** Returns the query of the summaries that are sent in place of older messages. */
export const checkpointList = (agentId: string, sessionId: string) =>
  queryOptions({
    queryKey: ['sessions', 'checkpoints', agentId, sessionId],
    queryFn: async ({ signal }) => {
      const path = { agent_id: agentId, session_id: sessionId }
      return (await api.GET(`${listPath}/{session_id}/checkpoints`, { params: { path }, signal })).checkpoints
    },
  })

/** Returns the query of the frames' ends in the text of a reply. They change only while the reply runs. */
export const framesOf = (agentId: string, sessionId: string, messageId: string) =>
  queryOptions({
    queryKey: ['sessions', 'frames', messageId],
    queryFn: async ({ signal }) => {
      const path = { agent_id: agentId, session_id: sessionId, message_id: messageId }
      return (await api.GET(`${listPath}/{session_id}/messages/{message_id}/frames`, { params: { path }, signal }))
        .frames
    },
  })

/** Turns the path to another branch. */
export async function turnTo(agentId: string, sessionId: string, messageId: string): Promise<void> {
  const path = { agent_id: agentId, session_id: sessionId }
  await api.POST(`${listPath}/{session_id}/head`, { params: { path }, body: { messageId } })
  await queryClient.invalidateQueries({ queryKey: messageList(agentId, sessionId).queryKey })
}

/** The conversation that a session copies; `messageId` null: all of the path. */
export interface ForkOf {
  sessionId: string
  messageId: string | null
  frameId: number | null
}

/** Resolves to the id of a new session with a copy of the path up to there; null: an empty one. */
export async function createSession(agentId: string, forkOf: ForkOf | null): Promise<string> {
  const { id } = await api.POST(listPath, { params: { path: { agent_id: agentId } }, body: { forkOf } })
  sessionsChanged(agentId)
  return id
}

/** Refetches the lists: first the newest sessions, with which the sidebar's list begins. */
export const sessionsChanged = (agentId: string): void => {
  void queryClient.invalidateQueries({ queryKey: newestSessions(agentId).queryKey })
  void queryClient.invalidateQueries({ queryKey: ['sessions', 'list', agentId] })
}

export const messagesChanged = (agentId: string, sessionId: string): void => {
  void queryClient.invalidateQueries({ queryKey: messageList(agentId, sessionId).queryKey })
  void queryClient.invalidateQueries({ queryKey: pendingCalls(agentId, sessionId).queryKey })
  void queryClient.invalidateQueries({ queryKey: checkpointList(agentId, sessionId).queryKey })
  void queryClient.invalidateQueries({ queryKey: ['sessions', 'waiting'] })
  // What the model was sent grows with each of a reply's turns.
  void queryClient.invalidateQueries({ queryKey: ['replies', 'requests'] })
}

/** Returns the pending calls. */
export const pendingCalls = (agentId: string, sessionId: string) =>
  queryOptions({
    queryKey: ['sessions', 'pending', agentId, sessionId],
    queryFn: async ({ signal }) => {
      const path = { agent_id: agentId, session_id: sessionId }
      return (await api.GET(`${listPath}/{session_id}`, { params: { path }, signal })).pending
    },
  })

/** Renames the session. When `title` is null, the title is derived from the first message again. */
export async function renameSession({ agentId, id }: Session, title: string | null): Promise<void> {
  const path = { agent_id: agentId, session_id: id }
  await api.PATCH(`${listPath}/{session_id}`, { params: { path }, body: { title } })
  await queryClient.invalidateQueries({ queryKey: ['sessions'] })
}

/** Marks the session as archived, or takes the mark away. */
export async function archiveSession({ agentId, id }: Session, archived: boolean): Promise<void> {
  const path = { agent_id: agentId, session_id: id }
  await api.PATCH(`${listPath}/{session_id}`, { params: { path }, body: { archived } })
  await queryClient.invalidateQueries({ queryKey: ['sessions'] })
}

export async function deleteSession(agentId: string, sessionId: string): Promise<void> {
  const path = { agent_id: agentId, session_id: sessionId }
  await api.DELETE(`${listPath}/{session_id}`, { params: { path } })
  queryClient.removeQueries({ queryKey: messageList(agentId, sessionId).queryKey })
  void queryClient.invalidateQueries({ queryKey: ['sessions', 'searched'] })
  sessionsChanged(agentId)
}

/** Resolves once the reply is settled, or after 2 s. */
export async function cancelReply(agentId: string, sessionId: string): Promise<void> {
  const path = { agent_id: agentId, session_id: sessionId }
  await api.POST(`${listPath}/{session_id}/cancel`, { params: { path } })
}

/** Stops the session that answers a call, also one that has not begun. Resolves as `cancelReply` does. */
export async function stopChild(agentId: string, sessionId: string): Promise<void> {
  const path = { agent_id: agentId, session_id: sessionId }
  await api.POST(`${listPath}/{session_id}/cancel`, { params: { path }, body: { queue: 'clear' } })
}

/** Returns the error of a refused decision. If its calls wait no longer, another decision came first. */
export const decisionProblem = (error: unknown): unknown =>
  isTooLate(error) ? new ApiError(409, 'Somebody else has decided meanwhile.') : error

/**
 * Returns whether a decision came too late: a reply runs, nothing waits, or the reply that followed the other decision
 * waits for calls of its own.
 */
const isTooLate = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status === 409 || (error.status === 400 && error.message.startsWith('decisions: nothing waits under the id')))
