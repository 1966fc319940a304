/** The playground: the same sessions as the deploy API's, in camel case and with more to see. */
import Type from 'typebox'
import { count, id, listOf, name, nullable, oneOf, time } from './basics.ts'
import { finishReasons, messageStatuses } from './chat.ts'
import { settingsInput } from './configuration.ts'
import { metadata } from './sessions.ts'
import { toolChoiceInput } from './tools.ts'

export const PlaygroundSession = Type.Object(
  {
    id: id('Id of the session.'),
    agentId: id('Id of its agent.'),
    title: nullable(name('Null until it is derived from the first user message.')),
    user: nullable(name("The end user that the session belongs to. Null: nobody's.")),
    metadata,
    createdAt: time('When the session was made.'),
    updatedAt: time('When something last happened in it.'),
  },
  { title: 'PlaygroundSession' },
)
export const PlaygroundSessionList = listOf('PlaygroundSessionList', 'sessions', PlaygroundSession)

const unknownOutcome =
  'Null while the tool runs, and for good when the reply ended before a result was stored: then the outcome is unknown, the call may have taken effect.'

const PlaygroundToolCall = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    arguments: Type.String({ description: 'JSON text as the model wrote it; it may not parse.' }),
    ok: nullable(Type.Boolean({ description: unknownOutcome })),
    content: nullable(Type.String({ description: `What the model was given. ${unknownOutcome}` })),
    offset: count("Where in the message's content the call lies, in UTF-16 code units."),
    startedAt: nullable(time('When the call began, where that is known.')),
    durationMs: nullable(count(`Milliseconds. ${unknownOutcome}`)),
  },
  { title: 'PlaygroundToolCall' },
)
export const PlaygroundMessage = Type.Object(
  {
    id: id('Id of the message.'),
    sessionId: id('Id of its session.'),
    role: oneOf(['user', 'assistant'], 'Who speaks.'),
    content: Type.String({ description: 'Partial while `streaming`; what there was before the failure on `error`.' }),
    status: oneOf(messageStatuses, 'A cancelled reply is `complete`.'),
    finishReason: nullable(oneOf(finishReasons, 'Why a reply ended.')),
    error: Type.Unsafe({
      ...Type.Object({ code: Type.String(), message: Type.String({ description: "The provider's full words." }) }),
      type: ['object', 'null'],
      description: 'Why the reply failed, or null.',
    }),
    toolCalls: Type.Array(PlaygroundToolCall),
    createdAt: time('When the message was stored.'),
  },
  { title: 'PlaygroundMessage' },
)
export const PlaygroundMessages = Type.Object(
  { messages: Type.Array(PlaygroundMessage) },
  { title: 'PlaygroundMessages' },
)

export const PlaygroundChatRequest = Type.Object(
  {
    message: Type.String({ minLength: 1, description: 'The user message.' }),
    sessionId: Type.Optional(
      nullable(Type.String({ description: 'Absent or null: a session is made; see the header `x-session-id`.' })),
    ),
    configOverrides: Type.Optional(
      Type.Unsafe({
        ...Type.Object({
          providerId: Type.Optional(nullable(Type.String({ description: 'Id of a provider. Unknown: 400.' }))),
          model: Type.Optional(nullable(name('Model name.'))),
          ...settingsInput,
        }),
        type: ['object', 'null'],
        description: "Stands in for the agent's own settings, for this reply only.",
      }),
    ),
    ...toolChoiceInput,
  },
  {
    title: 'PlaygroundChatRequest',
    description: "Tool arrays replace the agent's for this reply; absent ones keep them.",
  },
)
