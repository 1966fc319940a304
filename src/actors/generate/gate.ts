import { unlessAborted } from '../../async/unless-aborted.ts'

/**
 * Whether this instance may act on the world: only while its own lease is valid, by its monotonic clock (contract section
 * 10). Checked at the moment of acting: before each model and tool call, and by the outbound guard as a request is about
 * to be written to its socket. A process that was stopped in between wakes with its promises resolved; what it finds here
 * is the time that has passed meanwhile.
 */
export interface LeaseGate {
  /** Whether the lease is valid now. When it is not, all that hold the gate are stopped before this returns. */
  check(): boolean
  /** Stops all that hold the gate: the lease was over, even if it is valid again now. */
  stop(): void
  /** `stop` is called as soon as a check finds the lease over. Returns what takes it back. */
  hold(stop: () => void): () => void
}

/** `validUntil`: by `performance.now()`. */
export function createLeaseGate(validUntil: () => number): LeaseGate {
  const holders = new Set<() => void>()
  const stopAll = () => {
    for (const stop of [...holders]) stop()
  }
  return {
    check() {
      if (performance.now() < validUntil()) return true
      stopAll()
      return false
    },
    stop: stopAll,
    hold(stop) {
      holders.add(stop)
      return () => void holders.delete(stop)
    },
  }
}

interface Passing {
  /** The argument of `Generation.run`. */
  stored: (() => Promise<boolean>) | undefined
  notStored(): never
  gate?: LeaseGate
  signal: AbortSignal
}

/**
 * Call before any outgoing request of a reply: all that it has emitted is stored, and the lease of this
 * instance is valid now. The caller must act at once, in the same tick. Rejects when the reply is to end.
 */
export async function passGate({ stored, notStored, gate, signal }: Passing): Promise<void> {
  if (stored !== undefined && !(await unlessAborted(stored(), signal))) notStored()
  gate?.check()
  signal.throwIfAborted()
}
