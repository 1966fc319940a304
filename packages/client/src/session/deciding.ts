/** Decisions that begin no reply here. */
import type { Calls } from '../calls.ts'
import type { DeploySession } from './session.ts'
/** Returns the decisions that begin no reply here: a part of what waits, and what is remembered. */
export const deciding = (
  calls: Calls,
  agentId: string,
  create: () => Promise<string>,
): Pick<DeploySession, 'decideSome' | 'decisions' | 'revoke'> => {
  const path = '/api/v1/agents/{agent_id}/deploy/sessions'
  const params = async () => ({ params: { path: { agent_id: agentId, session_id: await create() } } })
  return {
    async decideSome(decisions, { idempotencyKey } = {}) {
      const body = { decisions: [...decisions] }
      const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }
      const answer = await calls.POST(`${path}/{session_id}/actions`, { ...(await params()), body, headers })
      return 'pending' in answer ? answer.pending : []
    },
    async decisions() {
      return (await calls.GET(`${path}/{session_id}/decisions`, await params())).decisions
    },
    async revoke(decisionId) {
      const at = { path: { ...(await params()).params.path, decision_id: decisionId } }
      await calls.DELETE(`${path}/{session_id}/decisions/{decision_id}`, { params: at })
    },
  }
}
