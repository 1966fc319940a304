import Type from 'typebox'
import { operations } from '../../operation.ts'
import { name } from '../../schemas/basics.ts'
import { UIChatRequest, UIMessages, uiMessageChunks } from '../../schemas/deploy/ai-sdk.ts'
import { overLimit } from '../../schemas/limits.ts'

const path = '/api/v1/agents/{agent_id}/deploy/ai-sdk'
const one = `${path}/{session_id}`
const unknownAgent = 'There is no such agent.'
const ofUser = Type.Object({
  user: Type.Optional(
    name(
      'With the deploy key and an `external_id` in the path: whose chat it is. When absent, the chat belongs to no user.',
    ),
  ),
})

export const aiSdk = operations({
  createUIChatReply: {
    method: 'post',
    path,
    scope: 'deploy',
    secret: 'handler',
    summary: 'Send the next message of a chat; the answer is a UI message stream',
    description:
      'For `useChat` with `DefaultChatTransport`. The history is the session’s. The reply goes on when the client leaves.',
    headers: {
      'Idempotency-Key':
        'Up to 255 characters, kept 24 hours. The same key, trigger, `messageId` and last message joins the first reply; another: 400.',
    },
    takesParts: true,
    body: UIChatRequest,
    streams: 'only',
    events: uiMessageChunks,
    responses: { 200: null },
    errors: {
      404: 'There is no such agent, or the session belongs to another one.',
      409: 'A reply is running, and `on_busy` is `reject`; nothing was stored.',
      429: overLimit,
      503: 'Draining, or too many replies run; see `Retry-After`.',
    },
  },
  resumeUIChatReply: {
    method: 'get',
    path: `${one}/stream`,
    scope: 'deploy',
    secret: 'handler',
    query: Type.Object({
      ...ofUser.properties,
      message_id: Type.Optional(
        Type.String({
          description:
            'The message that the page has a part of. Where its reply has ended meanwhile, its stream is sent all the same, to its `finish` or `error`.',
        }),
      ),
    }),
    summary: 'Follow the reply that runs, from its beginning',
    description: 'The same parts again, then what follows. None runs, or there is no such session: 204.',
    streams: 'only',
    events: uiMessageChunks,
    responses: { 200: null, 204: null },
    errors: { 404: unknownAgent },
  },
  cancelUIChatReply: {
    method: 'delete',
    path: `${one}/stream`,
    scope: 'deploy',
    secret: 'handler',
    query: ofUser,
    summary: 'Stop the reply that runs, if any',
    description: 'What was generated so far is kept. On whichever instance the reply runs.',
    responses: { 204: null },
    errors: { 404: unknownAgent },
  },
  listUIMessages: {
    method: 'get',
    refusesUnknown: true,
    pieces: true,
    path: `${one}/messages`,
    scope: 'deploy',
    secret: 'handler',
    query: ofUser,
    summary: 'The messages of a chat, to begin a page with',
    description: 'Oldest first. There is no such session: none.',
    responses: { 200: UIMessages },
    errors: { 404: unknownAgent, 413: 'It holds more than 32 MiB: read the session’s messages in pages.' },
  },
})
