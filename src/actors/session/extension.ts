/** The seam between the host and its extensions: what an extension may do while replies run, and what the host offers it. */

import type { LeaseGate } from '../generate/endings.ts'
import type { Capabilities, Compaction } from '../generate/running.ts'
import type { Told } from '../history/conversation.ts'
import type { Model, ReplyInfo, ReplyStart, RequestRate, StoredTurn } from '../ports/index.ts'
import type { Observer } from '../ports/observer.ts'
import type { Reply } from '../reply/frame-log.ts'
import type { RemoteReplies } from '../reply/remote-reply.ts'
import type { LiveOptions, LiveSessions } from './live-sessions.ts'
import type { HostSent, NoRoomHere } from './send.ts'

/** A message that is stored to wait while its session is busy. */
export interface WaitingMessage {
  replyId: string
  sessionId: string
  /** 1 is next; 0 when it goes before all that wait. */
  position: number
  rate?: RequestRate
}

/** The place between two turns of a running reply. */
export interface Boundary {
  reply: ReplyInfo
  /** False when models have seen what is stored nowhere: no other instance can go on with the reply. */
  isStored: boolean
}

/** The steps of a drain. `over`: the time of running replies has passed, but for `leftMs` (milliseconds). */
export type DrainStage = { type: 'begins' } | { type: 'over'; leftMs: number }

/** The hooks of a capability. The host calls them in the order of its extensions; a hook that fails ends no reply. */
export interface HostExtension {
  /** Answers the sender of a message that waits. Only one extension may have it. Without it no message waits. */
  onBusy?(message: WaitingMessage, isJoined: boolean): Promise<HostSent>
  /**
   * Decides about a reply before its next turn. `ends`: the reply ends here. `waited`: it was held up meanwhile, so
   * that the extensions before this one are called again.
   */
  atBoundary?(boundary: Boundary): Promise<'ends' | 'waited' | null> | null
  /**
   * Takes note that nothing could be stored of a reply for a lease. Resolves to whether another instance goes on with
   * it.
   */
  onLost?(reply: ReplyInfo): Promise<boolean>
  /** Takes note that a session was cancelled in which nothing runs. */
  onCancel?(sessionId: string): Promise<void>
  /** Takes part in a drain, as this instance stops. */
  onDrain?(stage: DrainStage): Promise<void>
  /** Takes note that a session comes to rest. `next`: the reply to a message that waited, which has begun in it. */
  onEnd?(next: string | null): void
}

export interface HostOptions extends LiveOptions {
  model: Model
  /** Checks this instance's own lease. */
  gate: LeaseGate
  maxRunning: number
  /**
   * The time that a reply may go without a successful write before its streams close, and that an admission of unknown
   * outcome is asked about (milliseconds).
   */
  leaseMs: number
  historyMaxTokens: number
  generationTimeoutMs: number
  capabilities?: HostCapabilities
  /** The observer of replies. When absent, nothing is measured. */
  observer?: Observer
  log: Record<'error' | 'warn' | 'info', (details: object, message: string) => void>
}

export interface HostCapabilities extends Omit<Capabilities, 'compaction'> {
  /** Returns the compaction of a reply's conversation. When absent, a long history is cut. */
  compaction?(told: Told | null, reply: ReplyInfo): Compaction
  /**
   * Stores the n-th turn of calls, from 1. Resolves to false when the reply is not this instance's any more. When absent,
   * turns are not stored.
   */
  keepTurn?(reply: ReplyInfo, n: number, turn: StoredTurn, start: ReplyStart | null): Promise<boolean>
}

/** The host as its own parts and its extensions see it. */
export interface Host extends LiveSessions {
  readonly options: HostOptions
  readonly remote: RemoteReplies
  extensions: readonly HostExtension[]
  draining: boolean
  /** Decides why no reply can begin here. Null when one can. */
  refusal(): NoRoomHere | null
  /** Runs work that begins replies here after such work before it, whose replies it then counts. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
  /** Finds a reply by its id, wherever it runs or ran. Null when there is none (any more). */
  open(replyId: string): Promise<Reply | null>
  /** Tells the extensions that a session has come to rest. */
  ended(next: string | null): void
}

type Extended = Pick<Host, 'extensions'> & { options: Pick<HostOptions, 'log'> }

const failed =
  ({ options }: Extended, hook: keyof HostExtension) =>
  (err: unknown): null => {
    options.log.error({ err, hook }, 'An extension failed.')
    return null
  }

/** Decides whether a reply ends at a boundary. */
export async function endsAtBoundary(
  host: Extended,
  boundary: Boundary,
  extensions = host.extensions,
): Promise<boolean> {
  for (const [index, extension] of extensions.entries()) {
    if (extension.atBoundary === undefined) continue
    const answer = await attempt(() => extension.atBoundary?.(boundary)).catch(failed(host, 'atBoundary'))
    if (answer === 'ends') return true
    if (answer === 'waited' && (await endsAtBoundary(host, boundary, extensions.slice(0, index)))) return true
  }
  return false
}

/** Decides whether another instance goes on with a reply that this one can store nothing more of. */
export async function goesOnElsewhere(host: Extended, reply: ReplyInfo): Promise<boolean> {
  for (const extension of host.extensions) {
    if (await attempt(() => extension.onLost?.(reply)).catch(failed(host, 'onLost'))) return true
  }
  return false
}

/** Resolves when all extensions have done their part of a stage. */
export async function drainExtensions(host: Extended, stage: DrainStage): Promise<void> {
  const work = host.extensions.map((one) => attempt(() => one.onDrain?.(stage)).catch(failed(host, 'onDrain')))
  await Promise.all(work)
}

/** Resolves when all extensions have noted the cancel of a session in which nothing runs. */
export async function cancelExtensions(host: Extended, sessionId: string): Promise<void> {
  for (const extension of host.extensions) {
    await attempt(() => extension.onCancel?.(sessionId)).catch(failed(host, 'onCancel'))
  }
}

export function endExtensions(host: Extended, next: string | null): void {
  for (const extension of host.extensions) {
    try {
      extension.onEnd?.(next)
    } catch (error) {
      failed(host, 'onEnd')(error)
    }
  }
}

/** Calls at once, and rejects where the call throws. */
const attempt = async <T>(call: () => T): Promise<Awaited<T>> => await call()
