/** Takes replies over that other instances have left, and goes on with them. */
import type { Claimed } from '../../actors/ports/index.ts'
import { failedSettlement } from '../../actors/reply/failed-settlement.ts'
import type { HandoverReason, ReplyError } from '../../actors/reply/reply-event.ts'
import { beginOpened, openReply, type StartOptions } from '../../actors/reply/start-reply.ts'
import { cancelReply, errorOf } from '../../actors/session/live-sessions.ts'
import type { ReplyBasis } from '../../actors/session/send.ts'
import { beginQueued, type QueueHost } from '../queue/begin-queued.ts'

export interface AdoptOptions extends StartOptions {
  /**
   * Returns the basis of a reply that is taken over, with its agent as it is now. `mediaTypes`: of the user's message.
   */
  basisOf?(claimed: Claimed, mediaTypes: readonly string[]): Promise<ReplyBasis>
  /** Returns whether the error of `basisOf` is the database's, which may be back later. When absent, none is. */
  isAway?(error: unknown): boolean
  /** A reply was taken over. When absent, it is not counted. */
  onTakenOver?: ((reason: HandoverReason) => void) | undefined
}

interface AdoptingHost extends QueueHost {
  options: QueueHost['options'] & AdoptOptions
}

/** Replies that are taken over at first: the other instances take theirs meanwhile. */
const AT_FIRST = 10
/** Replies that are taken over at a time, at most: others that wait for this instance are served in between. */
const MOST = 80

/**
 * Takes replies over. `lost`: those of lost instances, too. Resolves when none is left that this instance can take, and
 * the ones taken continue.
 */
export async function takeOver(host: AdoptingHost, lost: boolean): Promise<void> {
  const { handovers } = host.options
  if (!handovers) return
  const begun: Promise<void>[] = []
  // The more were left, the more at a time: where one instance alone is there for all, each round is a wait.
  for (let taken = 1, most = AT_FIRST; taken > 0; most = Math.min(2 * most, MOST)) {
    if (host.draining || !host.options.gate.check()) break
    const left = await handovers.left(lost, most)
    if (host.draining) break // nobody waits for what would begin now
    const adopted = await Promise.all(left.map((replyId) => adopt(host, replyId)))
    const going = adopted.filter((one) => one !== null)
    begun.push(...going.map(({ begun }) => begun))
    taken = going.length
  }
  await Promise.all(begun)
}

/**
 * Takes a reply over. It counts as running before it is this instance's, so that its row is no orphan. Returns null if
 * another instance has it. The next ones are claimed while it begins.
 */
async function adopt(host: AdoptingHost, replyId: string): Promise<{ begun: Promise<void> } | null> {
  const { handovers, log } = host.options
  if (!handovers || host.admitting.has(replyId) || host.byReply.has(replyId)) return null
  const { promise: over, resolve } = Promise.withResolvers<void>()
  host.admitting.set(replyId, { over, stopped: null })
  const end = () => {
    host.admitting.delete(replyId)
    resolve()
  }
  const failed = (err: unknown) => log.error({ err, replyId }, 'A reply could not be taken over.')
  try {
    const claimed = await handovers.claim(replyId)
    if (claimed !== null) return { begun: goOn(host, claimed).catch(failed).finally(end) }
  } catch (err) {
    failed(err)
  }
  end()
  return null
}

async function goOn(host: AdoptingHost, claimed: Claimed): Promise<void> {
  const { options } = host
  const { reply: info, answeredId, hasParts, agentId, reason, from } = claimed
  try {
    const parts = answeredId === null || !hasParts ? [] : await options.journal.parts(answeredId)
    const basis = await options.basisOf?.(
      claimed,
      parts.map(({ mediaType }) => mediaType),
    )
    if (basis === undefined) throw new Error('No agent.')
    const { text, historyEnd, titleFrom, values, continued } = claimed
    const decided = continued && {
      chain: continued.carried.chain,
      firstId: continued.carried.firstId,
      decisions: continued.decisions,
      by: continued.by,
    }
    const place = { info, text, parts, parentId: answeredId, historyEnd, isRegenerated: true, titleFrom, values }
    const asBegun = { isQueued: false, refusal: null, continued: decided, counts: claimed.counts }
    const reply = openReply(host, basis, { ...place, ...asBegun }, claimed)
    beginOpened(host, agentId, 'streaming.generating', reply)
    options.onTakenOver?.(reason)
    options.log.info({ replyId: info.id, sessionId: info.sessionId, agentId, reason, from }, 'Took a reply over.')
    if (claimed.cancelled) cancelReply(host, info.id)
    else if (reply.from?.text && isStructured(reply.request)) {
      // The rest of a JSON text cannot be asked for: it would not be the same text.
      host.byReply.get(info.id)?.actor.send({ type: 'failed', error: asWithoutGoingOn(reason) })
    }
  } catch (error) {
    // The database could not be reached for a lease: the reply goes on once it can.
    const isAway = !options.gate.check() || options.isAway?.(error) === true
    if (isAway && (await options.handovers?.offer(info, 'database')) !== 'refused') return
    await fail(host, claimed, errorOf('provider_error', error instanceof Error ? error.message : String(error)))
  }
}

const isStructured = ({ fields }: { fields?: { responseFormat?: { type: string } } }): boolean =>
  fields?.responseFormat !== undefined && fields.responseFormat.type !== 'text'

/** Returns the error with which a reply ends that does not continue elsewhere. */
export const asWithoutGoingOn = (reason: HandoverReason): ReplyError =>
  reason === 'shutdown'
    ? errorOf('shutdown', 'The instance is shutting down.')
    : errorOf('instance_lost', 'The instance that generated this reply was lost.')

/** Fails a reply whose request's settings do not fit its agent any more. */
async function fail(host: AdoptingHost, { reply, events }: Claimed, error: ReplyError): Promise<void> {
  const { options } = host
  options.log.warn(
    { replyId: reply.id, sessionId: reply.sessionId, code: error.code, detail: error.detail },
    'A reply failed.',
  )
  const settled = await options.journal.settle(reply, failedSettlement(error, events))
  if (settled.result === 'settled' && settled.next != null) beginQueued(host, settled.next)
}
