/** Drains an instance: running replies may finish for a while, then the rest is ended. */

import type { RemoteReplies } from '../reply/remote-reply.ts'
import type { ReplyError } from '../reply/reply-event.ts'
import type { LiveSessions } from './live-sessions.ts'

export interface DrainOptions {
  /** How long running replies may continue, and how long storing the outcomes of the rest may take. Milliseconds. */
  graceMs: number
  settleMs: number
  /** The error of the rest. */
  error: ReplyError
  /** Called when running replies have ended, or their time is over. */
  onGraceOver(): void
  log: { info(details: object, message: string): void }
  /** Gives those away that another instance goes on with. */
  giveUp(): Promise<void>
}

/** Resolves when no reply runs, or the time is over. */
export async function drainSessions(
  sessions: LiveSessions & { remote: RemoteReplies },
  { graceMs, settleMs, error, log, onGraceOver, giveUp }: DrainOptions,
): Promise<void> {
  const { registry, remote } = sessions
  const begin = performance.now()
  await registry.quiet(graceMs)
  onGraceOver()
  // Those that were handed over meanwhile have readers here.
  await remote.givenRead(Math.max(0, graceMs - (performance.now() - begin)))
  remote.cutGiven()
  const running = registry.running()
  if (running > 0) log.info({ running }, 'Ending the replies that still run.')
  if (running > 0) await giveUp()
  for (const session of sessions.byReply.values()) session.actor.send({ type: 'failed', error })
  sessions.slots.end(error)
  await registry.quiet(settleMs)
}
