/** The chart, what runs on it, and what ran: keys and reads. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'
import type { Chart, Step } from './step.ts'

type Schemas = components['schemas']
export type Actor = Schemas['LiveActors']['actors'][number]
export type Message = Schemas['PlaygroundMessage']

/** Returns what an id out of a log belongs to: a session, a reply, or the request that began one. */
export const foundById = (id: string) =>
  queryOptions({
    queryKey: ['chart', 'find', id],
    queryFn: ({ signal }) => api.GET('/api/v1/debug/find', { params: { query: { id } }, signal }),
    retry: false,
  })

/** The machine: it changes only with a new version of the server. */
export const chartQuery = queryOptions({
  queryKey: ['chart', 'machine'],
  queryFn: async ({ signal }): Promise<Chart> => {
    const chart = await api.GET('/api/v1/debug/chart', { signal })
    if ('transitions' in chart) return chart
    throw new Error('The chart came in a form that was not asked for.')
  },
  staleTime: 300_000,
})

/** Returns the chart as Mermaid's `stateDiagram-v2`. */
export async function mermaidChart(): Promise<string> {
  const response = await fetch('/api/v1/debug/chart?format=mermaid')
  if (!response.ok) throw new Error('The chart could not be read.')
  return response.text()
}

/** Returns the query of the live actors. `everyMs` false: read once, not polled. */
export const actorsQuery = (everyMs: number | false) =>
  queryOptions({
    queryKey: ['chart', 'actors'],
    queryFn: ({ signal }) => api.GET('/api/v1/debug/actors', { signal }),
    refetchInterval: everyMs,
  })

/** Returns the query of a session's readers, polled: for a session that runs. */
export const readersQuery = (sessionId: string) =>
  queryOptions({
    queryKey: ['chart', 'readers', sessionId],
    queryFn: ({ signal }) =>
      api.GET('/api/v1/debug/sessions/{id}/readers', { params: { path: { id: sessionId } }, signal }),
    refetchInterval: 1_000,
  })

const stepsPath = '/api/v1/debug/sessions/{id}/transitions'

const stepsPage = (id: string, offset: number, signal: AbortSignal) =>
  api.GET(stepsPath, { params: { path: { id }, query: { limit: 100, offset } }, signal })

/** Returns the newest hundred steps at most, oldest of them first. */
export async function newestSteps(id: string, signal: AbortSignal): Promise<Step[]> {
  const { transitions, total } = await stepsPage(id, 0, signal)
  return total <= 100 ? transitions : (await stepsPage(id, total - 100, signal)).transitions
}

export const allSteps = (id: string) =>
  queryOptions({
    queryKey: ['chart', 'steps', id],
    queryFn: async ({ signal }) => {
      const all: Step[] = []
      for (;;) {
        const { transitions, total } = await stepsPage(id, all.length, signal)
        all.push(...transitions)
        if (transitions.length === 0 || all.length >= total) return all
      }
    },
  })

/** Returns the query of a reply that has ended, read once; undefined where it is none of the newest. */
export const replyQuery = (agentId: string, sessionId: string, messageId: string) =>
  queryOptions({
    queryKey: ['chart', 'reply', messageId],
    queryFn: async ({ signal }) => {
      const path = { agent_id: agentId, session_id: sessionId }
      const call = api.GET('/api/v1/agents/{agent_id}/playground/sessions/{session_id}/messages', {
        params: { path, query: { limit: 5 } },
        signal,
      })
      return (await call).messages.find(({ id }) => id === messageId) ?? null
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Returns the query of the messages of every branch: a step shows the path of its own reply. */
export const messagesOf = (agentId: string, sessionId: string) =>
  queryOptions({
    queryKey: ['chart', 'messages', sessionId],
    queryFn: async ({ signal }) => {
      const path = { agent_id: agentId, session_id: sessionId }
      const call = api.GET('/api/v1/agents/{agent_id}/playground/sessions/{session_id}/messages', {
        params: { path, query: { branches: 'all' } },
        signal,
      })
      return (await call).messages
    },
  })
