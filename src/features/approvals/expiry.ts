/** Approvals that expire (contract section 29): an instance that may begin replies rejects them when their time is over. */
import type { Host } from '../../actors/session/host.ts'
import type { Sql } from '../../persistence/postgres/database.ts'
import type { Owner } from '../../persistence/replies/admission/admission-answer.ts'

export interface ExpiryOptions {
  sql: Sql
  owner(): Owner
  host: Host
  /** Generates a reply that has begun on this instance. */
  generate(replyId: string): void
}

/** The most sessions in one statement. */
const MOST = 50

/** Returns the look for approvals that have expired. Call every few seconds. */
export const createExpiry =
  ({ sql, owner, host, generate }: ExpiryOptions) =>
  (): Promise<void> =>
    host.inTurn(async () => {
      // A full instance leaves them to another one, or to later.
      if (host.refusal() !== null) return
      const { id, epoch } = owner()
      const room = host.options.maxRunning - host.registry.running() - host.admitting.size
      const rows = await sql<{ replyId: string }[]>`
        select expire_approvals(${id}, ${epoch}, ${Math.min(room, MOST)}) as "replyId"`
      for (const { replyId } of rows) generate(replyId)
    })
