/** The replies that run here, as this instance's coordination sees them. */

import type { OwnedReplies, ReplyInfo } from '../ports/index.ts'
import { failedSettlement } from '../reply/failed-settlement.ts'
import { abandoned, errorOf, type ReplyError } from '../reply/reply-event.ts'
import { goesOnElsewhere, type Host } from './extension.ts'
import { breakOff, cancelReply, forgetAgent, forgetSession } from './live-sessions.ts'

export function ownedReplies(host: Host): OwnedReplies {
  const { byReply, admitting, left, slots, held } = host
  const { journal, gate, log } = host.options
  return {
    running: () => new Set([...byReply.keys(), ...admitting.keys()]),
    placeOf(replyId) {
      const log = byReply.get(replyId)?.reply.log
      return log?.state() === 'open' ? log.place() : null
    },
    apply({ kind, sessionId, replyId }) {
      if (kind === 'delete') forgetSession(host, sessionId, replyId)
      else if (replyId !== null) cancelReply(host, replyId)
    },
    statelessAgents: () => slots.agents(),
    forgetAgent: (agentId) => forgetAgent(host, agentId),
    leaseExpired() {
      for (const session of [...byReply.values()]) breakOff(session, 'The instance could not renew its lease in time.')
      gate.stop() // stateless replies
    },
    fenced(epoch) {
      for (const one of held.values()) if (one.epoch <= epoch) one.stop('lost')
      for (const { actor, reply } of [...byReply.values()]) {
        if (reply.log.info.epoch <= epoch) actor.send({ type: 'lost' })
      }
    },
    async settleOrphan({ offered, ...reply }) {
      if (left.has(reply.id) && offered === null && (await goesOnElsewhere(host, reply))) {
        left.delete(reply.id)
        return
      }
      const error = offered === null ? errorOf('internal', 'The reply was abandoned.') : abandoned(offered)
      const { result } = await journal.settle(reply, failedSettlement(error, null))
      if (result === 'settled') log.warn(orphanFailure(reply, error), 'A reply failed.')
    },
    async dropOrphan(replyId) {
      // One that is being admitted may have no row yet; by the answer it may have begun.
      const session = byReply.get(replyId)
      if (session === undefined || session.offer) return // another instance has taken it
      const stored = await journal.read(replyId, 0)
      if (byReply.get(replyId) === session) session.actor.send({ type: stored === null ? 'deleted' : 'lost' })
    },
  }
}

/** Returns the same line as for every other failed reply; null values were known only to the actor that is gone. */
const orphanFailure = ({ id: replyId, sessionId, model, createdAt }: ReplyInfo, { code, detail }: ReplyError) => ({
  reqId: null,
  sessionId,
  replyId,
  agentId: null,
  providerId: null,
  model,
  code,
  detail,
  attempts: null,
  ms: Date.now() - Date.parse(createdAt),
})
