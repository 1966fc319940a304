/** Makes the running part of a reply, and begins it: its message was admitted here, or another instance began it. */

import { createActor } from 'xstate'
import type { ReplyValues } from '../../templates/placeholders.ts'
import { holdsTime, promptToSend } from '../../templates/prompt-template.ts'
import { noActions } from '../generate/defaults.ts'
import type { Resumption } from '../generate/running.ts'
import type { Admitted, Counts, InForce, ReplyInfo, ReplyStart } from '../ports/index.ts'
import { type Adopted, type ObservedReply, type Observer, unobserved } from '../ports/observer.ts'
import { countedOf } from '../session/actors.ts'
import { endsAtBoundary, goesOnElsewhere, type Host } from '../session/extension.ts'
import { cancelReply, type LiveSessions } from '../session/live-sessions.ts'
import { startingAt } from '../session/machine.ts'
import type { LiveSession } from '../session/registry.ts'
import type { RunningReply } from '../session/running-reply.ts'
import type { MessageRecord, ReplySetup, Started } from '../session/send.ts'
import type { InitialState } from '../session/session-event.ts'
import type { Reply } from './frame-log.ts'
import { noUsage, type ReplyError, type StoredEvent, unstorable } from './reply-event.ts'
import { createReplyLog, type ReplyLogOptions } from './reply-log.ts'

/** The place of a reply in its session. */
interface ReplyPlace
  extends Pick<
    RunningReply,
    'text' | 'parts' | 'parentId' | 'historyEnd' | 'isRegenerated' | 'isQueued' | 'refusal' | 'continued' | 'titleFrom'
  > {
  info: ReplyInfo
  agentId: string
  values: Partial<Pick<ReplyValues, 'user' | 'metadata'>>
  history?: Admitted['history']
  decided?: ObservedReply['decided']
  hasParent?: boolean | undefined
  /** The limits that its use counts for. When absent, it counts for nobody's. */
  counts?: Counts | undefined
}

/** A reply that another instance began. */
export interface TakenOver {
  adopted: Adopted
  from: Resumption
  /** All that is stored of it. */
  events: readonly StoredEvent[]
}

export const nothingInForce: InForce = { tools: [], fields: {}, overrides: null }

/**
 * Starts the reply to a message. `queued`: the message comes from the queue; `refusal`: why its reply cannot be
 * generated, or null.
 */
export function startReply(
  host: Host,
  { message, setup, extras }: MessageRecord,
  admission: Admitted,
  queued?: { refusal: ReplyError | null },
): Started {
  const { reply: info, restState, text, parentId, historyEnd, history, titleFrom, values = {} } = admission
  const { agentId, by = null, place, facts } = message
  const { carried, waitedMs = 0 } = setup.continued ?? {}
  const { parts = [], approval } = extras
  const decisions = admission.decided ?? approval?.decided?.calls
  const continued = carried && decisions ? { chain: carried.chain, firstId: carried.firstId, decisions, by } : null
  const where = {
    info,
    agentId,
    text,
    parts: parts.filter(({ callId }) => callId === undefined),
    parentId,
    historyEnd,
    history,
    isRegenerated: place !== undefined && 'regenerate' in place,
    isQueued: queued !== undefined,
    refusal: queued?.refusal ?? null,
    continued,
    titleFrom,
    values,
    decided: carried && { by, waitedMs },
    counts: facts?.counts,
    hasParent: admission.hasParent,
  }
  const reply = openReply(host, setup, where, null)
  beginOpened(host, agentId, restState, reply)
  const requesterLost = () => {
    reply.requesterLost = true
  }
  return { outcome: 'started', reply: replyOf(reply), requesterLost, rate: admission.rate }
}

export const replyOf = ({ log }: RunningReply): Reply => ({ info: log.info, read: log.read })

/** Makes the running part of a reply. `taken`: null when it begins here. */
export function openReply(host: Host, setup: ReplySetup, place: ReplyPlace, taken: TakenOver | null): RunningReply {
  const { journal, exchange, model, gate, generationTimeoutMs, historyMaxTokens, capabilities = {} } = host.options
  const { keepTurn, compaction, ...within } = capabilities
  const { info, agentId, decided, counts, values: known, history = null, hasParent, ...where } = place
  const { inForce = nothingInForce, actions = noActions, instructions = null, request } = setup
  const values = { user: null, metadata: {}, ...known, sessionId: info.sessionId, at: info.createdAt }
  const from = taken?.from ?? null
  const observer = observe(host.options.observer, {
    setup,
    info,
    agentId,
    decided,
    adopted: taken?.adopted,
    countsFor: counts && { key: counts.key ?? null, user: counts.user ? values.user : null },
  })
  const elapsedMs = taken?.adopted.elapsedMs ?? 0
  const start = startOf(setup)
  const onRefused = () => {
    reply.notStored = true
    host.byReply.get(info.id)?.actor.send({ type: 'failed', error: unstorable })
  }
  const { append, withdraw } = journal
  const onStored: ReplyLogOptions['onStored'] = (after, events) => exchange.stored(info.id, after, events)
  const reply: RunningReply = {
    ...where,
    history,
    log: createReplyLog(info, { append, withdraw, onStored, onRefused }, taken?.events),
    inForce,
    from,
    adopted: taken?.adopted.reason ?? null,
    request: { ...request, system: promptToSend(request.system, values, instructions) },
    options: {
      ...within,
      replyId: info.id,
      model,
      openToolbox: (signal) => setup.openToolbox(signal, values),
      actions: {
        ...actions,
        ...(hasParent && { hasParent }),
        ...(where.continued && { continued: where.continued }),
      },
      timeoutMs: Math.max(1, generationTimeoutMs - elapsedMs),
      gate,
      observer,
      ...(from && { from }),
      ...(compaction && { compaction: (told) => compaction(told, info) }),
      ...(keepTurn && {
        keepTurn: (n, turn) => keepTurn(info, n, { ...turn, ...countedOf(reply) }, n === 1 ? start : null),
      }),
      atBoundary: (isStored) => endsAtBoundary(host, { reply: info, isStored }),
    },
    historyMaxTokens,
    timeMark: holdsTime(request.system) ? values.at : null,
    // Its client may be gone with the former owner: what it sends again must find this reply.
    requesterLost: taken !== null,
    generation: null,
    admittedAt: performance.now() - elapsedMs,
    usage: noUsage,
    settlingSince: null,
    observer,
    end: { outcome: 'lost', error: null },
    notStored: false,
    isEndRecorded: false,
    goesOnElsewhere: () => goesOnElsewhere(host, info),
  }
  return reply
}

/** Begins it, unless it was stopped while the database's answer was under way. */
export function beginOpened(
  host: LiveSessions & { options: Pick<Host['options'], 'journal'> },
  agentId: string,
  state: InitialState,
  reply: RunningReply,
): void {
  const { id, epoch } = reply.log.info
  beginReply(host, agentId, state, reply)
  const stopped = host.admitting.get(id)?.stopped
  if (stopped === 'cancelled') cancelReply(host, id)
  if (stopped === 'deleted') host.byReply.get(id)?.actor.send({ type: 'deleted' })
  // Others declared this instance lost meanwhile: they end the reply, or go on with it, and nobody else will stop it here.
  if (epoch !== host.options.journal.epoch()) host.byReply.get(id)?.actor.send({ type: 'lost' })
}

/** Gives a reply to its session's actor, which begins in the state that is stored. */
function beginReply(sessions: LiveSessions, agentId: string, state: InitialState, reply: RunningReply): void {
  const { registry, byReply } = sessions
  const { id, sessionId, sessionNum } = reply.log.info
  const known = registry.live.get(sessionId)
  const isLate = known !== undefined && isNewer(known.reply.log.info, reply.log.info)
  if (known && !isLate) retire(known, sessionNum)
  const session = createSession(sessions, agentId, state, reply)
  byReply.set(id, session)
  if (!isLate) registry.enter(session)
  session.actor.start()
  registry.began()
  session.actor.send({ type: beginningOf(reply), reply })
  if (isLate) retire(session, known.reply.log.info.sessionNum)
}

/**
 * Returns whether a reply began later than another one in the same session, or in a session that was made later under
 * the same id. The older one may begin here second: the answer to an admission can come when its reply is over already.
 */
const isNewer = (one: ReplyInfo, other: ReplyInfo): boolean =>
  one.sessionNum > other.sessionNum || (one.sessionNum === other.sessionNum && one.firstSeq > other.firstSeq)

function beginningOf({ adopted, continued, isQueued }: RunningReply) {
  if (adopted !== null) return 'adopted'
  if (continued !== null) return 'decided'
  return isQueued ? 'next' : 'message'
}

function createSession(
  { machine, inspect }: LiveSessions,
  agentId: string,
  state: InitialState,
  reply: RunningReply,
): LiveSession {
  const { id, sessionId } = reply.log.info
  return {
    sessionId,
    agentId,
    actor: createActor(machine, { id, snapshot: startingAt(state), inspect }),
    state,
    since: new Date(),
    reply,
    ended: Promise.withResolvers<void>(),
    offer: null,
  }
}

/**
 * Ends the actor of an id that has a newer message. That may be of another session: the known one was deleted, and its
 * id taken again, before anybody told this instance.
 */
function retire(known: LiveSession, sessionNum: number): void {
  if (known.reply.log.info.sessionNum !== sessionNum) known.actor.send({ type: 'deleted' })
  // Stored, as the newer message proves; only the answer is under way. It closes its log and ends by itself.
  else if (!known.actor.getSnapshot().matches({ streaming: 'settling' })) known.actor.send({ type: 'lost' })
}

/** Returns the settings of a request, for an instance that goes on with its reply. */
export const startOf = ({
  inForce = nothingInForce,
  actions = noActions,
  request,
  instructions,
}: Pick<ReplySetup, 'inForce' | 'actions' | 'instructions'> & { request: { reasoning: boolean } }): ReplyStart => ({
  ...inForce,
  toolChoice: actions.toolChoice,
  reasoning: request.reasoning,
  shows: actions.shows,
  instructions: instructions ?? null,
})

interface Observed {
  setup: ReplySetup
  info: ReplyInfo
  agentId: string
  decided: ObservedReply['decided']
  adopted: Adopted | undefined
  countsFor: ObservedReply['countsFor']
}

const observe = (observer: Observer | undefined, { setup, info, ...others }: Observed) =>
  observer?.begin({
    id: info.id,
    purpose: 'reply',
    sessionId: info.sessionId,
    agentName: setup.agentName,
    model: setup.request.model,
    providerId: setup.request.provider.id,
    providerType: setup.request.provider.type,
    config: setup.request.config,
    origin: setup.origin,
    ...others,
  }) ?? unobserved
