/** A cancel, from its intent to the end of the reply: here, or on the instance that runs it. */

import { pause } from '../../async/pause.ts'
import type { ToCancel } from '../ports/index.ts'
import { StreamCut } from '../reply/frame-log.ts'
import { cancelExtensions, type Host } from './extension.ts'
import { cancelReply } from './live-sessions.ts'
import type { LiveSession } from './registry.ts'

/** The longest wait of cancel and interrupt for the reply to settle (contract section 4). */
const SETTLE_WAIT_MS = 2000

/** Resolves when what is meant is settled, or after 2 s. The intent is written first. */
export async function cancelAndWait(host: Host, sessionId: string, which: ToCancel = {}): Promise<void> {
  const { journal, exchange } = host.options
  const asked = await journal.requestCancel(sessionId, which)
  if (asked === null) return which.only || which.but ? undefined : await cancelExtensions(host, sessionId)
  const here = host.byReply.get(asked.replyId)
  cancelReply(host, asked.replyId)
  const holding = host.held.get(asked.replyId)
  // Also where the reply still seems to run here: another instance may have taken it over just now.
  exchange.wake([asked.instanceId])
  const late = new AbortController()
  const deadline = setTimeout(() => late.abort(), SETTLE_WAIT_MS)
  try {
    const isLate = new Promise((resolve) => late.signal.addEventListener('abort', resolve))
    const elsewhere = () => endElsewhere(host, sessionId, asked.replyId, late.signal)
    const ended = here ? endHere(here, elsewhere) : (holding?.released ?? elsewhere())
    await Promise.race([ended, isLate])
  } finally {
    clearTimeout(deadline)
    late.abort()
  }
}

/** Resolves when the reply is settled: elsewhere, if another instance has taken it over meanwhile. */
async function endHere({ ended, reply: { log } }: LiveSession, elsewhere: () => Promise<void>): Promise<void> {
  await ended.promise
  const state = log.state()
  if (state === 'open' || state === 'cut') await elsewhere()
}

/** The interval between two looks at a session that is held elsewhere. */
const LOOK_MS = 50

/** Resolves when what runs elsewhere has ended, or cannot be followed at the moment. */
async function endElsewhere(host: Host, sessionId: string, id: string, signal: AbortSignal): Promise<void> {
  const reply = await host.remote.open(id)
  if (reply === null) return await releaseElsewhere(host, sessionId, id, signal)
  try {
    await reply.read(Number.MAX_SAFE_INTEGER, signal, () => undefined)
  } catch (error) {
    if (!(error instanceof StreamCut)) throw error
  }
}

/** Resolves when a session is held no more by what holds it elsewhere, and has no frames that could be followed. */
async function releaseElsewhere(
  { options: { journal } }: Host,
  sessionId: string,
  hold: string,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && (await journal.isHeld(sessionId, hold))) await pause(LOOK_MS, signal)
}
