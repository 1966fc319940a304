/** Waiting sessions of all agents. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { ApiError, api } from '../api.ts'
import { type Decision, decisionProblem } from '../playground/queries.ts'
import { queryClient } from '../query-client.ts'
import { forEach } from '../sessions/queries.ts'

type Overview = components['schemas']['SessionOverview']
export type WaitingSession = Overview & Pick<components['schemas']['PlaygroundSession'], 'pending'>

export const PAGE = 20

const waitingPage = (limit: number, offset: number, signal: AbortSignal) =>
  api.GET('/api/v1/sessions', { params: { query: { status: 'waiting', limit, offset } }, signal })

/** The number of waiting sessions; polled, for the menu. */
export const waitingCount = queryOptions({
  queryKey: ['sessions', 'waiting', 'count'],
  queryFn: async ({ signal }) => (await waitingPage(1, 0, signal)).total,
  refetchInterval: 5_000,
})

/**
 * Returns a page of the sessions, those that have waited longest first. The server lists the newest first, and a
 * waiting session is not updated any more: the oldest are the last ones of its list.
 */
export const waitingSessions = (offset: number) =>
  queryOptions({
    queryKey: ['sessions', 'waiting', offset],
    queryFn: async ({ signal }) => {
      const { total } = await waitingPage(1, 0, signal)
      const end = Math.max(0, total - offset)
      const begin = Math.max(0, end - PAGE)
      const page = end === begin ? [] : (await waitingPage(end - begin, begin, signal)).sessions
      const found = await Promise.all(page.reverse().map((one) => withPending(one, signal)))
      return { sessions: found.filter((one) => one !== null), total }
    },
    refetchInterval: 5_000,
  })

const path = '/api/v1/agents/{agent_id}/playground/sessions/{session_id}'

/** A session that waits is not updated; what is decided of it elsewhere is seen within this time. */
const KNOWN_MS = 60_000

/** Returns the query of what a session waits for. It is read once while it waits, not with each reading of the list. */
const pendingOf = ({ id, agentId, updatedAt }: Overview, signal: AbortSignal) =>
  queryOptions({
    queryKey: ['sessions', 'waiting', 'pending', id, updatedAt],
    queryFn: () => api.GET(path, { params: { path: { agent_id: agentId, session_id: id } }, signal }),
    staleTime: KNOWN_MS,
  })

/** Returns null when it is gone, or waits no more. */
async function withPending(one: Overview, signal: AbortSignal): Promise<WaitingSession | null> {
  try {
    const { pending } = await queryClient.fetchQuery(pendingOf(one, signal))
    return pending.length === 0 ? null : { ...one, pending }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

/** Resolves once the reply that follows has begun: it goes on by itself. */
async function begin({ id, agentId }: WaitingSession, decisions: readonly Decision[]): Promise<void> {
  try {
    for await (const _ of api.playground(agentId).session(id).decide(decisions)) break
  } catch (error) {
    throw decisionProblem(error)
  }
}

export const decide = (session: WaitingSession, decisions: readonly Decision[]): Promise<void> =>
  forEach([session], () => begin(session, decisions))

export const approveAll = (sessions: readonly WaitingSession[]): Promise<void> =>
  forEach(sessions, (session) =>
    begin(
      session,
      session.pending.map(({ call_id }) => ({ call_id, decision: 'approve' })),
    ),
  )
