/**
 * What a queued message asks for, as it is stored until it begins: JSON with a version. A version's schema never changes:
 * stored-input.test.ts has its hash and a record of each. To change `QueuedInput`, add a version as stored-carried.ts says.
 */
import Type, { type Static } from 'typebox'
import { Check, Errors } from 'typebox/value'
import type { QueuedInput, ResponseRequest } from '../../../actors/ports/index.ts'
import { factsSchema } from '../../../persistence/replies/stored/stored-columns.ts'
import { storedFields, storedTool } from '../../approvals/store/stored-carried.ts'

const strict = { additionalProperties: false }
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const name = orNull(Type.String())

const choice = Type.Union([
  Type.Literal('auto'),
  Type.Literal('none'),
  Type.Literal('required'),
  Type.Object({ name: Type.String() }, strict),
])

const version1 = Type.Object(
  {
    version: Type.Literal(1),
    user: name,
    by: name,
    includeUsage: Type.Boolean(),
    reasoning: Type.Boolean(),
    fields: storedFields,
    callerTools: Type.Optional(Type.Object({ tools: Type.Array(storedTool), choice: orNull(choice) }, strict)),
    includeActions: Type.Boolean(),
    instructions: orNull(Type.Object({ texts: Type.Array(Type.String()), where: Type.String() }, strict)),
    overrides: orNull(Type.Unsafe<object>(Type.Object({}))),
    response: factsSchema.properties.response,
    origin: orNull(Type.Object({ requestId: Type.String(), traceparent: name, traceId: name }, strict)),
  },
  strict,
)

/** The schemas by version. The last one is written. */
export const inputSchemas = [version1] as const
type Stored = Static<typeof version1>

type Plain<T> = T extends object ? { -readonly [Key in keyof T]: Plain<T[Key]> } : T
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** Does not compile when `QueuedInput` is not what the newest schema says. */
true satisfies Same<Plain<Omit<Stored, 'version'>>, Plain<QueuedInput>>

/** Field by field: what is handed in may hold more, which no schema knows. */
export function encodeInput(input: QueuedInput): string {
  const { user, by, includeUsage, reasoning, fields, callerTools, includeActions, instructions, overrides } = input
  const { response, origin } = input
  const { stop, ...others } = fields
  const stored: Stored = {
    version: 1,
    user,
    by,
    includeUsage,
    reasoning,
    fields: { ...others, ...(stop && { stop: [...stop] }) },
    ...(callerTools && {
      callerTools: {
        tools: callerTools.tools.map(({ name: tool, description, inputSchema, strict: isStrict }) => ({
          name: tool,
          description,
          inputSchema,
          ...(isStrict !== undefined && { strict: isStrict }),
        })),
        choice: callerTools.choice,
      },
    }),
    includeActions,
    instructions: instructions && { texts: [...instructions.texts], where: instructions.where },
    overrides,
    ...(response && { response: plainResponse(response) }),
    origin: origin && { requestId: origin.requestId, traceparent: origin.traceparent, traceId: origin.traceId },
  }
  return JSON.stringify(stored)
}

function plainResponse({ metadata, tools, ...others }: ResponseRequest): NonNullable<Stored['response']> {
  return { ...others, metadata: { ...metadata }, ...(tools && { tools: [...tools] }) }
}

/** Rejects what no version has written that this one knows, with an error that names it. */
export function decodeInput(text: string): QueuedInput {
  const value: unknown = JSON.parse(text)
  const version = typeof value === 'object' && value !== null && 'version' in value ? value.version : undefined
  if (version !== 1) throw new Error(`A queued message has the version ${version}, which is not known.`)
  if (!Check(version1, value)) {
    const [fault] = Errors(version1, value)
    throw new Error(`A queued message is not of version 1: ${fault?.instancePath} ${fault?.message}.`)
  }
  const { version: _, ...input } = value
  return input
}
