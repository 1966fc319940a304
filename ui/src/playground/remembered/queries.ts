/** The decisions that are remembered for a session, and for its user. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../../openapi/generated/schema.ts'
import { api } from '../../api.ts'
import { queryClient } from '../../query-client.ts'
import type { Session } from '../queries.ts'

export type Remembered = components['schemas']['KnownDecision']

/** The parameter of the address that names the decision to be shown; `all`: none is meant. */
export const decisionParam = 'decision'

const ofSession = '/api/v1/agents/{agent_id}/playground/sessions/{session_id}/decisions'
const ofUser = '/api/v1/agents/{agent_id}/users/{user}/decisions'
const at = ({ agentId, id }: Session) => ({ agent_id: agentId, session_id: id })

export const rememberedIn = (session: Session) =>
  queryOptions({
    queryKey: ['remembered', session.id],
    queryFn: async ({ signal }): Promise<Remembered[]> => {
      const { agentId, user } = session
      const [own, users] = await Promise.all([
        api.GET(ofSession, { params: { path: at(session) }, signal }),
        user === null ? null : api.GET(ofUser, { params: { path: { agent_id: agentId, user } }, signal }),
      ])
      return [...own.decisions, ...(users?.decisions ?? [])]
    },
  })

export async function revokeDecision(session: Session, { id, remember }: Remembered): Promise<void> {
  const { agentId, user } = session
  if (remember === 'session' || user === null)
    await api.DELETE(`${ofSession}/{decision_id}`, { params: { path: { ...at(session), decision_id: id } } })
  else await api.DELETE(`${ofUser}/{decision_id}`, { params: { path: { agent_id: agentId, user, decision_id: id } } })
  await queryClient.invalidateQueries({ queryKey: rememberedIn(session).queryKey })
}
