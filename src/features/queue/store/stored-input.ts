/** Stores what a queued message requests until its reply begins: JSON with a version. */
import Type, { type Static } from 'typebox'
import type { QueuedInput } from '../../../actors/ports/index.ts'
import { factsSchema } from '../../../persistence/replies/stored/stored-columns.ts'
import {
  orNull,
  storedFields,
  storedOverrides,
  storedTool,
  storedToolChoice,
  strict,
} from '../../../persistence/stored-forms/shared-schemas.ts'
import { type SameFields, versionedCodec } from '../../../persistence/stored-json.ts'

const name = orNull(Type.String())

/** The request of the Responses API as version 1 has it. Fields that were added since are optional, and pass as they are. */
const {
  maxToolCalls: _maxToolCalls,
  given: _given,
  behind: _behind,
  cuts: _cuts,
  ...responseFields
} = factsSchema.properties.response.properties

const version1 = Type.Object(
  {
    version: Type.Literal(1),
    user: name,
    by: name,
    includeUsage: Type.Boolean(),
    reasoning: Type.Boolean(),
    fields: storedFields,
    callerTools: Type.Optional(Type.Object({ tools: Type.Array(storedTool), choice: storedToolChoice }, strict)),
    includeActions: Type.Boolean(),
    instructions: orNull(Type.Object({ texts: Type.Array(Type.String()), where: Type.String() }, strict)),
    overrides: storedOverrides,
    response: Type.Optional(Type.Object(responseFields)),
    origin: orNull(Type.Object({ requestId: Type.String(), traceparent: name, traceId: name }, strict)),
  },
  strict,
)

export const inputSchemas = [version1] as const

/** A check that does not compile if `QueuedInput` has other fields than the newest schema. */
true satisfies SameFields<Omit<Static<typeof version1>, 'version' | 'response'>, Omit<QueuedInput, 'response'>>

const codec = versionedCodec('A queued message', inputSchemas)

export const encodeInput = (input: QueuedInput): string => codec.encode({ version: 1, ...input })

/** Returns the columns of an admission that may wait. */
export const admittedInput = (input: QueuedInput) => ({ input: encodeInput(input) })

export function decodeInput(text: string): QueuedInput {
  const { version: _, ...input } = codec.decode(text)
  return input
}
