/** An admitted message → its reply, running here. */

import { promptToSend } from '../../templates/prompt-template.ts'
import type { LeaseGate } from '../generate/gate.ts'
import { noActions, nothingInForce } from '../generate/waiting-calls.ts'
import type { Admitted, Counts, Exchange, Journal, Model, QueueStore } from '../ports/index.ts'
import { type Observer, unobserved } from '../ports/observer.ts'
import { noUsage } from '../session/actors.ts'
import { beginReply, cancelReply, errorOf, type LiveSessions } from '../session/live-sessions.ts'
import type { RunningReply } from '../session/running-reply.ts'
import type { ReadyMessage, Started } from '../session/send.ts'
import type { Reply } from './frame-log.ts'
import type { ReplyError } from './reply-event.ts'
import { createReplyLog } from './reply-log.ts'

export interface StartOptions {
  journal: Journal
  exchange: Exchange
  model: Model
  /** Checks this instance's own lease. */
  gate: LeaseGate
  historyMaxTokens: number
  generationTimeoutMs: number
  /** When absent, nothing is measured. */
  observer?: Observer
  /** When absent, no message waits. */
  queue?: { store: Pick<QueueStore, 'isSteered'> }
  log: Record<'error' | 'warn' | 'info', (details: object, message: string) => void>
}

export interface StartingHost extends LiveSessions {
  options: StartOptions
}

/** `queued`: the message comes from the queue; `refusal`: why its reply cannot be generated, or null. */
export function startReply(
  host: StartingHost,
  message: ReadyMessage,
  admission: Admitted,
  queued?: { refusal: ReplyError | null },
): Started {
  const { journal, exchange, model, gate, generationTimeoutMs, historyMaxTokens, queue } = host.options
  const { reply: info, restState, text, parentId, historyEnd, titleFrom } = admission
  const { carried, decided, inForce = nothingInForce, actions = noActions, by = null } = message
  const continued =
    carried && decided ? { chain: carried.chain, firstId: carried.firstId, decisions: decided.calls, by } : null
  const values = { user: null, metadata: {}, ...admission.values, sessionId: info.sessionId, at: info.createdAt }
  const observer = observe(host, info.id, message, values.user)
  const error = errorOf('internal', 'A part of the reply could not be stored.')
  const reply: RunningReply = {
    log: createReplyLog(info, {
      append: journal.append,
      withdraw: journal.withdraw,
      onStored: (after, events) => exchange.stored(info.id, after, events),
      onRefused() {
        reply.notStored = true
        host.byReply.get(info.id)?.actor.send({ type: 'failed', error })
      },
    }),
    text,
    parts: message.parts,
    parentId,
    isRegenerated: message.place !== undefined && 'regenerate' in message.place,
    historyEnd,
    isQueued: queued !== undefined,
    refusal: queued?.refusal ?? null,
    continued,
    inForce,
    titleFrom,
    request: { ...message.request, system: promptToSend(message.request.system, values, message.instructions ?? null) },
    options: {
      replyId: info.id,
      model,
      openToolbox: (signal) => message.openToolbox(signal, values),
      actions: { ...actions, ...(continued && { continued }) },
      timeoutMs: generationTimeoutMs,
      gate,
      observer,
      ...(queue && { isSteered: () => queue.store.isSteered(info.sessionId) }),
    },
    historyMaxTokens,
    requesterLost: false,
    generation: null,
    admittedAt: performance.now(),
    usage: noUsage,
    settlingSince: null,
    observer,
    end: { outcome: 'lost', error: null },
    notStored: false,
  }
  beginReply(host, message.agentId, restState, reply)
  if (host.admitting.get(info.id)?.cancelled) cancelReply(host, info.id)
  // Others declared this instance lost while the answer was under way: they end the reply, and nobody else will stop it here.
  if (info.epoch !== journal.epoch()) host.byReply.get(info.id)?.actor.send({ type: 'lost' })
  const requesterLost = () => {
    reply.requesterLost = true
  }
  return { outcome: 'started', reply: replyOf(reply), requesterLost, rate: admission.rate }
}

const observe = ({ options }: StartingHost, id: string, message: ReadyMessage, user: string | null) =>
  options.observer?.begin({
    id,
    purpose: 'reply',
    sessionId: message.sessionId,
    agentId: message.agentId,
    agentName: message.agentName,
    model: message.model,
    providerId: message.request.provider.id,
    providerType: message.request.provider.type,
    config: message.request.config,
    origin: message.origin,
    countsFor: countsFor(message.facts?.counts, user),
    decided: message.carried && { by: message.by ?? null, waitedMs: message.waitedMs ?? 0 },
  }) ?? unobserved

const countsFor = (counts: Counts | undefined, user: string | null) =>
  counts && { key: counts.key ?? null, user: counts.user ? user : null }

export const replyOf = ({ log }: RunningReply): Reply => ({ info: log.info, read: log.read })
