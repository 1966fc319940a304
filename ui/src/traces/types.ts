import type { components } from '../../../openapi/generated/schema.ts'

export type Trace = components['schemas']['ReplyTrace']
export type Span = components['schemas']['ReplySpan']
export type ModelRequest = components['schemas']['ReplyModelRequest']

/** The reply that a trace is of. It has the contents that the trace itself does not hold. */
export interface TracedReply {
  id: string
  sessionId: string
  isRunning: boolean
  toolCalls: readonly Pick<
    components['schemas']['PlaygroundMessage']['toolCalls'][number],
    'id' | 'name' | 'arguments' | 'content'
  >[]
  error: components['schemas']['PlaygroundMessage']['error']
}
