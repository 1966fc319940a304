/** The session that answers a call, as the call's event and its step in the trace name it (contract section 30). */
import type { CallNotes } from '../../actors/ports/index.ts'
import { isObject } from '../../untrusted/is-object.ts'

export interface CalledSession {
  agentId: string
  sessionId: string
}

/** Returns what readers are told of a call. The event's key is stored, and sent between instances: it never changes. */
export const callNotes = (child: CalledSession): CallNotes => ({ event: { child }, step: { ...child } })

/** Returns the session that answers a call. Undefined where none does. */
export function childOf(call: object): CalledSession | undefined {
  if (!('child' in call) || !isObject(call.child)) return undefined
  const { agentId, sessionId } = call.child
  return typeof agentId === 'string' && typeof sessionId === 'string' ? { agentId, sessionId } : undefined
}
