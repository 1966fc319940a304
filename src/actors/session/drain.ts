/** Drains an instance: running replies may finish for a while, then the rest is ended. */

import type { ReplyError } from '../reply/reply-event.ts'
import { drainExtensions, type Host } from './extension.ts'

export interface DrainOptions {
  /** The time that running replies may continue, and that storing the outcomes of the rest may take. Milliseconds. */
  graceMs: number
  settleMs: number
  /** The error of the rest. */
  error: ReplyError
}

/** Resolves when no reply runs, or the time is over. */
export async function drainSessions(host: Host, { graceMs, settleMs, error }: DrainOptions): Promise<void> {
  const { registry, options } = host
  const begin = performance.now()
  await registry.quiet(graceMs)
  const running = registry.running()
  if (running > 0) options.log.info({ running }, 'Ending the replies that still run.')
  await drainExtensions(host, { type: 'over', leftMs: Math.max(0, graceMs - (performance.now() - begin)) })
  for (const session of host.byReply.values()) session.actor.send({ type: 'failed', error })
  host.slots.end(error)
  await registry.quiet(settleMs)
}
