/** Pending calls (contract section 15): the caller's own tools, what is pending, and decisions about it. */
import Type from 'typebox'
import { documented } from '../../documented.ts'
import { freeObject, nullable, oneOf, time } from '../basics.ts'

/** The most decisions in one request. */
export const MAX_TOOLS = 128

/** A function as models and callers name it. */
export const TOOL_NAME = '^[a-zA-Z0-9_-]{1,64}$'

export const pendingKinds = ['approval', 'input', 'caller', 'sign_in'] as const
export const callDecisions = ['approve', 'reject', 'respond', 'answer', 'decline', 'cancel'] as const
export const rememberScopes = ['session', 'user'] as const
/** Decisions as they are stored. */
export const storedDecisions = [...callDecisions, 'expired', 'signed_in'] as const

/** The chat-completions format. Handlers check what they hold: null and `[]` count as absent. */
export const callerToolFields = {
  tools: Type.Optional(
    Type.Unsafe({
      description:
        "The caller's own functions, 128 at most: the model may call them, and the reply ends with `finish_reason` `tool_calls` for the caller to make the calls. A name that the agent has: 400.",
      ...documented({
        type: ['array', 'null'],
        maxItems: MAX_TOOLS,
        items: {
          type: 'object',
          required: ['type', 'function'],
          properties: {
            type: { type: 'string', enum: ['function'] },
            function: {
              type: 'object',
              required: ['name'],
              properties: {
                name: { type: 'string', pattern: TOOL_NAME, examples: ['get_weather'] },
                description: { type: 'string' },
                parameters: { type: 'object', additionalProperties: true, description: 'JSON Schema of an object.' },
                strict: { type: 'boolean' },
              },
            },
          },
        },
      }),
    }),
  ),
  tool_choice: Type.Optional(
    Type.Unsafe({
      description: "For the reply's first model call. Without `tools`: 400.",
      ...documented({
        anyOf: [
          { type: 'string', enum: ['auto', 'none', 'required'] },
          {
            type: 'object',
            required: ['type', 'function'],
            properties: {
              type: { type: 'string', enum: ['function'] },
              function: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
            },
          },
          { type: 'null' },
        ],
      }),
    }),
  ),
  include_actions: Type.Optional(
    nullable(
      Type.Boolean({
        description:
          'When true, calls that wait for an approval are shown too, as `tool_calls`. By default only those of the `tools` that were brought.',
      }),
    ),
  ),
}

/** A call in the chat-completions format. */
export const WireToolCall = Type.Object(
  {
    id: Type.String({ description: 'Names the call in decisions, and in messages of role `tool`.' }),
    type: oneOf(['function'], 'Kind of call.'),
    function: Type.Object({
      name: Type.String(),
      arguments: Type.String({ description: 'JSON text as the model wrote it; it may not parse.' }),
    }),
  },
  { title: 'ToolCall' },
)

export const PendingCall = Type.Object(
  {
    call_id: Type.String({ description: 'Names the call in `actions`.' }),
    name: Type.String({ description: 'The tool, as the model names it.' }),
    arguments: Type.String({ description: 'JSON text as the model wrote it; it may not parse.' }),
    kind: oneOf(
      pendingKinds,
      '`approval`: somebody approves or rejects it. `input`: its MCP server asks the user something. `sign_in`: the user signs in at its MCP server. `caller`: the caller makes it.',
    ),
    server: Type.Optional(Type.String({ description: 'Of a question or sign-in: the MCP server.' })),
    key: Type.Optional(Type.String({ description: 'Of a question: the name that the server gave it.' })),
    message: Type.Optional(
      Type.String({ description: 'Of a question: what the server says. Of a sign-in: a sentence for the user.' }),
    ),
    schema: Type.Optional(freeObject('Of a form: its JSON Schema, as the server sent it.')),
    url: Type.Optional(
      Type.String({ description: 'Of a page that the user is to visit, or of the sign-in: its address.' }),
    ),
    expires_at: Type.Optional(
      time('When an approval is rejected that nobody has decided. Absent where it does not expire.'),
    ),
    path: Type.Optional(
      Type.Array(
        Type.Object({
          agent_id: Type.String({ description: 'The agent that answers the call.' }),
          session_id: Type.String({ description: 'The session that answers it.' }),
          call_id: Type.String({ description: 'The call, in the session above.' }),
        }),
        {
          description:
            'Of a call of a session below: the calls that lead to it, from this session’s own down to the one that the session which asks answers. Absent for calls of this session.',
        },
      ),
    ),
  },
  { title: 'PendingCall' },
)
export const pending = Type.Array(PendingCall, {
  description: 'Calls of the newest reply that wait for a decision; `[]` when nothing waits.',
})

/** The wish that a decision about an approval is remembered. */
export const rememberFields = {
  remember: Type.Optional(
    nullable(
      oneOf(
        rememberScopes,
        'Decides later calls of the tool without asking: in this session, or in all sessions of its user with the agent.',
      ),
    ),
  ),
  remember_arguments: Type.Optional(
    nullable(
      Type.Array(Type.String(), {
        minItems: 1,
        maxItems: 20,
        uniqueItems: true,
        description:
          'With `remember`: only calls in which these arguments have the values that they have in this call.',
      }),
    ),
  ),
}

export const Decision = Type.Object(
  {
    call_id: Type.String({ description: 'Of `pending`.' }),
    decision: oneOf(
      callDecisions,
      '`approve` makes the call, `reject` does not, `respond` gives the model `output` instead of a result. About a question: `answer`, `decline` or `cancel`, with which the call is sent again.',
    ),
    arguments: Type.Optional(
      nullable(freeObject('Of an approved call: instead of the arguments that the model wrote.')),
    ),
    key: Type.Optional(nullable(Type.String({ description: 'Of the question, where a call asks several.' }))),
    content: Type.Optional(nullable(freeObject('With `answer` to a form: what it was filled in with.'))),
    output: Type.Optional(nullable(Type.String({ description: 'With `respond`: what the model is told.' }))),
    reason: Type.Optional(nullable(Type.String({ description: 'With `reject`: told to the model.' }))),
    ...rememberFields,
  },
  { title: 'Decision' },
)

/**
 * Returns the schema of a request with actions. `requestFields`: what a completion request takes besides its messages.
 */
export const actionsRequest = (fields: Parameters<typeof Type.Object>[0]) =>
  Type.Object(
    {
      decisions: Type.Array(Decision, {
        minItems: 1,
        description: 'Each about another pending call. Those that are left stay pending.',
      }),
      ...fields,
    },
    {
      title: 'ActionsRequest',
      description:
        'Fields and `tools` that it does not bring stay those of the request that started the waiting reply.',
    },
  )
