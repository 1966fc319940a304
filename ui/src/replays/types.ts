import type { components } from '../../../openapi/generated/schema.ts'

export type Replay = components['schemas']['Replay']
export type ReplayCase = components['schemas']['ReplayCase']
export type Verdict = NonNullable<ReplayCase['verdict']>
