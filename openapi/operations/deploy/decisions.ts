import { operations } from '../../operation.ts'
import { RememberedDecisions } from '../../schemas/conversation/remembered.ts'

const session = '/api/v1/agents/{agent_id}/deploy/sessions/{session_id}/decisions'
const user = '/api/v1/agents/{agent_id}/deploy/users/{user}/decisions'
const unknown = 'There is no such decision, or it belongs to another session, user or agent.'
const forbidden = 'A client secret reaches what its user has, and revokes no rejection that it did not make.'

export const decisions = operations({
  listSessionDecisions: {
    method: 'get',
    path: session,
    scope: 'deploy',
    secret: 'session',
    summary: 'List the decisions that are remembered for a session, newest first',
    responses: { 200: RememberedDecisions },
    errors: { 404: 'There is no such session.' },
  },
  revokeSessionDecision: {
    method: 'delete',
    path: `${session}/{decision_id}`,
    scope: 'deploy',
    secret: 'session',
    summary: 'Revoke a decision: calls that it covered wait again',
    responses: { 204: null },
    errors: { 403: forbidden, 404: unknown },
  },
  listUserDecisions: {
    method: 'get',
    path: user,
    scope: 'deploy',
    secret: 'handler',
    summary: 'List the decisions that are remembered for a user, newest first',
    description: 'An unknown user has none.',
    responses: { 200: RememberedDecisions },
    errors: { 403: forbidden, 404: 'There is no such agent.' },
  },
  revokeUserDecision: {
    method: 'delete',
    path: `${user}/{decision_id}`,
    scope: 'deploy',
    secret: 'handler',
    summary: 'Revoke a decision: calls that it covered wait again',
    responses: { 204: null },
    errors: { 403: forbidden, 404: unknown },
  },
})
