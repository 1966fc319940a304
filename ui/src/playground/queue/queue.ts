/** Messages that wait while a reply runs: sent, read and taken back. */
import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api.ts'
import { queryClient } from '../../query-client.ts'
import type { ChatRequest } from '../connection/connection-machine.ts'

const path = '/api/v1/agents/{agent_id}/playground/sessions/{session_id}/queue'
const keyOf = (agentId: string, sessionId: string) => ['sessions', 'queue', agentId, sessionId]
const namesOf = (agent_id: string, session_id: string) => ({ agent_id, session_id })

/** Returns the query of the queue. While a reply runs, or a message waits, others may change it too. */
export const queueList = (agentId: string, sessionId: string, isRunning: boolean) =>
  queryOptions({
    queryKey: keyOf(agentId, sessionId),
    queryFn: ({ signal }) => api.GET(path, { params: { path: namesOf(agentId, sessionId) }, signal }),
    refetchInterval: ({ state }) => (isRunning || (state.data?.queue.length ?? 0) > 0 ? 1000 : false),
  })

export const queueChanged = (agentId: string, sessionId: string) =>
  queryClient.invalidateQueries({ queryKey: keyOf(agentId, sessionId) })

export const removeQueued = (agentId: string, sessionId: string, message_id: string) =>
  api.DELETE(`${path}/{message_id}`, { params: { path: { ...namesOf(agentId, sessionId), message_id } } })

/** Whether a message that waits lets the reply end, or is to end it at its next boundary. */
export type OnBusy = 'enqueue' | 'steer'

/** Resolves once the server has the message. Its reply is followed when it begins, like one that another window began. */
export async function queueMessage(
  agentId: string,
  sessionId: string,
  { message, configOverrides, sessionId: _, regenerate: __, messageId: ___, parentId, ...tools }: ChatRequest,
  onBusy: OnBusy,
): Promise<void> {
  const isTaken = new AbortController()
  const reply = api
    .playground(agentId)
    .session(sessionId)
    .send(message ?? '', {
      ...tools,
      overrides: configOverrides ?? {},
      ...(parentId === undefined ? {} : { parentId }),
      onBusy,
      signal: isTaken.signal,
      onConnection: (state) => state === 'open' && isTaken.abort(),
    })
  await reply.text().catch((error: unknown) => {
    if (!isTaken.signal.aborted) throw error
  })
  await queueChanged(agentId, sessionId)
}
