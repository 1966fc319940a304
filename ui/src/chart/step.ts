import type { components } from '../../../openapi/generated/schema.ts'

/** A step of a session, or a note of an event between steps. */
export type Step = components['schemas']['SessionTransition']
