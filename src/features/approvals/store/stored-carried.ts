/**
 * What a reply leaves to the next one of its session, as it is stored for months: JSON with a version. A version's schema never
 * changes: stored-carried.test.ts has its hash and a record of each. To change `Carried`, add a version with a schema, a
 * record under test/persistence/fixtures/carried and, in `readers`, a function that makes of the older form what is read today.
 */
import Type, { type Static } from 'typebox'
import { Check, Errors } from 'typebox/value'
import type { Carried, InForce, OpenTurn, ToolCall, TurnMessage } from '../../../actors/ports/index.ts'

export const strict = { additionalProperties: false }
/** JSON that is kept as it came: a JSON Schema, a vendor's echo, overrides. */
const json = Type.Unsafe<Record<string, unknown>>(Type.Object({}))
export const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const call = { id: Type.String(), name: Type.String(), arguments: Type.String() }
const assistant = Type.Object(
  {
    role: Type.Literal('assistant'),
    content: Type.String(),
    toolCalls: Type.Optional(Type.Array(Type.Object(call, strict))),
    echo: Type.Optional(Type.Unsafe<object>(Type.Object({}))),
  },
  strict,
)
const toolResult = Type.Object(
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
export const storedTool = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    inputSchema: json,
    strict: Type.Optional(Type.Boolean()),
  },
  strict,
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
export const openTurn = Type.Object(
  { answer: assistant, results: Type.Array(orNull(Type.String())), waiting: Type.Array(orNull(waiting)) },
  strict,
)
const version1 = Type.Object(
  {
    version: Type.Literal(1),
    tools: Type.Array(storedTool),
    fields: storedFields,
    overrides: orNull(Type.Unsafe<object>(Type.Object({}))),
    chain: Type.Object(
      {
        said: Type.Array(Type.Union([assistant, toolResult])),
        turn: openTurn,
        spent: Type.Number(),
      },
      strict,
    ),
    firstId: Type.String(),
  },
  strict,
)

/** The schemas by version. The last one is written. */
export const carriedSchemas = [version1] as const
type Stored = Static<typeof version1>

/** Removes `readonly`, which no stored form has. */
type Plain<T> = T extends object ? { -readonly [Key in keyof T]: Plain<T[Key]> } : T
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** `Carried` with the names that `chain` is stored under. */
type Renamed = Omit<Carried, 'chain'> & {
  chain: { said: Carried['chain']['turns']; turn: Carried['chain']['turn']; spent: Carried['chain']['callsUsed'] }
}
/** Does not compile when `Carried` is not what the newest schema says. */
true satisfies Same<Plain<Omit<Stored, 'version'>>, Plain<Renamed>>
true satisfies Same<keyof Carried['chain'], 'turns' | 'turn' | 'callsUsed'>

/** Field by field: what comes from a provider's adapter may hold more, which no schema knows. */
export function encodeCarried({ tools, fields, overrides, chain, firstId }: Carried): string {
  const { turns, turn, callsUsed } = chain
  const stored: Stored = {
    version: 1,
    ...inForceOf({ tools, fields, overrides }),
    chain: {
      said: turns.map((one) => (one.role === 'assistant' ? assistantOf(one) : resultOf(one))),
      turn: turnOf(turn),
      spent: callsUsed,
    },
    firstId,
  }
  return JSON.stringify(stored)
}

/** What is in force, in its stored form. */
export function inForceOf({ tools, fields, overrides }: InForce) {
  const { stop, ...others } = fields
  return {
    tools: tools.map(({ name, description, inputSchema, strict: isStrict }) => ({
      name,
      description,
      inputSchema,
      ...(isStrict !== undefined && { strict: isStrict }),
    })),
    fields: { ...others, ...(stop && { stop: [...stop] }) },
    overrides,
  }
}

/** A turn, in its stored form. */
export const turnOf = ({ answer, results, waiting: calls }: OpenTurn): Static<typeof openTurn> => ({
  answer: assistantOf(answer),
  results: [...results],
  waiting: calls.map(
    (one) =>
      one && {
        ...callOf(one),
        kind: one.kind,
        replyId: one.replyId,
        place: one.place,
        ...(one.tool !== undefined && { tool: one.tool }),
      },
  ),
})

const callOf = ({ id, name, arguments: text }: ToolCall) => ({ id, name, arguments: text })
const assistantOf = ({ role, content, toolCalls, echo }: Extract<TurnMessage, { role: 'assistant' }>) => ({
  role,
  content,
  ...(toolCalls && { toolCalls: toolCalls.map(callOf) }),
  ...(echo && { echo }),
})
const resultOf = ({ role, toolCallId, content }: Extract<TurnMessage, { role: 'tool' }>) => ({
  role,
  toolCallId,
  content,
})

/** Rejects what no version has written that this one knows, with an error that names it. */
export function decodeCarried(text: string): Carried {
  const value: unknown = JSON.parse(text)
  const version = typeof value === 'object' && value !== null && 'version' in value ? value.version : undefined
  if (version !== 1) throw new Error(`What a waiting session carries has the version ${version}, which is not known.`)
  if (!Check(version1, value)) {
    const [fault] = Errors(version1, value)
    throw new Error(`What a waiting session carries is not of version 1: ${fault?.instancePath} ${fault?.message}.`)
  }
  const { version: _, chain, ...carried } = value
  return { ...carried, chain: { turns: chain.said, turn: chain.turn, callsUsed: chain.spent } }
}
