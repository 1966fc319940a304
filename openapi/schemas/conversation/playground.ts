/** The playground: the sessions of the deploy API, in camel case and with more details. */
import Type from 'typebox'
import { camelCased } from '../../camel-case.ts'
import { count, freeObject, id, listOf, name, nullable, objectOrNull, oneOf, optional, time } from '../basics.ts'
import { settingsInput } from '../records/configuration.ts'
import { askedVersion, givenPin, repliedVersion } from '../records/drafts.ts'
import { toolChoiceInput } from '../records/tools.ts'
import { callerToolFields, storedDecisions } from './actions.ts'
import { playgroundForkedFrom, playgroundParent, playgroundPlace } from './branches.ts'
import { ContentPart } from './chat.ts'
import { allFeedback } from './feedback.ts'
import { onBusy } from './queue.ts'
import { continuations, deployPart, finishReasons, messageHead, missingTools } from './replies.ts'
import { archivedChange, changedTitle, deploySession } from './sessions.ts'

export const PlaygroundSession = Type.Object(
  {
    ...camelCased(deploySession),
    user: nullable(name('The end user that the session belongs to. Null when it has none.')),
    forkedFrom: playgroundForkedFrom,
    parent: playgroundParent,
    updatedAt: time('When it last changed.'),
  },
  { title: 'PlaygroundSession' },
)
export const PlaygroundSessionChange = Type.Object(
  { title: Type.Optional(changedTitle), agentVersion: givenPin, archived: archivedChange },
  { title: 'PlaygroundSessionChange', description: 'What is absent stays.' },
)
export const PlaygroundSessionList = listOf('PlaygroundSessionList', 'sessions', PlaygroundSession)

export const childPlace = Type.Object(
  { agentId: id('The agent that answers the call.'), sessionId: id('The session in which it does.') },
  { title: 'ChildPlace', description: 'The session that the call makes. Absent on calls of other tools.' },
)

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
    child: Type.Optional(childPlace),
    decisionId: Type.Optional(id('Id of the remembered decision that covered the call. Absent when none did.')),
    decision: Type.Optional(
      nullable(
        oneOf(storedDecisions, 'The decision. Absent when the call was never pending, null when it was not decided.'),
      ),
    ),
    decidedAt: Type.Optional(nullable(time('When it was decided.'))),
    decidedBy: Type.Optional(
      nullable(Type.String({ description: 'Login name, or end user, of the decision. Null when none is named.' })),
    ),
    decidedArguments: Type.Optional(
      nullable(
        Type.String({ description: 'JSON text: what the call was approved with. Null stands for its own arguments.' }),
      ),
    ),
    answers: Type.Optional(
      Type.Array(
        Type.Object({
          key: Type.String({ description: "The server's name for the question." }),
          decision: oneOf(storedDecisions, '`answer`, `decline` or `cancel`.'),
          content: nullable(freeObject('What a form was filled in with. Null where there is none.')),
          decidedAt: time('When it was decided.'),
          decidedBy: nullable(Type.String({ description: 'Who decided it. Null when none is named.' })),
        }),
        { description: "The decided questions of the call's MCP server, in order. Absent where it asked none." },
      ),
    ),
  },
  { title: 'PlaygroundToolCall' },
)
const PlaygroundMessagePart = Type.Object(
  { ...camelCased(deployPart), filename: nullable(Type.String()) },
  { title: 'PlaygroundMessagePart' },
)
/** The token usage as the playground shows it. */
export const playgroundUsage = {
  promptTokens: count('Tokens read.'),
  completionTokens: count('Tokens written.'),
  estimated: Type.Boolean({ description: "Whether the numbers include a tokenizer's estimates." }),
  ...optional({
    cachedTokens: count('Of those read: from the provider’s cache. Absent when it does not report them.'),
    cacheWriteTokens: count('Of those read: written to the cache. Absent when it does not report them.'),
    reasoningTokens: count('Of those written: spent on reasoning. Absent when it does not report them.'),
  }),
}

export const PlaygroundMessage = Type.Object(
  {
    ...camelCased(messageHead),
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
    ...optional({
      providerId: nullable(id('Of a reply: the provider of its last turn. Null when it is not known.')),
      usage: objectOrNull(playgroundUsage, 'Null while the reply runs, and of replies that were copied or given.'),
      firstTokenMs: nullable(
        count('Milliseconds from admission to the first text or reasoning. Null when none came, or while it runs.'),
      ),
      durationMs: nullable(count('Milliseconds from admission until generation ended. Null while the reply runs.')),
      refusal: nullable(
        Type.String({
          description: 'Why the model, or a filter of its provider, refused. Null when neither did, or none was given.',
        }),
      ),
      attempts: nullable(count('Calls to providers. Null while the reply runs.')),
      agentVersion: repliedVersion,
      overrides: Type.Unsafe({
        type: ['object', 'null'],
        additionalProperties: true,
        description: 'The `configOverrides` of the request. Null when there are none.',
      }),
      prompt: objectOrNull(
        {
          id: id('Id of the prompt.'),
          name: Type.String({ description: 'Its name then.' }),
          sha256: Type.String({ description: 'SHA-256 of its content as it was sent, in hexadecimal.' }),
        },
        'The system prompt. Null when there is none, or the request brought its own.',
      ),
    }),
    continuations: continuations('frameId'),
    feedback: allFeedback,
    missingTools: missingTools({ mcpServerId: id('Id of the MCP server.') }),
    reasoning: Type.Optional(
      Type.String({ description: 'What the model thought. Absent where none came. Partial while `streaming`.' }),
    ),
    reasoningMs: Type.Optional(
      count('How long the model thought, in milliseconds. Absent where it did not, or where nobody knows.'),
    ),
    parts: Type.Optional(
      Type.Array(PlaygroundMessagePart, {
        description: 'Pictures and files of a user message, in order. Absent where there are none.',
      }),
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
    message: Type.Optional(
      Type.Unsafe<string | { type: string; text?: string }[] | null>({
        type: ['string', 'array', 'null'],
        minLength: 1,
        minItems: 1,
        items: ContentPart,
        description:
          'The user message: text, or parts as a completion request has them. Required, unless `regenerate` is true.',
      }),
    ),
    ...playgroundPlace,
    onBusy: Type.Optional(nullable(onBusy('reject'))),
    sessionId: Type.Optional(
      nullable(Type.String({ description: 'Absent or null: a session is created; see the header `x-session-id`.' })),
    ),
    agentVersion: askedVersion,
    configOverrides: Type.Optional(
      Type.Unsafe({
        ...Type.Object({
          providerId: Type.Optional(nullable(Type.String({ description: 'Id of a provider. Unknown: 400.' }))),
          model: Type.Optional(nullable(name('Model name.'))),
          promptId: Type.Optional(nullable(Type.String({ description: 'Id of a prompt. Unknown: 400.' }))),
          systemPrompt: Type.Optional(nullable(Type.String({ description: 'A system prompt; wins over `promptId`.' }))),
          ...settingsInput,
        }),
        type: ['object', 'null'],
        description: "Overrides the agent's own settings, for this reply only.",
      }),
    ),
    ...toolChoiceInput,
    include_actions: callerToolFields.include_actions,
  },
  {
    title: 'PlaygroundChatRequest',
    description: "Tool arrays replace the agent's for this reply; absent ones keep them.",
  },
)
