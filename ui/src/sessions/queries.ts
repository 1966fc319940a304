/** The sessions of all agents: keys, reads, and what operators do with many. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'
import { queryClient } from '../query-client.ts'
import { serverNow } from '../shell/server-clock.ts'
import type { SessionFilters } from './query/filters.ts'
import { spanMs } from './query/query-text.ts'

export type SessionOverview = components['schemas']['SessionOverview']
export type SessionOverviewList = components['schemas']['SessionOverviewList']

/** Returns the filters as the server takes them: spans relative to now become moments. */
function asked({ older, newer, from, to, in: place, q, ...filters }: SessionFilters) {
  const ago = (span: string | undefined) => {
    const ms = span === undefined ? null : spanMs(span)
    return ms === null ? undefined : new Date(serverNow() - ms).toISOString()
  }
  // Both may be given: the later beginning and the earlier end.
  const begin = [ago(newer), from]
    .filter((one) => one !== undefined)
    .sort()
    .at(-1)
  const end = [ago(older), to].filter((one) => one !== undefined).sort()[0]
  // Titles hold no phrases.
  const words = q === undefined ? {} : place === 'messages' ? { in: place, q } : { q: q.replaceAll('"', '') }
  return { ...filters, ...words, ...(begin && { from: begin }), ...(end && { to: end }) }
}

/**
 * Returns the key of the query. A search in messages is not repeated with every change: the server reads up to 10,000
 * sessions for it.
 */
const keyOf = ({ text, in: place }: SessionFilters) => (text === undefined && place === undefined ? 'all' : 'searched')

/** Returns a page of all sessions, most recently updated first. `include`: with the newest reply of each. */
export const allSessions = (query: SessionFilters & { limit: number; offset?: number; include?: 'reply' }) =>
  queryOptions({
    queryKey: ['sessions', keyOf(query), query],
    queryFn: ({ signal }) => api.GET('/api/v1/sessions', { params: { query: asked(query) }, signal }),
  })

/** Returns how many there are of each status, whatever status the filters name. */
export const sessionCounts = ({ status: _, in: __, ...filters }: SessionFilters) =>
  queryOptions({
    queryKey: ['sessions', keyOf(filters), 'counts', filters],
    queryFn: ({ signal }) => api.GET('/api/v1/sessions/counts', { params: { query: asked(filters) }, signal }),
  })

const PREVIEWED = 6

/** Returns the newest messages of a session, oldest first. */
export const newestMessages = (agentId: string, sessionId: string) =>
  queryOptions({
    queryKey: ['sessions', 'all', 'preview', sessionId],
    queryFn: async ({ signal }) => {
      const params = { ...at(agentId, sessionId), query: { limit: PREVIEWED } }
      return (await api.GET(`${sessionPath}/messages`, { params, signal })).messages
    },
  })

const sessionPath = '/api/v1/agents/{agent_id}/playground/sessions/{session_id}'
const at = (agentId: string, sessionId: string) => ({ path: { agent_id: agentId, session_id: sessionId } })

export const oneSession = (agentId: string, sessionId: string) =>
  queryOptions({
    queryKey: ['sessions', 'one', sessionId],
    queryFn: ({ signal }) => api.GET(sessionPath, { params: at(agentId, sessionId), signal }),
  })

/** Requests at a time: a hundred at once would delay other users. */
const AT_ONCE = 4

/** Calls for each; rejects with the first refusal after all were tried. Whatever shows sessions is read again. */
export async function forEach<One>(sessions: readonly One[], act: (one: One) => Promise<unknown>): Promise<void> {
  const left = [...sessions]
  const failures: unknown[] = []
  const work = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      await act(next).catch((error: unknown) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  void queryClient.invalidateQueries({ queryKey: ['sessions'] })
  if (failures.length > 0) throw failures[0]
}

/** A session and the agent in whose playground it is. */
export type SessionPlace = Pick<SessionOverview, 'id' | 'agentId'>

export const stopAll = (sessions: readonly SessionPlace[]): Promise<void> =>
  forEach(sessions, ({ id, agentId }) => api.POST(`${sessionPath}/cancel`, { params: at(agentId, id) }))

/** Rejects what each waits for; the replies that follow, which tell the model so, go on by themselves. */
export const rejectAll = (sessions: readonly SessionOverview[]): Promise<void> =>
  forEach(sessions, async ({ id, agentId }) => {
    const { pending } = await api.GET(sessionPath, { params: at(agentId, id) })
    if (pending.length === 0) return
    const decisions = pending.map(({ call_id }) => ({ call_id, decision: 'reject' as const }))
    for await (const _ of api.playground(agentId).session(id).decide(decisions)) break
  })

export const archiveAll = (sessions: readonly SessionOverview[], archived: boolean): Promise<void> =>
  forEach(sessions, ({ id, agentId }) => api.PATCH(sessionPath, { params: at(agentId, id), body: { archived } }))

export const deleteAll = (sessions: readonly SessionOverview[]): Promise<void> =>
  forEach(sessions, ({ id, agentId }) => api.DELETE(sessionPath, { params: at(agentId, id) }))
