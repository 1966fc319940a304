import Type from 'typebox'
import { operations } from '../../operation.ts'
import { ConnectionsExport, DecisionsExport, SessionExport } from '../../schemas/deploy/client-secrets.ts'

const one = '/api/v1/agents/{agent_id}/deploy/users/{user}'
const unknown = 'There is no such agent.'

export const users = operations({
  revokeUser: {
    method: 'post',
    path: `${one}/revoke`,
    scope: 'deploy',
    summary: "Refuse all of a user's client secrets that were made until now",
    description:
      'On every instance within 2 s, in which their open streams end too. Replies run on, sessions stay, and secrets that are made afterwards are good.',
    responses: { 204: null },
    errors: { 404: unknown },
  },
  deleteUser: {
    method: 'delete',
    path: one,
    scope: 'deploy',
    summary: "Revoke a user's client secrets, and delete all of the user's sessions with this agent",
    description:
      'As `revokeUser` and `deleteSession` do. A session that a revoked secret is making elsewhere goes too.',
    responses: { 204: null },
    errors: { 404: unknown },
  },
  exportUser: {
    method: 'get',
    path: `${one}/export`,
    scope: 'deploy',
    summary: "Read all of a user's sessions with this agent, with their messages",
    description:
      'One line of JSON a session, oldest first, each followed by the sessions below it; then one of the decisions that are remembered for the user, and one of the MCP servers that the user has signed in at, each where there are some. An unknown user: no line.',
    lines: Type.Union([SessionExport, DecisionsExport, ConnectionsExport]),
    responses: { 200: null },
    errors: { 404: unknown },
  },
})
