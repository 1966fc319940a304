/**
 * Reads the detail of a step, as it is stored. It has no version, as the columns of a message: stored-json.test.ts keeps a
 * record of it.
 */
import Type, { type Static } from 'typebox'
import type { StepDetail } from '../../../actors/ports/index.ts'
import { decoder, type SameFields } from '../../../persistence/stored-json.ts'

const stepDetailSchema = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]),
)

/** A check that does not compile if the type differs from its schema. */
true satisfies SameFields<Static<typeof stepDetailSchema>, StepDetail>

export const decodeStepDetail = decoder('The detail of a step', stepDetailSchema)
