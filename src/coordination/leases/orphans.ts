/** Orphans on either side: `streaming` rows without a running reply, and running replies without such a row. */
import type { OwnedReplies, OwnedRow } from '../../actors/ports/index.ts'

/** Compares both sides; settles what differs twice in a row. `seen` is what the last call returned. */
export async function settleOrphans(
  stored: readonly OwnedRow[],
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
    if (seen.has(replyId)) await owned.dropOrphan(replyId)
    else suspects.add(replyId)
  }
  return suspects
}
