/** Replays of an agent at the server. */
import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'
import { queryClient } from '../query-client.ts'
import type { Replay, ReplayCase, Verdict } from './types.ts'

export const PAGE = 20
const AGAIN_MS = 1_000

/** Returns the path of the page of an agent's replays, or of one of them. */
export const replaysPath = (agentId: string, replayId?: string): string =>
  `/replays/${agentId}${replayId === undefined ? '' : `/${replayId}`}`

export const replayList = (id: string, offset: number) =>
  queryOptions({
    queryKey: ['replays', id, offset],
    queryFn: ({ signal }) =>
      api.GET('/api/v1/agents/{id}/replays', { params: { path: { id }, query: { limit: PAGE, offset } }, signal }),
    refetchInterval: ({ state }) => (state.data?.replays.some(isRunning) ? AGAIN_MS : false),
  })

/** Returns a replay with a page of its cases, read again while it runs. */
export const oneReplay = (id: string, replay_id: string, offset: number) =>
  queryOptions({
    queryKey: ['replays', id, replay_id, offset],
    queryFn: ({ signal }) => {
      const params = { path: { id, replay_id }, query: { limit: PAGE, offset } }
      return api.GET('/api/v1/agents/{id}/replays/{replay_id}', { params, signal })
    },
    refetchInterval: ({ state }) => (state.data && isRunning(state.data) ? AGAIN_MS : false),
  })

const isRunning = ({ status }: Pick<Replay, 'status'>): boolean => status === 'running'

const changed = () => queryClient.invalidateQueries({ queryKey: ['replays'] })

export interface Wanted {
  version: number | 'draft'
  /** Of the newest replies; null: whether or not anybody has said anything. */
  feedback: 'up' | 'down' | 'any' | null
  limit: number
}

/** Reports whether no reply of an agent can be asked again, for want of such feedback or of any reply. */
export const nothingToReplay = (agentId: string, feedback: Wanted['feedback']) =>
  queryOptions({
    queryKey: ['replays', agentId, 'nothing', feedback],
    queryFn: async ({ signal }) => {
      const query = { agentId, children: 'true' as const, limit: 1, ...(feedback !== null && { feedback }) }
      return (await api.GET('/api/v1/sessions', { params: { query }, signal })).sessions.length === 0
    },
    staleTime: 0,
  })

export const startReplay = (id: string, { version, feedback, limit }: Wanted): Promise<Replay> =>
  api
    .POST('/api/v1/agents/{id}/replays', {
      params: { path: { id } },
      body: { version, replies: { limit, ...(feedback !== null && { feedback }) } },
    })
    .finally(changed)

export const cancelReplay = (id: string, replay_id: string): Promise<unknown> =>
  api.POST('/api/v1/agents/{id}/replays/{replay_id}/cancel', { params: { path: { id, replay_id } } }).finally(changed)

/** Says which reply is better; null takes it back. The comment stays. */
export const judge = (
  id: string,
  replay_id: string,
  { messageId, comment }: Pick<ReplayCase, 'messageId' | 'comment'>,
  verdict: Verdict | null,
): Promise<unknown> =>
  api
    .PUT('/api/v1/agents/{id}/replays/{replay_id}/cases/{message_id}', {
      params: { path: { id, replay_id, message_id: messageId } },
      body: { verdict, comment },
    })
    .finally(changed)
