/**
 * The memory of this instance: the session actors, those that came to rest lately, stateless replies, and how many
 * replies run.
 */
import type { ActorRefFrom } from 'xstate'
import { atMost } from '../../async/pause.ts'
import type { ReplyError } from '../reply/reply-event.ts'
import type { sessionMachine } from './machine.ts'
import type { RunningReply } from './running-reply.ts'

/** The visible part of a session. */
export interface SeenSession {
  sessionId: string
  agentId: string
  /** Path of the innermost state, and since when it is there. */
  state: string
  since: Date
}

export type Stopped = 'cancelled' | 'deleted' | 'lost'

/** A session that is held without a reply, as it is shown meanwhile. */
export interface Holding extends SeenSession {
  epoch: number
  /** Ends it. */
  stop(why: Stopped): void
  /** The promise that resolves when the session is held no more. */
  released: Promise<void>
}

/** Sessions with a reply: at rest a session is in the database only. */
export interface LiveSession extends SeenSession {
  actor: ActorRefFrom<typeof sessionMachine>
  reply: RunningReply
  /** The promise that resolves when the reply is settled, lost or deleted. */
  ended: PromiseWithResolvers<void>
  /** Set while the reply is offered to other instances: a cancel is for the one that has it afterwards. */
  offer: { cancel(): void } | null
}

export const isRunning = ({ actor }: LiveSession): boolean => actor.getSnapshot().hasTag('running')

export type SessionRegistry = ReturnType<typeof createSessionRegistry>

export function createSessionRegistry() {
  const live = new Map<string, LiveSession>()
  const rested = new Map<string, SeenSession>()
  const waiting = new Set<() => void>()
  let running = 0
  return {
    live: live as ReadonlyMap<string, LiveSession>,
    /** Returns the number of replies that run here, stateless ones included. */
    running: () => running,
    /** Sorted by the time of their rest, the latest last. */
    rested: rested as ReadonlyMap<string, SeenSession>,
    enter(session: LiveSession): void {
      rested.delete(session.sessionId)
      live.set(session.sessionId, session)
    },
    /** Puts a session to rest whose reply has ended. Does nothing if the session has another actor by now. */
    rest({ sessionId, agentId, state, since, ...session }: LiveSession): void {
      if (live.get(sessionId)?.actor !== session.actor) return
      live.delete(sessionId)
      if (state !== 'deleted') rested.set(sessionId, { sessionId, agentId, state, since })
    },
    /** Forgets a session's actor, or its place of rest. */
    forget(sessionId: string): void {
      live.delete(sessionId)
      rested.delete(sessionId)
    },
    began(): void {
      running += 1
    },
    ended(): void {
      running -= 1
      if (running === 0) for (const resolve of waiting) resolve()
    },
    /** Resolves when no reply runs, or after `ms`. */
    async quiet(ms: number): Promise<void> {
      if (running === 0) return
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.add(resolve)
      await atMost(ms, promise)
      waiting.delete(resolve)
    },
  }
}

/**
 * A stateless reply's share of the running replies: nothing of it is stored, but it counts, and can be ended. Dispose of it at
 * the end of the reply.
 */
export interface Slot extends Disposable {
  /** The signal that aborts when the reply is ended from outside; `error` then says why. */
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
    /** Returns the agents with a stateless reply here. */
    agents: (): string[] => [...new Set([...taken].map(({ agentId }) => agentId))],
    /** Ends the replies of this agent, or of all. */
    end(error: ReplyError, ofAgent?: string): void {
      for (const { agentId, end } of taken) if (ofAgent === undefined || ofAgent === agentId) end(error)
    },
  }
}
