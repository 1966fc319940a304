/**
 * Schemas that several stored forms with a version share. They are part of released versions, so none ever changes: the
 * hashes in the tests of those forms hold them.
 */
import Type, { type Static } from 'typebox'
import type { OpenTurn, WaitingCall } from '../../actors/ports/index.ts'
import type { SameFields } from '../stored-json.ts'

export const strict = { additionalProperties: false }

export const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** JSON that is kept as it came: a JSON Schema, a provider's echo, overrides. */
const json = Type.Unsafe<Record<string, unknown>>(Type.Object({}))

export const storedOverrides = orNull(Type.Unsafe<object>(Type.Object({})))

export const storedTool = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    inputSchema: json,
    strict: Type.Optional(Type.Boolean()),
  },
  strict,
)

export const storedToolChoice = orNull(
  Type.Union([
    Type.Literal('auto'),
    Type.Literal('none'),
    Type.Literal('required'),
    Type.Object({ name: Type.String() }, strict),
  ]),
)

const format = Type.Union([
  Type.Object({ type: Type.Literal('text') }, strict),
  Type.Object({ type: Type.Literal('json_object') }, strict),
  Type.Object(
    {
      type: Type.Literal('json_schema'),
      json_schema: Type.Object(
        {
          name: Type.String(),
          description: Type.Optional(Type.String()),
          schema: Type.Optional(json),
          strict: Type.Optional(Type.Boolean()),
        },
        strict,
      ),
    },
    strict,
  ),
])

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** The request's fields that change the answer. */
export const storedFields = Type.Object(
  {
    maxTokens: Type.Optional(
      Type.Object(
        {
          name: Type.Union([Type.Literal('max_tokens'), Type.Literal('max_completion_tokens')]),
          value: Type.Number(),
        },
        strict,
      ),
    ),
    stop: Type.Optional(Type.Array(Type.String())),
    seed: Type.Optional(Type.Number()),
    responseFormat: Type.Optional(format),
    reasoningEffort: Type.Optional(Type.Unsafe<(typeof efforts)[number]>(Type.Enum([...efforts]))),
    parallelToolCalls: Type.Optional(Type.Boolean()),
  },
  strict,
)

const call = { id: Type.String(), name: Type.String(), arguments: Type.String() }

export const storedAnswer = Type.Object(
  {
    role: Type.Literal('assistant'),
    content: Type.String(),
    toolCalls: Type.Optional(Type.Array(Type.Object(call, strict))),
    echo: Type.Optional(Type.Unsafe<object>(Type.Object({}))),
  },
  strict,
)

export const storedResult = Type.Object(
  { role: Type.Literal('tool'), toolCallId: Type.String(), content: Type.String() },
  strict,
)

const waiting = Type.Object(
  {
    ...call,
    kind: Type.Union([Type.Literal('approval'), Type.Literal('caller')]),
    replyId: Type.String(),
    place: Type.Integer(),
    tool: Type.Optional(Type.String()),
  },
  strict,
)

/** A turn of calls that is not over. */
export const storedTurn = Type.Object(
  { answer: storedAnswer, results: Type.Array(orNull(Type.String())), waiting: Type.Array(orNull(waiting)) },
  strict,
)
export type StoredOpenTurn = Static<typeof storedTurn>

/** Returns a turn as it is stored: this form has two kinds alone, others are stored beside the call. */
export const storedKinds = ({ waiting, ...turn }: OpenTurn) => ({
  ...turn,
  waiting: waiting.map(
    (call) => call && { ...call, kind: call.kind === 'caller' ? ('caller' as const) : ('approval' as const) },
  ),
})
true satisfies SameFields<Omit<StoredOpenTurn, 'waiting'>, Omit<OpenTurn, 'waiting'>>
true satisfies SameFields<keyof Static<typeof waiting>, Exclude<keyof WaitingCall, 'asked'>>
