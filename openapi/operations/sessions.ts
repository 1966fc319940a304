import { operations } from '../operation.ts'
import { page } from '../schemas/basics.ts'
import { DeployMessages, DeploySession, DeploySessionList, SessionCreate } from '../schemas/chat.ts'

const all = '/api/v1/agents/{agent_id}/deploy/sessions'
const one = `${all}/{session_id}`
const unknown = 'There is no such session, or it belongs to another agent.'

export const sessions = operations({
  createSession: {
    method: 'post',
    path: all,
    scope: 'deploy',
    summary: 'Create a session',
    body: SessionCreate,
    bodyOptional: true,
    responses: { 201: DeploySession },
    errors: { 404: 'There is no such agent.' },
  },
  listSessions: {
    method: 'get',
    path: all,
    scope: 'deploy',
    summary: 'List all sessions of the agent, most recently updated first',
    description: 'Includes sessions created in the playground or by other callers.',
    query: page,
    responses: { 200: DeploySessionList },
    errors: { 404: 'There is no such agent.' },
  },
  getSession: {
    method: 'get',
    path: one,
    scope: 'deploy',
    summary: 'Read a session',
    responses: { 200: DeploySession },
    errors: { 404: unknown },
  },
  listSessionMessages: {
    method: 'get',
    path: `${one}/messages`,
    scope: 'deploy',
    summary: 'Read the messages of a session, oldest first',
    responses: { 200: DeployMessages },
    errors: { 404: unknown },
  },
  deleteSession: {
    method: 'delete',
    path: one,
    scope: 'deploy',
    summary: 'Delete a session and all its messages',
    description: 'A running reply is cancelled; its streams end with the error chunk `session_deleted`.',
    responses: { 204: null },
    errors: { 404: unknown },
  },
})
