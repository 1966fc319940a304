/** Messages as the deploy API shows them. */
import Type from 'typebox'
import { count, id, nullable, oneOf, time } from '../basics.ts'
import { parentId } from './branches.ts'
import { ReplyFailure } from './chat.ts'
import { Feedback } from './feedback.ts'

export const messageStatuses = ['complete', 'streaming', 'error'] as const
export const finishReasons = [
  'stop',
  'length',
  'content_filter',
  'cancelled',
  'tool_calls',
  'steered',
  'error',
] as const
/** Returns the schema of takeovers. `frame` is the name of the frame's id on the surface. */
export const continuations = <Frame extends 'frame_id' | 'frameId'>(frame: Frame) =>
  Type.Optional(
    Type.Array(
      Type.Object({
        ...{ [frame]: Type.Integer({ description: 'The last frame before it.' }) },
        offset: count('Code points of the content before it.'),
        at: time('When another instance took the reply over.'),
        reason: oneOf(['instance_lost', 'shutdown', 'database'], 'Why.'),
      }),
      { description: 'Where the reply went on in another instance (`onLoss`). Absent where there is none.' },
    ),
  )

const missingReasons = ['unreachable', 'unauthorized', 'invalid', 'no_user', 'no_value'] as const
const missingServer = {
  server: Type.String({ description: 'Name of the MCP server.' }),
  reason: oneOf(
    missingReasons,
    '`unreachable`: no connection, or no list in time. `unauthorized`: 401 or 403. `invalid`: another answer without a readable list. `no_user`: it needs the user of a session. `no_value`: a header needs another value of the session.',
  ),
}
/** Returns the schema of the servers that a reply went without. `named`: their ids are shown, too. */
export const missingTools = (named = {}) =>
  Type.Optional(
    Type.Array(Type.Object({ ...named, ...missingServer }), {
      description: 'MCP servers that gave no list of tools. Absent where none is missing.',
    }),
  )

export const deployPart = {
  type: oneOf(['image_url', 'file'], 'As it was sent.'),
  url: Type.String({ description: 'Where its bytes are read: a path of this API below the session.' }),
  media_type: Type.String(),
  filename: nullable(Type.String({ description: 'Without a path, and without characters that mislead.' })),
  size: count('Bytes.'),
}
const DeployMessagePart = Type.Object(deployPart, { title: 'DeployMessagePart' })
export const messageHead = {
  id: id('Id of the message.'),
  session_id: id('Id of its session.'),
  parent_id: parentId,
  role: oneOf(['user', 'assistant'], 'The author.'),
  content: Type.String({ description: 'Partial while `streaming`; the text before the failure on `error`.' }),
  status: oneOf(messageStatuses, 'A cancelled reply is `complete`.'),
}
const SharedToolCall = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    arguments: Type.String({ description: 'JSON text as the model wrote it; it may not parse.' }),
    ok: nullable(Type.Boolean({ description: 'Null while the tool runs, and where the outcome is unknown.' })),
    content: nullable(Type.String({ description: 'The result given to the model. Null likewise.' })),
    offset: count("Position of the call in the message's content, in UTF-16 code units."),
  },
  { title: 'SharedToolCall' },
)
export const DeployMessage = Type.Object(
  {
    ...messageHead,
    finish_reason: nullable(oneOf(finishReasons, 'Why a reply ended. Null while streaming, and for user messages.')),
    reasoning: Type.Optional(
      Type.String({ description: 'What the model thought. Absent where it was not asked for, or none came.' }),
    ),
    parts: Type.Optional(
      Type.Array(DeployMessagePart, {
        description: 'Pictures and files of a user message, in order. Absent where there are none.',
      }),
    ),
    tool_calls: Type.Optional(
      Type.Array(SharedToolCall, {
        description: 'Calls of tools, in order. Read with the token of a share that includes them, else absent.',
      }),
    ),
    continuations: continuations('frame_id'),
    error: Type.Optional(ReplyFailure),
    missing_tools: missingTools(),
    feedback: Type.Optional(Feedback),
    created_at: time('When the message was stored.'),
  },
  { title: 'DeployMessage' },
)
export const DeployMessages = Type.Object({ messages: Type.Array(DeployMessage) }, { title: 'DeployMessages' })
