/** The AI SDK's own formats (package `ai`, version 7). The server reads little of a request, and checks only that. */

import Type from 'typebox'
import { documented } from '../../documented.ts'
import { id, name, nullable, oneOf } from '../basics.ts'
import { callerToolFields, rememberFields } from '../conversation/actions.ts'
import { ReplyFailure } from '../conversation/chat.ts'
import { Feedback } from '../conversation/feedback.ts'
import { onBusy } from '../conversation/queue.ts'
import { messageStatuses } from '../conversation/replies.ts'

const sentParts = {
  type: 'array',
  minItems: 1,
  items: {
    type: 'object',
    required: ['type', 'text'],
    properties: { type: { type: 'string', enum: ['text'] }, text: { type: 'string' } },
  },
}
const SentUIMessage = Type.Object(
  {},
  {
    title: 'SentUIMessage',
    description:
      'A UI message as `useChat` holds it. Of all but the last user message only ids and roles are read; of an assistant’s that is the last one, the answers to approvals and the outputs of the caller’s tools.',
    ...documented({
      properties: {
        id: { type: 'string' },
        role: {
          type: 'string',
          enum: ['user', 'assistant', 'system'],
          description: "The last message's: `user`, or `assistant` with decisions about what waits in it.",
        },
        parts: sentParts,
      },
    }),
  },
)

export const UIChatRequest = Type.Object(
  {
    id: Type.String({
      description:
        'The chat’s id, 1 to 200 characters. A UUID is the session’s own id, anything else its `external_id`, one for each user. The session is made when it does not exist.',
    }),
    messages: Type.Array(SentUIMessage, {
      minItems: 1,
      description:
        'The last one, a user message, is the new one. It comes behind the last stored reply before it, unless other user messages stand between: then behind the head.',
    }),
    system: Type.Optional(
      Type.Unsafe({
        description:
          'Instructions of the page, as are messages of the role `system`: for an agent with `callerInstructions: "append"`. Else left out, and named in the header `x-greenroom-ignored` of the answer.',
        ...documented({ type: ['string', 'null'] }),
      }),
    ),
    trigger: Type.Optional(
      oneOf(
        ['submit-message', 'regenerate-message'],
        'What the user did. `submit-message` by default. `regenerate-message` answers a stored user message once more.',
      ),
    ),
    messageId: Type.Optional(
      nullable(
        Type.String({
          description:
            'Of `regenerate-message`: the message to answer, or the reply to it. Unknown: the newest user message with the last one’s text behind the last known reply. A message that was never stored is sent.',
        }),
      ),
    ),
    tools: Type.Optional(
      Type.Unsafe({
        description:
          'The page’s own functions: a list as in a completion, or an object of `{description?, parameters}` by name.',
        ...documented({
          anyOf: [
            { type: 'array', items: { type: 'object' } },
            { type: 'object', additionalProperties: { type: 'object' } },
            { type: 'null' },
          ],
        }),
      }),
    ),
    tool_choice: callerToolFields.tool_choice,
    user: Type.Optional(
      nullable(name('With the deploy key: whose session it is. With a client secret: its own user, else 403.')),
    ),
    on_busy: Type.Optional(nullable(onBusy('interrupt'))),
    remember: rememberFields.remember,
    remember_arguments: rememberFields.remember_arguments,
  },
  {
    title: 'UIChatRequest',
    description: 'What `DefaultChatTransport` sends. Other fields are accepted and ignored.',
  },
)

const partId = Type.String({ description: 'Ties the start, deltas and end of one part together.' })
const toolCallId = Type.String({ description: 'Ties a call and its result together.' })
const dynamic = Type.Literal(true)

export const uiMessageChunks = [
  Type.Object(
    { type: oneOf(['start'], 'The first part.'), messageId: Type.String({ description: "The reply's id." }) },
    { title: 'UIStart' },
  ),
  Type.Object({ type: oneOf(['start-step', 'finish-step'], 'Around each model call.') }, { title: 'UIStep' }),
  Type.Object(
    { type: oneOf(['text-start', 'text-end', 'reasoning-start', 'reasoning-end'], 'Around a text.'), id: partId },
    { title: 'UITextBoundary' },
  ),
  Type.Object(
    { type: oneOf(['text-delta', 'reasoning-delta'], 'A piece of a text.'), id: partId, delta: Type.String() },
    { title: 'UITextDelta' },
  ),
  Type.Object(
    {
      type: oneOf(['tool-input-available'], 'The model has called a tool.'),
      toolCallId,
      toolName: Type.String(),
      input: Type.Unknown({ description: 'The arguments. A string where they are no JSON.' }),
      dynamic,
      providerMetadata: Type.Optional(
        Type.Object(
          {
            greenroom: Type.Object({
              decisionId: Type.Optional(id('The remembered decision that settled the call. Absent: none did.')),
              agentId: Type.Optional(id('The agent that the call asks. Absent: none.')),
              sessionId: Type.Optional(id('The session that the call makes. Absent: none.')),
            }),
          },
          { description: 'Absent where there is nothing to name.' },
        ),
      ),
    },
    { title: 'UIToolInput' },
  ),
  Type.Object(
    { type: oneOf(['tool-output-available'], 'Its result.'), toolCallId, output: Type.String(), dynamic },
    { title: 'UIToolOutput' },
  ),
  Type.Object(
    {
      type: oneOf(['tool-output-error'], 'It failed, or the reply ended before its result was stored.'),
      toolCallId,
      errorText: Type.String(),
      dynamic,
    },
    { title: 'UIToolError' },
  ),
  Type.Object(
    {
      type: oneOf(['tool-approval-request'], 'The call waits until somebody approves or rejects it.'),
      approvalId: Type.String({ description: 'The call’s own id.' }),
      toolCallId,
    },
    { title: 'UIApprovalRequest' },
  ),
  Type.Object({ type: oneOf(['tool-output-denied'], 'It was rejected.'), toolCallId }, { title: 'UIToolDenied' }),
  Type.Object(
    {
      type: oneOf(['finish'], 'The reply has ended, or was cancelled.'),
      finishReason: oneOf(['stop', 'length', 'content-filter', 'tool-calls'], 'Why.'),
    },
    { title: 'UIFinish' },
  ),
  Type.Object(
    { type: oneOf(['error'], 'The reply has failed; no `finish` follows.'), errorText: Type.String() },
    { title: 'UIError' },
  ),
]

const UIMessage = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    role: oneOf(['user', 'assistant'], 'Who speaks.'),
    metadata: Type.Object({
      status: oneOf(messageStatuses, 'A cancelled reply is `complete`.'),
      error: Type.Optional(ReplyFailure),
      feedback: Type.Optional(Feedback),
    }),
    parts: Type.Array(Type.Object({ type: Type.String() }), {
      minItems: 1,
      description: 'Parts as the stream of the same reply builds them.',
    }),
  },
  { title: 'UIMessage' },
)
export const UIMessages = Type.Object({ messages: Type.Array(UIMessage) }, { title: 'UIMessages' })
