import Type from 'typebox'
import { type Operation, operations } from '../../operation.ts'
import { searchPage } from '../../schemas/basics.ts'
import { PlaygroundFrames, PlaygroundHeadChange } from '../../schemas/conversation/branches.ts'
import { ChatCompletion, completionEvents, resumedStream } from '../../schemas/conversation/chat.ts'
import { PlaygroundCheckpoint, PlaygroundCheckpointList } from '../../schemas/conversation/checkpoints.ts'
import { FeedbackRequest, PlaygroundFeedback } from '../../schemas/conversation/feedback.ts'
import {
  PlaygroundChatRequest,
  PlaygroundMessages,
  PlaygroundSession,
  PlaygroundSessionChange,
  PlaygroundSessionList,
} from '../../schemas/conversation/playground.ts'
import { PlaygroundQueue } from '../../schemas/conversation/queue.ts'
import { PlaygroundSessionCreate, sessionFilters } from '../../schemas/conversation/sessions.ts'
import {
  CreatedPlaygroundShare,
  PlaygroundShareCreate,
  PlaygroundShareList,
} from '../../schemas/conversation/shares.ts'
import { sessionCompletions } from '../deploy/sessionCompletions.ts'
import { sessions } from '../deploy/sessions.ts'
import { shares } from '../deploy/shares.ts'

const base = '/api/v1/agents/{agent_id}/playground'
const one = `${base}/sessions/{session_id}`
const unknown = 'There is no such session, or it belongs to another agent.'
const frames =
  'Frames are those of deploy sessions, with ids; the named events `tool_call`, `tool_result` and `state` between them have none.'

/**
 * Declares an operation on deploy sessions a second time, in the playground. The description is not copied: it explains
 * the deploy API to callers.
 */
function inPlayground(
  { path, secret: _, share: __, description: ___, ...shared }: Operation,
  changes: Partial<Operation> = {},
): Operation {
  return { ...shared, path: path.replace('/deploy/', '/playground/'), scope: 'management', role: 'editor', ...changes }
}

const feedbackPath = '/api/v1/agents/{agent_id}/playground/sessions/{session_id}/messages/{message_id}/feedback'

export const playground = operations({
  putPlaygroundFeedback: {
    method: 'put',
    path: feedbackPath,
    scope: 'management',
    role: 'editor',
    summary: 'Say what you think of a reply',
    description: 'One for each name and reply, beside that of the session’s user.',
    body: FeedbackRequest,
    responses: { 200: PlaygroundFeedback },
    errors: {
      404: 'There is no such session or message.',
      409: 'The reply is still running.',
      413: 'The session, or its user, holds too much.',
    },
  },
  deletePlaygroundFeedback: {
    method: 'delete',
    path: feedbackPath,
    scope: 'management',
    role: 'editor',
    summary: 'Take your own feedback back',
    responses: { 204: null },
    errors: { 404: 'There is no such session or message.' },
  },
  listPlaygroundSessions: inPlayground(sessions.listSessions, {
    summary: 'List the sessions of an agent, most recently updated first',
    query: Type.Object({ ...searchPage.properties, ...sessionFilters }),
    responses: { 200: PlaygroundSessionList },
  }),
  createPlaygroundSession: inPlayground(sessions.createSession, {
    body: PlaygroundSessionCreate,
    responses: { 201: PlaygroundSession },
    errors: { 404: 'There is no such agent, or no such session to fork.' },
  }),
  listPlaygroundSessionChildren: inPlayground(sessions.listSessionChildren, {
    responses: { 200: PlaygroundSessionList },
  }),
  getPlaygroundSession: inPlayground(sessions.getSession, { responses: { 200: PlaygroundSession } }),
  updatePlaygroundSession: inPlayground(sessions.updateSession, {
    summary: 'Change the title of a session',
    description: 'A change brings the session to the top of the list; `archived` alone does not.',
    body: PlaygroundSessionChange,
    responses: { 200: PlaygroundSession },
  }),
  deletePlaygroundSession: inPlayground(sessions.deleteSession),
  listPlaygroundMessages: inPlayground(sessions.listSessionMessages, {
    shows: 'session_id',
    summary: 'Read the messages of a session, oldest first, with their tool calls',
    responses: { 200: PlaygroundMessages },
  }),
  listPlaygroundFrames: {
    method: 'get',
    refusesUnknown: true,
    path: `${one}/messages/{message_id}/frames`,
    scope: 'management',
    shows: 'session_id',
    role: 'editor',
    summary: 'Where each frame of a reply ends in its content, to fork at',
    description: 'From the role frame on. A message without frames has none.',
    responses: { 200: PlaygroundFrames },
    errors: { 404: 'There is no such message in this session.' },
  },
  getPlaygroundPart: inPlayground(sessions.getMessagePart, { shows: 'session_id' }),
  movePlaygroundHead: inPlayground(sessions.moveHead, {
    description: 'It does not count as an update in lists. An unknown message: 400.',
    body: PlaygroundHeadChange,
    responses: { 200: PlaygroundSession },
  }),
  createPlaygroundChat: {
    method: 'post',
    path: `${base}/chat`,
    scope: 'management',
    role: 'editor',
    summary: 'Send a message, optionally with other settings and tools',
    description: `The response header \`x-session-id\` is the id of the session. ${frames}`,
    headers: {
      'Idempotency-Key':
        'Up to 255 characters, kept for 24 hours. The same key and body joins the first reply; another body: 400.',
    },
    takesParts: true,
    body: PlaygroundChatRequest,
    streams: 'only',
    events: completionEvents,
    responses: { 200: null },
    errors: {
      404: 'There is no such agent or session.',
      409: 'A reply is running (see `onBusy`), or twenty messages wait.',
      503: 'Draining, or too many running replies; see `Retry-After`.',
    },
  },
  resumePlaygroundChat: {
    method: 'get',
    path: `${one}/stream`,
    scope: 'management',
    shows: 'session_id',
    role: 'editor',
    summary: "Follow the session's newest reply, from any frame",
    description: `${frames} No reply yet: 204.`,
    ...resumedStream,
    errors: { 404: unknown },
  },
  createPlaygroundActions: inPlayground(sessionCompletions.createSessionActions, {
    description: `As on the deploy API. With \`stream\`: ${frames}`,
    responses: { 200: Type.Union([ChatCompletion, PlaygroundSession]) },
    errors: {
      404: unknown,
      409: 'Nothing waits, somebody else has decided one of the calls, or a reply is running; nothing was stored.',
      503: 'Draining, or too many running replies; see `Retry-After`.',
    },
  }),
  cancelPlaygroundChat: inPlayground(sessionCompletions.cancelSessionCompletion, {
    path: `${one}/cancel`,
    description: 'The next queued message begins.',
  }),
  compactPlaygroundSession: inPlayground(sessionCompletions.compactSession, {
    description: 'As on the deploy API. Nothing to summarise: 400.',
    responses: { 200: PlaygroundCheckpoint },
    errors: {
      400: 'There is nothing to summarise.',
      404: unknown,
      409: 'A reply or another compaction is running, or calls wait.',
      500: 'The summary failed, or was cancelled.',
      503: 'Draining, or too many running replies; see `Retry-After`.',
    },
  }),
  listPlaygroundCheckpoints: inPlayground(sessionCompletions.listCheckpoints, {
    shows: 'session_id',
    responses: { 200: PlaygroundCheckpointList },
  }),
  createPlaygroundShare: inPlayground(shares.createShare, {
    body: PlaygroundShareCreate,
    responses: { 201: CreatedPlaygroundShare },
    errors: { 404: unknown, 409: 'The session has fifty shares.' },
  }),
  listPlaygroundShares: inPlayground(shares.listShares, {
    responses: { 200: PlaygroundShareList },
    errors: { 404: unknown },
  }),
  deletePlaygroundShare: inPlayground(shares.deleteShare, { errors: { 404: 'There is no such session or share.' } }),
  listPlaygroundQueue: inPlayground(sessionCompletions.listSessionQueue, {
    shows: 'session_id',
    responses: { 200: PlaygroundQueue },
  }),
  removePlaygroundQueued: inPlayground(sessionCompletions.removeQueuedMessage, {
    description: 'Its waiting request gets the error chunk `dequeued`.',
  }),
})
