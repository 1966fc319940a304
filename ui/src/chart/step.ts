import type { components } from '../../../openapi/generated/schema.ts'

/** What a session did, or a note of what happened meanwhile. */
export type Step = components['schemas']['SessionTransition']
