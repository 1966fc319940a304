import { operations } from '../../operation.ts'
import { CreatedShare, ShareCreate, ShareList } from '../../schemas/conversation/shares.ts'

const all = '/api/v1/agents/{agent_id}/deploy/sessions/{session_id}/shares'
const unknown = 'There is no such session.'
const forbidden = 'Users of this agent do not share their sessions.'

export const shares = operations({
  createShare: {
    method: 'post',
    path: all,
    scope: 'deploy',
    secret: 'session',
    summary: 'Share a session with whoever has the link',
    description:
      'The token reads this session and opens nothing else. A client secret may share where the agent allows it.',
    body: ShareCreate,
    refusesUnknown: true,
    bodyOptional: true,
    responses: { 201: CreatedShare },
    errors: { 403: forbidden, 404: unknown, 409: 'The session has fifty shares.' },
  },
  listShares: {
    method: 'get',
    path: all,
    scope: 'deploy',
    secret: 'session',
    summary: 'List the shares of a session, newest first',
    responses: { 200: ShareList },
    errors: { 403: forbidden, 404: unknown },
  },
  deleteShare: {
    method: 'delete',
    path: `${all}/{share_id}`,
    scope: 'deploy',
    secret: 'session',
    summary: 'Revoke a share',
    description: 'Its streams end within two seconds; replies run on.',
    responses: { 204: null },
    errors: { 403: forbidden, 404: 'There is no such session or share.' },
  },
})
