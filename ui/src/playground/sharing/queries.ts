/** The shares of a session. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../../openapi/generated/schema.ts'
import { api } from '../../api.ts'
import { queryClient } from '../../query-client.ts'
import type { Session } from '../queries.ts'

export type Share = components['schemas']['PlaygroundShare']
export type CreatedShare = components['schemas']['CreatedPlaygroundShare']
export type ShareInput = components['schemas']['PlaygroundShareCreate']

const path = '/api/v1/agents/{agent_id}/playground/sessions/{session_id}/shares'
const at = ({ agentId, id }: Session) => ({ agent_id: agentId, session_id: id })

export const sharesOf = (session: Session) =>
  queryOptions({
    queryKey: ['shares', session.id],
    queryFn: async ({ signal }) => (await api.GET(path, { params: { path: at(session) }, signal })).shares,
  })

const changed = ({ id }: Session) => queryClient.invalidateQueries({ queryKey: ['shares', id] })

export async function createShare(session: Session, body: ShareInput): Promise<CreatedShare> {
  const made = await api.POST(path, { params: { path: at(session) }, body })
  void changed(session)
  return made
}

export async function revokeShare(session: Session, shareId: string): Promise<void> {
  await api.DELETE(`${path}/{share_id}`, { params: { path: { ...at(session), share_id: shareId } } })
  await changed(session)
}
