import Type from 'typebox'
import { operations } from '../../operation.ts'
import { searchPage } from '../../schemas/basics.ts'
import { PlaygroundFrames, PlaygroundHeadChange } from '../../schemas/conversation/branches.ts'
import { ActionsRequest, ChatCompletion, completionEvents, resumedStream } from '../../schemas/conversation/chat.ts'
import { PlaygroundCheckpoint, PlaygroundCheckpointList } from '../../schemas/conversation/checkpoints.ts'
import {
  PlaygroundChatRequest,
  PlaygroundMessages,
  PlaygroundSession,
  PlaygroundSessionChange,
  PlaygroundSessionList,
} from '../../schemas/conversation/playground.ts'
import { CancelRequest, PlaygroundQueue } from '../../schemas/conversation/queue.ts'
import { messagePage, PlaygroundSessionCreate, sessionFilters } from '../../schemas/conversation/sessions.ts'

const base = '/api/v1/agents/{agent_id}/playground'
const one = `${base}/sessions/{session_id}`
const unknown = 'There is no such session, or it belongs to another agent.'
const noAgent = 'There is no such agent.'
const frames =
  'Frames are those of deploy sessions, with ids; the named events `tool_call`, `tool_result` and `state` between them have none.'

export const playground = operations({
  listPlaygroundSessions: {
    method: 'get',
    refusesUnknown: true,
    path: `${base}/sessions`,
    scope: 'management',
    summary: 'List the sessions of an agent, most recently updated first',
    query: Type.Object({ ...searchPage.properties, ...sessionFilters }),
    responses: { 200: PlaygroundSessionList },
    errors: { 404: noAgent },
  },
  createPlaygroundSession: {
    method: 'post',
    path: `${base}/sessions`,
    scope: 'management',
    summary: 'Create a session',
    body: PlaygroundSessionCreate,
    bodyOptional: true,
    responses: { 201: PlaygroundSession },
    errors: { 404: 'There is no such agent, or no such session to fork.' },
  },
  getPlaygroundSession: {
    method: 'get',
    path: one,
    scope: 'management',
    summary: 'Read a session',
    responses: { 200: PlaygroundSession },
    errors: { 404: unknown },
  },
  updatePlaygroundSession: {
    method: 'patch',
    path: one,
    scope: 'management',
    summary: 'Change the title of a session',
    description: 'A change brings the session to the top of the list.',
    body: PlaygroundSessionChange,
    responses: { 200: PlaygroundSession },
    errors: { 404: unknown },
  },
  deletePlaygroundSession: {
    method: 'delete',
    path: one,
    scope: 'management',
    summary: 'Delete a session and all its messages',
    responses: { 204: null },
    errors: { 404: unknown },
  },
  listPlaygroundMessages: {
    method: 'get',
    refusesUnknown: true,
    pieces: true,
    path: `${one}/messages`,
    scope: 'management',
    summary: 'Read the messages of a session, oldest first, with their tool calls',
    query: messagePage,
    responses: { 200: PlaygroundMessages },
    errors: { 404: unknown, 413: 'Without a `limit`: it holds more than 32 MiB.' },
  },
  listPlaygroundFrames: {
    method: 'get',
    refusesUnknown: true,
    path: `${one}/messages/{message_id}/frames`,
    scope: 'management',
    summary: 'Where each frame of a reply ends in its content, to fork at',
    description: 'From the role frame on. A message without frames has none.',
    responses: { 200: PlaygroundFrames },
    errors: { 404: 'There is no such message in this session.' },
  },
  getPlaygroundPart: {
    method: 'get',
    path: `${one}/messages/{message_id}/parts/{n}`,
    scope: 'management',
    summary: 'Read a picture or file of a message',
    bytes: true,
    responses: { 200: null },
    errors: { 404: 'There is no such session, message or part.' },
  },
  movePlaygroundHead: {
    method: 'post',
    path: `${one}/head`,
    scope: 'management',
    summary: "Turn a session's path to another branch",
    description: 'It does not count as an update in lists. An unknown message: 400.',
    body: PlaygroundHeadChange,
    responses: { 200: PlaygroundSession },
    errors: { 404: unknown, 409: 'A reply or a compaction is running, or calls wait.' },
  },
  createPlaygroundChat: {
    method: 'post',
    path: `${base}/chat`,
    scope: 'management',
    summary: 'Send a message, optionally with other settings and tools',
    description: `The response header \`x-session-id\` is the id of the session. ${frames}`,
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
    summary: "Follow the session's newest reply, from any frame",
    description: `${frames} No reply yet: 204.`,
    ...resumedStream,
    errors: { 404: unknown },
  },
  createPlaygroundActions: {
    method: 'post',
    path: `${one}/actions`,
    scope: 'management',
    summary: 'Decide all calls that wait in a session',
    description: `As on the deploy API. With \`stream\`: ${frames}`,
    headers: {
      'Idempotency-Key':
        'Up to 255 characters, kept for 24 hours. The same key and body joins the first reply; another body: 400.',
    },
    body: ActionsRequest,
    streams: 'also',
    events: completionEvents,
    responses: { 200: ChatCompletion },
    errors: {
      404: unknown,
      409: 'Nothing waits, somebody else has decided, or a reply is running; nothing was stored.',
      503: 'Draining, or too many running replies; see `Retry-After`.',
    },
  },
  cancelPlaygroundChat: {
    method: 'post',
    path: `${one}/cancel`,
    scope: 'management',
    summary: 'Cancel the running reply, if any',
    description: 'The next queued message begins.',
    body: CancelRequest,
    bodyOptional: true,
    responses: { 204: null },
    errors: { 404: unknown },
  },
  compactPlaygroundSession: {
    method: 'post',
    path: `${one}/compact`,
    scope: 'management',
    summary: 'Summarise the older part of a session now',
    description: 'As on the deploy API. Nothing to summarise: 400.',
    responses: { 200: PlaygroundCheckpoint },
    errors: {
      400: 'There is nothing to summarise.',
      404: unknown,
      409: 'A reply or another compaction is running, or calls wait.',
      500: 'The summary failed, or was cancelled.',
      503: 'Draining, or too many running replies; see `Retry-After`.',
    },
  },
  listPlaygroundCheckpoints: {
    method: 'get',
    refusesUnknown: true,
    path: `${one}/checkpoints`,
    scope: 'management',
    summary: 'List the summaries of a session',
    responses: { 200: PlaygroundCheckpointList },
    errors: { 404: unknown },
  },
  listPlaygroundQueue: {
    method: 'get',
    refusesUnknown: true,
    path: `${one}/queue`,
    scope: 'management',
    summary: 'List the messages that wait for the replies before them',
    responses: { 200: PlaygroundQueue },
    errors: { 404: unknown },
  },
  removePlaygroundQueued: {
    method: 'delete',
    path: `${one}/queue/{message_id}`,
    scope: 'management',
    summary: 'Take a message out of the queue',
    description: 'Its waiting request gets the error chunk `dequeued`.',
    responses: { 204: null },
    errors: { 404: 'There is no such session, or no such message waits in it (any more).' },
  },
})
