/** The ports of a session. Types only: the adapters implement them, `compose/` hands them in. */

export type * from './answer-fields.ts'
export type * from './exchange.ts'
export type * from './handover.ts'
export type * from './history.ts'
export type * from './journal.ts'
export type * from './limits.ts'
export type * from './model.ts'
export type * from './parts.ts'
export type * from './request.ts'
export type * from './steps.ts'
export type * from './tools.ts'
export type * from './waiting.ts'
