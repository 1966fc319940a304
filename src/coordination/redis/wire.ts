/** Messages between instances through Redis: small JSON, each to one instance's channel. */
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Place } from '../../actors/ports/index.ts'
import { eventSchemas } from '../../actors/reply/event-schema.ts'
import type { ReplyEvent, StoredEvent } from '../../actors/reply/reply-event.ts'

const place = Type.Tuple([Type.Integer(), Type.Integer()])
const { text: _, ...others } = eventSchemas
/** A text is sent as it is. */
const event = Type.Unsafe<string | Exclude<ReplyEvent, { type: 'text' }>>(
  Type.Union([Type.String(), ...Object.values(others)]),
)
const message = Type.Union([
  /** Intents or report requests are in the database: read them now. */
  Type.Object({ type: Type.Literal('wake') }),
  /** Send instance `from` what is stored of this reply, for the next few seconds. */
  Type.Object({ type: Type.Literal('follow'), reply: Type.String(), from: Type.String() }),
  Type.Object({ type: Type.Literal('leave'), reply: Type.String(), from: Type.String() }),
  /** Events that were stored after the position `after`. */
  Type.Object({
    type: Type.Literal('stored'),
    reply: Type.String(),
    after: place,
    events: Type.Array(Type.Tuple([Type.Integer(), Type.Integer(), event])),
  }),
  /** Positions of the followed replies. */
  Type.Object({ type: Type.Literal('heartbeat'), places: Type.Array(Type.Tuple([Type.String(), ...place.items])) }),
  Type.Object({ type: Type.Literal('ended'), reply: Type.String() }),
  /** Sent to itself: proves that both connections work. */
  Type.Object({ type: Type.Literal('echo') }),
])

export type Message = Static<typeof message>

const checked = Compile(message)

export const encode = (one: Message): string => JSON.stringify(one)

/** Parses a message. Null when it is not a message that this version understands. */
export function decode(text: string): Message | null {
  try {
    const value: unknown = JSON.parse(text)
    return checked.Check(value) ? value : null
  } catch {
    return null
  }
}

export const storedMessage = (reply: string, after: Place, events: readonly StoredEvent[]): Message => ({
  type: 'stored',
  reply,
  after: [after.seq, after.part],
  events: events.map(({ seq, part, event }) => [seq, part, event.type === 'text' ? event.text : event]),
})

export const eventsOf = ({ events }: Extract<Message, { type: 'stored' }>): StoredEvent[] =>
  events.map(([seq, part, event]) => ({
    seq,
    part,
    event: typeof event === 'string' ? { type: 'text', text: event } : event,
  }))
