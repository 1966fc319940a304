/** Stateless replies: nothing of them is stored, but they count as running replies and can be ended. */
import type { ReplyError } from '../reply/reply-event.ts'
import type { SessionRegistry } from './registry.ts'

/** A stateless reply's share of the running replies. Dispose of it at the end of the reply. */
export interface Slot extends Disposable {
  /** Aborts when the reply is ended from outside; `error` then says why. */
  signal: AbortSignal
  error(): ReplyError | null
}

export type Slots = ReturnType<typeof createSlots>

export function createSlots(registry: Pick<SessionRegistry, 'began' | 'ended'>) {
  const taken = new Set<{ agentId: string; end(error: ReplyError): void }>()
  return {
    take(agentId: string): Slot {
      const controller = new AbortController()
      let error: ReplyError | null = null
      const end = (why: ReplyError) => {
        error ??= why
        controller.abort()
      }
      const reply = { agentId, end }
      taken.add(reply)
      registry.began()
      return {
        signal: controller.signal,
        error: () => error,
        [Symbol.dispose]() {
          if (taken.delete(reply)) registry.ended()
        },
      }
    },
    /** Agents with a stateless reply here. */
    agents: (): string[] => [...new Set([...taken].map(({ agentId }) => agentId))],
    /** Ends the replies of this agent, or of all. */
    end(error: ReplyError, ofAgent?: string): void {
      for (const { agentId, end } of taken) if (ofAgent === undefined || ofAgent === agentId) end(error)
    },
  }
}
