/** Takes replies over that other instances have left, and goes on with them. */
import { failedSettlement } from '../../actors/reply/failed-settlement.ts'
import { abandoned, errorOf, type HandoverReason, type ReplyError } from '../../actors/reply/reply-event.ts'
import { beginOpened, openReply, type TakenOver } from '../../actors/reply/start-reply.ts'
import type { Host, ReplySetup } from '../../actors/session/host.ts'
import { cancelReply } from '../../actors/session/live-sessions.ts'
import type { Claimed, Handovers } from './handovers.ts'
import { type AgentOf, resumePoint } from './resume-point.ts'
import { resumption } from './resumption.ts'

export interface AdoptOptions {
  handovers: Handovers
  /** Returns what a reply is made from that is taken over, with its agent as it is now. `mediaTypes`: of the user's message. */
  basisOf(claimed: Claimed, mediaTypes: readonly string[]): Promise<ReplySetup>
  agentOf: AgentOf
  /** Decides whether an error of `basisOf` is the database's, which may be back later. When absent, none is. */
  isAway?(error: unknown): boolean
  /** Counts a reply that was taken over. When absent, none is counted. */
  onTakenOver?: ((reason: HandoverReason) => void) | undefined
}

export interface Adopting {
  host: Host
  options: AdoptOptions
}

/** Replies that are taken over at first: the other instances take theirs meanwhile. */
const AT_FIRST = 10
/** Replies that are taken over at a time, at most: others that wait for this instance are served in between. */
const MOST = 80

/**
 * Takes over replies that were offered; `lost`: those of lost instances, too. Resolves when none is left that this instance
 * can take, and those that it took go on.
 */
export async function takeOver(adopting: Adopting, lost: boolean): Promise<void> {
  const { host, options } = adopting
  const { handovers } = options
  const begun: Promise<void>[] = []
  // The more were left, the more at a time: where one instance alone is there for all, each round is a wait.
  for (let taken = 1, most = AT_FIRST; taken > 0; most = Math.min(2 * most, MOST)) {
    if (host.draining || !host.options.gate.check()) break
    const left = await handovers.left(lost, most)
    if (host.draining) break // nobody waits for what would begin now
    const adopted = await Promise.all(left.map((replyId) => adopt(adopting, replyId)))
    const going = adopted.filter((one) => one !== null)
    begun.push(...going.map(({ begun }) => begun))
    taken = going.length
  }
  await Promise.all(begun)
}

/**
 * Claims a reply. It counts as running before it is this instance's, so that its row is no orphan. Resolves to null when
 * another instance has it. The next ones are claimed while it begins.
 */
async function adopt(adopting: Adopting, replyId: string): Promise<{ begun: Promise<void> } | null> {
  const { host, options } = adopting
  const { log } = host.options
  if (host.admitting.has(replyId) || host.byReply.has(replyId)) return null
  const { promise: over, resolve } = Promise.withResolvers<void>()
  host.admitting.set(replyId, { over, stopped: null })
  const end = () => {
    host.admitting.delete(replyId)
    resolve()
  }
  const failed = (err: unknown) => log.error({ err, replyId }, 'A reply could not be taken over.')
  try {
    const claimed = await options.handovers.claim(replyId)
    if (claimed !== null) return { begun: goOn(adopting, claimed).catch(failed).finally(end) }
  } catch (err) {
    host.left.add(replyId)
    failed(err)
  }
  end()
  return null
}

async function goOn(adopting: Adopting, claimed: Claimed): Promise<void> {
  const { host, options } = adopting
  const { journal, gate, log } = host.options
  const { reply: info, answeredId, hasParts, agentId, reason, from } = claimed
  try {
    const parts = answeredId === null || !hasParts ? [] : await journal.parts(answeredId)
    const basis = await options.basisOf(
      claimed,
      parts.map(({ mediaType }) => mediaType),
    )
    const { text, historyEnd, titleFrom, values, continued } = claimed
    const decided = continued && {
      chain: continued.carried.chain,
      firstId: continued.carried.firstId,
      decisions: continued.decisions,
      by: continued.by,
    }
    const place = {
      info,
      agentId,
      text,
      parts,
      parentId: answeredId,
      historyEnd,
      isRegenerated: true,
      titleFrom,
      values,
    }
    const asBegun = {
      isQueued: false,
      refusal: null,
      continued: decided,
      counts: claimed.counts,
      hasParent: claimed.hasParent,
    }
    const reply = openReply(host, basis, { ...place, ...asBegun }, takenOver(claimed, options.agentOf))
    beginOpened(host, agentId, 'streaming.generating', reply)
    options.onTakenOver?.(reason)
    log.info({ replyId: info.id, sessionId: info.sessionId, agentId, reason, from }, 'Took a reply over.')
    if (claimed.cancelled) cancelReply(host, info.id)
    else if (reply.from?.text && isStructured(reply.request)) {
      // The rest of a JSON text cannot be asked for: it would not be the same text.
      host.byReply.get(info.id)?.actor.send({ type: 'failed', error: abandoned(reason) })
    }
  } catch (error) {
    // The database could not be reached for a lease: the reply goes on once it can.
    const isAway = !gate.check() || options.isAway?.(error) === true
    if (isAway && (await options.handovers.offer(info, 'database')) !== 'refused') return
    await fail(adopting, claimed, errorOf('provider_error', error instanceof Error ? error.message : String(error)))
  }
}

const isStructured = ({ fields }: { fields?: { responseFormat?: { type: string } } }): boolean =>
  fields?.responseFormat !== undefined && fields.responseFormat.type !== 'text'

function takenOver(claimed: Claimed, agentOf: AgentOf): TakenOver {
  const { reason, from, elapsedMs, noted, events } = claimed
  const { attempts, turns, tools } = noted
  return {
    adopted: { reason, from, elapsedMs, attempts, turns, tools },
    from: resumption(resumePoint(claimed, agentOf), (joined) => resumePoint(claimed, agentOf, joined)),
    events,
  }
}

/** Ends a reply whose request does not fit its agent any more. */
async function fail({ host }: Adopting, { reply, events }: Claimed, error: ReplyError): Promise<void> {
  const { journal, log } = host.options
  log.warn({ replyId: reply.id, sessionId: reply.sessionId, code: error.code, detail: error.detail }, 'A reply failed.')
  const settled = await journal.settle(reply, failedSettlement(error, events))
  if (settled.result === 'settled') host.ended(settled.next ?? null)
}
