import type { components } from '../../../openapi/generated/schema.ts'

type Schemas = components['schemas']

/** A step of a session, or a note of an event between steps. */
export type Step = Schemas['SessionTransition']

export type Chart = Schemas['Chart']
export type ChartState = Chart['states'][number]
export type ChartTransition = Chart['transitions'][number]
