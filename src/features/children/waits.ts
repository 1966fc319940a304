/** Calls of this instance that wait for their children to end, or to wait themselves. */
import { createPoll } from '../../async/poll.ts'
import type { ChildState } from './store/children.ts'

/** A child may run on another instance: its end is seen here within this time. */
const POLL_MS = 250

export type Waits = ReturnType<typeof createWaits>

/** A call of an agent. */
export interface WaitingCall {
  /** The session that calls. */
  parent: string
  /** The session that answers. Null until it is there. */
  child: string | null
  /** Returns whether the reply waits for nothing but calls of agents. */
  isAlone(): boolean
  end: PromiseWithResolvers<ChildState>
}

export function createWaits(states: (sessionIds: readonly string[]) => Promise<ChildState[]>) {
  const calls = new Set<WaitingCall>()
  const childIds = () => [...calls].flatMap(({ child }) => child ?? [])

  /** Looks for ends. A database that is away says nothing: the next look asks again. */
  async function look(): Promise<void> {
    const found = new Map((await states(childIds()).catch(() => [])).map((one) => [one.sessionId, one]))
    for (const call of calls) {
      const state = found.get(call.child ?? '')
      if (state && state.state !== 'waiting') finish(call, state)
    }
    // A reply waits when none of its calls can go on without somebody.
    for (const [, open] of Map.groupBy(calls, ({ parent }) => parent)) {
      const waiting = open.map((call) => ({ call, state: found.get(call.child ?? '') }))
      if (waiting.some(({ call, state }) => state === undefined || !call.isAlone())) continue
      for (const { call, state } of waiting) if (state) finish(call, state)
    }
  }

  function finish(call: WaitingCall, state: ChildState): void {
    call.end.resolve(state)
    calls.delete(call)
  }

  const poll = createPoll(POLL_MS, () => childIds().length > 0, look)

  return {
    /** Notes a call that is about to have its child. Call `over` when nobody waits for it any more. */
    open(parent: string, isAlone: () => boolean): WaitingCall {
      const call: WaitingCall = { parent, child: null, isAlone, end: Promise.withResolvers() }
      // A rejection before `end` waits for it is no unhandled one.
      call.end.promise.catch(() => {})
      calls.add(call)
      return call
    },
    /** Resolves to how a child has ended, or that the reply waits with it. Rejects with the signal's reason. */
    async end(call: WaitingCall, child: string, signal: AbortSignal): Promise<ChildState> {
      signal.throwIfAborted()
      call.child = child
      const leave = () => call.end.reject(signal.reason)
      signal.addEventListener('abort', leave)
      poll.start()
      try {
        return await call.end.promise
      } finally {
        signal.removeEventListener('abort', leave)
      }
    },
    over: (call: WaitingCall): void => void calls.delete(call),
    size: (): number => childIds().length,
    /** Cuts the wait for the next look short: a reply has ended here. */
    wake: poll.wake,
  }
}
