/** The rest of a conversation's messages when its last item is taken back (contract section 32). Pure. */
import type { GivenMessage } from '../../../../actors/ports/index.ts'
import type { ReplyEvent } from '../../../../actors/reply/reply-event.ts'
import type { Shortened } from '../store/conversation-items.ts'
import type { StoredTurn } from '../store/stored-inputs.ts'
import { shownOutput } from './stored-items.ts'

type Answer = Extract<StoredTurn, { role: 'assistant' }>

/**
 * Returns the messages without the last item of `head`. An output goes with its call. `before`: the reply whose calls
 * the head's decisions are about, or null.
 */
export function shortenedAt(
  head: StoredTurn,
  before: StoredTurn | null,
): { changes: readonly Shortened[]; call: string | null } {
  if (head.role === 'user') return { changes: [{ id: head.id, rest: null }], call: null }
  const events = shownEvents(head)
  const last = events.at(-1)
  const decided = head.decisions.at(-1)
  if (last !== undefined || decided === undefined) {
    const isWith = (event: ReplyEvent) =>
      last?.type === 'tool_result' && event.type === 'tool_call' && event.id === last.id
    const call = events.findLastIndex(isWith)
    const rest = events.slice(0, -1).filter((_, index) => index !== call)
    return { changes: [{ id: head.id, rest: messageOf(rest, head.decisions.length > 0) }], call: null }
  }
  const own = { id: head.id, rest: messageOf([], head.decisions.length > 1) }
  if (before?.role !== 'assistant') return { changes: [own], call: decided.callId }
  const asked = shownEvents(before).filter((event) => !(event.type === 'tool_call' && event.id === decided.callId))
  return {
    changes: [own, { id: before.id, rest: messageOf(asked, before.decisions.length > 0) }],
    call: decided.callId,
  }
}

/** Returns the events that a message's items stand for, as a given message has them. */
function shownEvents(turn: Answer): ReplyEvent[] {
  const stored = turn.events.map(({ event }) => event)
  if (turn.isGiven) return stored
  const startedAt = turn.createdAt.toISOString()
  return shownOutput(turn).flatMap((item): ReplyEvent[] => {
    if (item.type === 'message') return [{ type: 'text', text: item.content.map(({ text }) => text).join('') }]
    if (item.type !== 'function_call') return []
    return [
      {
        type: 'tool_call',
        id: item.call_id,
        name: item.name,
        arguments: item.arguments,
        startedAt,
      },
    ]
  })
}

/** Returns a given message of these events. Null when nothing is left. `hasDecisions`: it shows outputs besides. */
function messageOf(events: readonly ReplyEvent[], hasDecisions: boolean): GivenMessage | null {
  if (events.length === 0 && !hasDecisions) return null
  const content = events.map((event) => (event.type === 'text' ? event.text : '')).join('')
  return { role: 'assistant', content, events }
}
