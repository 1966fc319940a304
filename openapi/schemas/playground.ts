/** The playground: the sessions of the deploy API, in camel case and with more details. */
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
    createdAt: time('When the session was created.'),
    updatedAt: time('When it last changed.'),
  },
  { title: 'PlaygroundSession' },
)
export const PlaygroundSessionList = listOf('PlaygroundSessionList', 'sessions', PlaygroundSession)

const unknownOutcome =
  'Null while the tool runs, and permanently if the reply ended before a result was stored: the outcome is unknown then, and the call may have taken effect.'

const PlaygroundToolCall = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    arguments: Type.String({ description: 'JSON text as the model wrote it; it may not parse.' }),
    ok: nullable(Type.Boolean({ description: unknownOutcome })),
    content: nullable(Type.String({ description: `The result given to the model. ${unknownOutcome}` })),
    offset: count("Position of the call in the message's content, in UTF-16 code units."),
    startedAt: nullable(time('When the call began, if known.')),
    durationMs: nullable(count(`Milliseconds. ${unknownOutcome}`)),
  },
  { title: 'PlaygroundToolCall' },
)
export const PlaygroundMessage = Type.Object(
  {
    id: id('Id of the message.'),
    sessionId: id('Id of its session.'),
    role: oneOf(['user', 'assistant'], 'The author.'),
    content: Type.String({ description: 'Partial while `streaming`; the text before the failure on `error`.' }),
    status: oneOf(messageStatuses, 'A cancelled reply is `complete`.'),
    finishReason: nullable(oneOf(finishReasons, 'Why a reply ended.')),
    error: Type.Unsafe({
      ...Type.Object({ code: Type.String(), message: Type.String({ description: "The provider's full message." }) }),
      type: ['object', 'null'],
      description: 'Why the reply failed, or null.',
    }),
    toolCalls: Type.Array(PlaygroundToolCall),
    model: Type.Optional(
      nullable(
        Type.String({ description: 'Of a reply: the model of its last turn, a fallback’s where that answered.' }),
      ),
    ),
    reasoning: Type.Optional(
      Type.String({ description: 'What the model thought. Absent where none came. Partial while `streaming`.' }),
    ),
    reasoningMs: Type.Optional(
      count('How long the model thought, in milliseconds. Absent where it did not, or where nobody knows.'),
    ),
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
      nullable(Type.String({ description: 'Absent or null: a session is created; see the header `x-session-id`.' })),
    ),
    configOverrides: Type.Optional(
      Type.Unsafe({
        ...Type.Object({
          providerId: Type.Optional(nullable(Type.String({ description: 'Id of a provider. Unknown: 400.' }))),
          model: Type.Optional(nullable(name('Model name.'))),
          ...settingsInput,
        }),
        type: ['object', 'null'],
        description: "Overrides the agent's own settings, for this reply only.",
      }),
    ),
    ...toolChoiceInput,
  },
  {
    title: 'PlaygroundChatRequest',
    description: "Tool arrays replace the agent's for this reply; absent ones keep them.",
  },
)
