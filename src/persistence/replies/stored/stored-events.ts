/** Reads the events of replies that are stored as JSON: all but texts and reasoning, which are columns. */
import Type, { type Static } from 'typebox'
import type { HistoryToolEvent } from '../../../actors/ports/index.ts'
import { eventSchemas } from '../../../actors/reply/event-schema.ts'
import type { ReplyEvent, StoredEvent } from '../../../actors/reply/reply-event.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { decoder } from '../../stored-json.ts'

const decoders = new Map<unknown, (value: unknown) => ReplyEvent>(
  Object.entries(eventSchemas).map(([kind, schema]) => [kind, decoder(`An event of the kind ${kind}`, schema)]),
)

/** Reads an event. The kind is looked up first: to try the schemas in turn would be slower, and would not name the fault. */
export function decodeEvent(value: unknown): ReplyEvent {
  const kind = isObject(value) ? value.type : undefined
  const decode = decoders.get(kind)
  if (!decode) throw new Error(`An event is stored with the type ${kind}, which is not known.`)
  return decode(value)
}

/** Reads `messages.tool_events`. Null means that the reply has none. */
export function decodeEvents(value: unknown): StoredEvent[] {
  if (value === null) return []
  return decodeList(value).map(({ seq, part, event }) => ({ seq, part, event: decodeEvent(event) }))
}

const decodeList = decoder(
  'A list of events',
  Type.Array(Type.Object({ seq: Type.Integer(), part: Type.Integer(), event: Type.Unknown() })),
)

const historyEvent = Type.Union([eventSchemas.tool_call, eventSchemas.tool_result])
const historyEvents = Type.Array(Type.Object({ end: Type.Integer(), event: historyEvent }))
/** Does not compile when a history holds an event of another kind. */
true satisfies HistoryToolEvent['event'] extends Static<typeof historyEvent> ? true : false

/** The decoder of the part of `tool_events` that a history needs. Null means that there is nothing. */
export const decodeHistoryEvents = decoder(
  'What tools were asked and answered',
  Type.Union([historyEvents, Type.Null()]),
)
