/**
 * Reply events as JSON: stored for months, and sent between instances that may be of two releases. An event has no version,
 * since its kind names its form. A field that is added is optional, so that what was stored before is still read; to change
 * or remove a field, add a kind. test/persistence/replies/stored-events.test.ts keeps a record of each kind.
 */
import Type, { type Static } from 'typebox'
import type { ReplyEvent, ReplyEventKind } from './reply-event.ts'

/** The schema of each kind. Fields that a later release may add are allowed. */
export const eventSchemas = {
  text: Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  reasoning: Type.Object({ type: Type.Literal('reasoning'), text: Type.String() }),
  tool_call: Type.Object({
    type: Type.Literal('tool_call'),
    id: Type.String(),
    name: Type.String(),
    arguments: Type.String(),
    startedAt: Type.String(),
    waits: Type.Optional(Type.Union([Type.Literal('approval'), Type.Literal('caller')])),
  }),
  tool_begun: Type.Object({ type: Type.Literal('tool_begun'), id: Type.String(), startedAt: Type.String() }),
  tool_result: Type.Object({
    type: Type.Literal('tool_result'),
    id: Type.String(),
    ok: Type.Boolean(),
    content: Type.String(),
    durationMs: Type.Number(),
    denied: Type.Optional(Type.Literal(true)),
  }),
  tool_unknown: Type.Object({ type: Type.Literal('tool_unknown'), id: Type.String() }),
  model: Type.Object({ type: Type.Literal('model'), model: Type.String(), providerId: Type.String() }),
} as const satisfies Record<ReplyEventKind, Type.TSchema>

type Flat<T> = T extends unknown ? { [Key in keyof T]: T[Key] } : never
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type OfSchemas = { [Kind in ReplyEventKind]: Flat<Static<(typeof eventSchemas)[Kind]>> }
type OfEvents = { [Kind in ReplyEventKind]: Flat<Extract<ReplyEvent, { type: Kind }>> }
/** Does not compile when a kind of event is not what its schema says. */
true satisfies Same<OfSchemas, OfEvents>
