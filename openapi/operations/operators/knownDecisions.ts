import { operations } from '../../operation.ts'
import { KnownDecisions } from '../../schemas/conversation/remembered.ts'

const session = '/api/v1/agents/{agent_id}/playground/sessions/{session_id}/decisions'
const user = '/api/v1/agents/{agent_id}/users/{user}/decisions'
const unknown = 'There is no such decision, or it belongs to another session, user or agent.'

const listed = (path: string, summary: string) => ({
  method: 'get' as const,
  path,
  scope: 'management' as const,
  role: 'editor' as const,
  summary,
  responses: { 200: KnownDecisions },
  errors: { 404: 'There is no such agent or session.' },
})
const revoked = (path: string) => ({
  method: 'delete' as const,
  path: `${path}/{decision_id}`,
  scope: 'management' as const,
  role: 'editor' as const,
  summary: 'Revoke a decision: calls that it covered wait again',
  responses: { 204: null },
  errors: { 404: unknown },
})

export const knownDecisions = operations({
  listPlaygroundDecisions: listed(session, 'List the decisions that are remembered for a session, newest first'),
  revokePlaygroundDecision: revoked(session),
  listKnownUserDecisions: listed(user, 'List the decisions that are remembered for a user, newest first'),
  revokeKnownUserDecision: revoked(user),
})
