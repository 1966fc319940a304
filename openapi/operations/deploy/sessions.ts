import { operations } from '../../operation.ts'
import { HeadChange } from '../../schemas/conversation/branches.ts'
import { DeployMessages } from '../../schemas/conversation/replies.ts'
import {
  DeploySession,
  DeploySessionEvent,
  DeploySessionList,
  messagePage,
  SessionChange,
  SessionCreate,
  SessionGone,
  sessionPage,
  sessionStream,
} from '../../schemas/conversation/sessions.ts'
import { noMoreSessions } from '../../schemas/limits.ts'

const all = '/api/v1/agents/{agent_id}/deploy/sessions'
const one = `${all}/{session_id}`
const unknown = 'There is no such session, or it belongs to another agent.'

export const sessions = operations({
  createSession: {
    method: 'post',
    path: all,
    scope: 'deploy',
    secret: 'user',
    summary: 'Create a session',
    description:
      'With a client secret it gets the user of the secret; another `user`, or `messages`, in the body: 403.',
    body: SessionCreate,
    refusesUnknown: true,
    bodyOptional: true,
    responses: { 201: DeploySession },
    errors: {
      404: 'There is no such agent, or no such session to fork.',
      409: 'The `id` or `external_id` is taken.',
      429: noMoreSessions,
    },
  },
  listSessions: {
    method: 'get',
    refusesUnknown: true,
    path: all,
    scope: 'deploy',
    secret: 'user',
    summary: 'List all sessions of the agent, most recently updated first',
    description:
      'Includes sessions created in the playground or by other callers. A client secret lists those of its user.',
    query: sessionPage,
    responses: { 200: DeploySessionList },
    errors: { 404: 'There is no such agent.' },
  },
  streamSessions: {
    method: 'get',
    refusesUnknown: true,
    path: `${all}/stream`,
    scope: 'deploy',
    secret: 'user',
    summary: 'Follow the sessions of the agent',
    description:
      'An event `session` for each change of title, status, metadata, head or queue, with the session as it is then; of a deleted one its `id` and `deleted`. Ids rise in the order of the changes and are good for 30 days. The header `x-last-event-id` of a list is the id behind which this goes on. A client secret follows the sessions of its user, until it expires.',
    query: sessionStream,
    headers: { 'Last-Event-ID': 'The last id received. From now on by default.' },
    streams: 'only',
    events: [DeploySessionEvent, SessionGone],
    responses: { 200: null },
    errors: {
      404: 'There is no such agent.',
      429: 'The user of the client secret follows eight lists of the agent already, or the key sixty-four.',
      503: 'Sessions are being written for long: try again.',
    },
  },
  getSession: {
    method: 'get',
    path: one,
    scope: 'deploy',
    secret: 'session',
    share: true,
    summary: 'Read a session',
    responses: { 200: DeploySession },
    errors: { 404: unknown },
  },
  updateSession: {
    method: 'patch',
    path: one,
    scope: 'deploy',
    secret: 'session',
    summary: 'Change the title or the metadata of a session',
    description: 'A change brings the session to the top of the list; `archived` alone does not.',
    body: SessionChange,
    refusesUnknown: true,
    responses: { 200: DeploySession },
    errors: { 404: unknown },
  },
  listSessionMessages: {
    method: 'get',
    refusesUnknown: true,
    pieces: true,
    path: `${one}/messages`,
    scope: 'deploy',
    secret: 'session',
    share: true,
    summary: 'Read the messages of a session, oldest first',
    description:
      'Those on the path to its head, or of all branches. `limit` alone gives the newest ones. An id that is none of a message of this session: 400.',
    query: messagePage,
    responses: { 200: DeployMessages },
    errors: { 404: unknown, 413: 'Without a `limit`: it holds more than 32 MiB.' },
  },
  getMessagePart: {
    method: 'get',
    path: `${one}/messages/{message_id}/parts/{n}`,
    scope: 'deploy',
    secret: 'session',
    share: true,
    summary: 'Read a picture or file of a message',
    description: 'What `url` of its `parts` names. Sent to be saved, with the media type that its bytes begin as.',
    bytes: true,
    responses: { 200: null },
    errors: { 404: 'There is no such session, message or part.' },
  },
  moveHead: {
    method: 'post',
    path: `${one}/head`,
    scope: 'deploy',
    secret: 'session',
    summary: "Turn a session's path to another branch",
    description: 'It does not count as an update in lists. An unknown message: 400.',
    body: HeadChange,
    responses: { 200: DeploySession },
    errors: { 404: unknown, 409: 'A reply or a compaction is running, or calls wait.' },
  },
  deleteSession: {
    method: 'delete',
    path: one,
    scope: 'deploy',
    secret: 'session',
    summary: 'Delete a session and all its messages',
    description: 'A running reply is cancelled; its streams end with the error chunk `session_deleted`.',
    responses: { 204: null },
    errors: { 404: unknown },
  },
})
