/** An admitted message → its reply, running here. */

import { beginOpened, type Opening, type OpenOptions, openReply } from '../handover/open-reply.ts'
import type { Admitted } from '../ports/index.ts'
import type { LiveSessions } from '../session/live-sessions.ts'
import type { RunningReply } from '../session/running-reply.ts'
import type { ReadyMessage, Started } from '../session/send.ts'
import type { Reply } from './frame-log.ts'
import type { ReplyError } from './reply-event.ts'

export interface StartOptions extends OpenOptions {
  log: Record<'error' | 'warn' | 'info', (details: object, message: string) => void>
}

export interface StartingHost extends LiveSessions, Opening {
  options: StartOptions
}

/** `queued`: the message comes from the queue; `refusal`: why its reply cannot be generated, or null. */
export function startReply(
  host: StartingHost,
  message: ReadyMessage,
  admission: Admitted,
  queued?: { refusal: ReplyError | null },
): Started {
  const { reply: info, restState, text, parentId, historyEnd, history, titleFrom, values = {} } = admission
  const { carried, decided, by = null, place, parts } = message
  const continued =
    carried && decided ? { chain: carried.chain, firstId: carried.firstId, decisions: decided.calls, by } : null
  const where = {
    info,
    text,
    parts,
    parentId,
    historyEnd,
    history,
    isRegenerated: place !== undefined && 'regenerate' in place,
    isQueued: queued !== undefined,
    refusal: queued?.refusal ?? null,
    continued,
    titleFrom,
    values,
    decided: carried && { by, waitedMs: message.waitedMs ?? 0 },
    counts: message.facts?.counts,
  }
  const reply = openReply(host, message, where, null)
  beginOpened(host, message.agentId, restState, reply)
  const requesterLost = () => {
    reply.requesterLost = true
  }
  return { outcome: 'started', reply: replyOf(reply), requesterLost, rate: admission.rate }
}

export const replyOf = ({ log }: RunningReply): Reply => ({ info: log.info, read: log.read })
