import Type from 'typebox'
import { operations } from '../../operation.ts'
import {
  ActionsRequest,
  ChatCompletion,
  completionEvents,
  resumedStream,
  SessionCompletionRequest,
} from '../../schemas/conversation/chat.ts'
import { Checkpoint, CheckpointList } from '../../schemas/conversation/checkpoints.ts'
import { CancelRequest, Queue } from '../../schemas/conversation/queue.ts'
import { DeploySession } from '../../schemas/conversation/sessions.ts'
import { overLimit } from '../../schemas/limits.ts'

const session = '/api/v1/agents/{agent_id}/deploy/sessions/{session_id}'
const path = `${session}/chat/completions`
const unknown = 'There is no such session, or it belongs to another agent.'

export const sessionCompletions = operations({
  createSessionCompletion: {
    method: 'post',
    path,
    scope: 'deploy',
    secret: 'handler',
    summary: 'Send the next user message of a session',
    description:
      'History comes from the session; the message and the reply are stored. The reply continues when the client disconnects, and every frame of its stream has an id to resume from.',
    headers: {
      'Idempotency-Key':
        'Up to 255 characters, kept for 24 hours. The same key and body joins the first reply; another body: 400.',
    },
    takesParts: true,
    body: SessionCompletionRequest,
    streams: 'also',
    events: completionEvents,
    responses: { 200: ChatCompletion },
    errors: {
      404: unknown,
      409: 'A reply is running (see `on_busy`), twenty messages wait, the message was taken out of the queue, or a result came for no call that waits; nothing was stored. `x-should-retry: false`.',
      429: overLimit,
      500: 'The generation failed: `x-should-retry: false`. Without that, it may be unknown whether the message is stored.',
      503: 'Draining, or too many running replies; see `Retry-After`.',
    },
  },
  createSessionActions: {
    method: 'post',
    path: `${session}/actions`,
    scope: 'deploy',
    secret: 'handler',
    summary: 'Decide calls that wait in a session',
    description:
      'Where all is decided, the answer is a completion: a new reply, which makes the approved calls first. Its frames have the next ids. While other calls are left, the decisions are stored, and the answer is the session. Of several deciders of a call one wins, the others get 409.',
    headers: {
      'Idempotency-Key':
        'Up to 255 characters, kept for 24 hours. The same key and body joins the first reply; another body: 400.',
    },
    body: ActionsRequest,
    streams: 'also',
    events: completionEvents,
    responses: { 200: Type.Union([ChatCompletion, DeploySession]) },
    errors: {
      403: 'A client secret approves a call as it stands, or rejects it.',
      404: unknown,
      409: 'Nothing waits, somebody else has decided one of the calls, or a reply is running; nothing was stored.',
      429: overLimit,
      500: 'The generation failed: `x-should-retry: false`. Without that, it may be unknown whether the decisions are stored.',
      503: 'Draining, or too many running replies; see `Retry-After`.',
    },
  },
  resumeSessionCompletion: {
    method: 'get',
    path: `${path}/stream`,
    scope: 'deploy',
    secret: 'session',
    share: true,
    summary: "Follow the session's newest reply, from any frame",
    description:
      'Stored events are replayed; the generation is never repeated. A finished reply ends with its finish chunk and `[DONE]`. No reply yet: 204.',
    query: Type.Object({
      reply: Type.Optional(Type.String({ description: "A message's id: the stream is that of this reply instead." })),
    }),
    ...resumedStream,
    errors: { 404: 'There is no such session or reply, or it belongs to another agent.' },
  },
  cancelSessionCompletion: {
    method: 'post',
    path: `${path}/cancel`,
    scope: 'deploy',
    secret: 'session',
    summary: 'Cancel the running reply, if any',
    description:
      'Works on whichever instance the reply runs. The text generated so far is kept. The next queued message begins.',
    body: CancelRequest,
    bodyOptional: true,
    responses: { 204: null },
    errors: { 404: unknown },
  },
  compactSession: {
    method: 'post',
    path: `${session}/compact`,
    scope: 'deploy',
    secret: 'session',
    summary: 'Summarise the older part of a session now',
    description:
      'The agent’s model summarises all but the newest turns; later replies on this path are sent the summary in their place. Nothing is removed. While it runs, the session is held as by a reply. Nothing to summarise: 400.',
    responses: { 200: Checkpoint },
    errors: {
      400: 'There is nothing to summarise.',
      404: unknown,
      409: 'A reply or another compaction is running, or calls wait. `x-should-retry: false`.',
      429: overLimit,
      500: 'The summary failed, or was cancelled. `x-should-retry: false`.',
      503: 'Draining, or too many running replies; see `Retry-After`.',
    },
  },
  listCheckpoints: {
    method: 'get',
    refusesUnknown: true,
    path: `${session}/checkpoints`,
    scope: 'deploy',
    secret: 'session',
    summary: 'List the summaries of a session',
    responses: { 200: CheckpointList },
    errors: { 404: unknown },
  },
  listSessionQueue: {
    method: 'get',
    refusesUnknown: true,
    path: `${session}/queue`,
    scope: 'deploy',
    secret: 'session',
    summary: 'List the messages that wait for the replies before them',
    responses: { 200: Queue },
    errors: { 404: unknown },
  },
  removeQueuedMessage: {
    method: 'delete',
    path: `${session}/queue/{message_id}`,
    scope: 'deploy',
    secret: 'session',
    summary: 'Take a message out of the queue',
    description: 'Its waiting request gets 409, or the error chunk `dequeued`.',
    responses: { 204: null },
    errors: { 404: 'There is no such session, or no such message waits in it (any more).' },
  },
})
