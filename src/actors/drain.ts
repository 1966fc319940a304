/** The end of an instance: replies may finish for a while, then the rest is ended. */
import { type LiveSessions, runningReplies } from './live-sessions.ts'
import type { ReplyError } from './reply-event.ts'
import type { SessionRegistry } from './session-registry.ts'

export interface DrainOptions {
  /** How long running replies may go on, and how long the outcomes of those that were ended may take. Milliseconds. */
  graceMs: number
  settleMs: number
  /** What the rest ends with. */
  error: ReplyError
  log: { info(details: object, message: string): void }
}

/** Resolves when nothing runs any more, or the time is over. */
export async function drainSessions(
  sessions: LiveSessions,
  { graceMs, settleMs, error, log }: DrainOptions,
): Promise<void> {
  await untilQuiet(sessions.registry, graceMs)
  const running = runningReplies(sessions)
  if (running > 0) log.info({ running }, 'Ending the replies that still run.')
  for (const session of sessions.byReply.values()) session.actor.send({ type: 'failed', error })
  sessions.slots.end(error)
  await untilQuiet(sessions.registry, settleMs)
}

/** Resolves when no reply runs, or after `ms`. */
function untilQuiet(registry: SessionRegistry, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      subscription.unsubscribe()
      resolve()
    }
    const timer = setTimeout(done, ms)
    const subscription = registry.subscribe(({ context }) => {
      if (context.running === 0) done()
    })
    if (registry.getSnapshot().context.running === 0) done()
  })
}
