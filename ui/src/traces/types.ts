import type { components } from '../../../openapi/generated/schema.ts'

export type Trace = components['schemas']['ReplyTrace']
export type Span = components['schemas']['ReplySpan']
export type ModelRequest = components['schemas']['ReplyModelRequest']
