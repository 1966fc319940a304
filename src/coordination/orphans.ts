/** Orphans on either side: rows that stream with nobody at work on them, and replies at work without such a row. */
import type { OwnedReplies, ReplyInfo } from '../actors/ports.ts'

/** Compares both sides; what differs for the second time in a row is settled. `seen` is what the last call returned. */
export async function settleOrphans(
  stored: readonly ReplyInfo[],
  owned: OwnedReplies,
  seen: ReadonlySet<string>,
): Promise<Set<string>> {
  const storedIds = new Set(stored.map(({ id }) => id))
  const running = owned.running()
  const suspects = new Set<string>()
  for (const reply of stored) {
    if (running.has(reply.id)) continue
    if (seen.has(reply.id)) await owned.settleOrphan(reply)
    else suspects.add(reply.id)
  }
  for (const replyId of running) {
    if (storedIds.has(replyId)) continue
    if (seen.has(replyId)) owned.dropOrphan(replyId)
    else suspects.add(replyId)
  }
  return suspects
}
