/** Reading and changing a session's queue, the same on the deploy API and in the playground (contract section 22). */
import type { SessionHost } from '../../../actors/session/host.ts'
import { badRequest, missing } from '../../../http/server/http-error.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { findSession } from '../../sessions/index.ts'
import type { Queue } from '../queue.ts'
import { listQueue, type QueuedMessage } from '../store/queue.ts'

interface QueueDependencies {
  sql: Sql
  host: Pick<SessionHost, 'cancel'>
  queue: Pick<Queue, 'dequeue'>
}

interface InSession {
  agent_id: string
  session_id: string
}

/** Throws 404. */
export async function readQueue({ sql }: QueueDependencies, params: InSession): Promise<QueuedMessage[]> {
  return (await listQueue(sql, params.agent_id, params.session_id)) ?? missing('session')
}

/** Throws 404, also for a message that has begun. */
export async function removeQueued(
  { sql, queue }: QueueDependencies,
  { message_id: messageId, ...params }: InSession & { message_id: string },
): Promise<void> {
  const session = (await findSession(sql, params.agent_id, params.session_id)) ?? missing('session')
  if (!isUuid(messageId) || !(await queue.dequeue(session.id, messageId))) missing('queued message')
}

/** Cancels the running reply, and empties the queue first where that is asked for. Throws 404. */
export async function cancelSession(
  { sql, host, queue }: QueueDependencies,
  params: InSession,
  { queue: wish }: { queue?: 'clear' },
): Promise<void> {
  const session = (await findSession(sql, params.agent_id, params.session_id)) ?? missing('session')
  if (wish === 'clear') await queue.dequeue(session.id, null)
  await host.cancel(session.id)
}

/** Refuses to queue another reply. Another reply to a message that is there waits for nothing. Throws 400. */
export function refuseQueuedRegenerate(regenerate: boolean, onBusy: string | null | undefined, name: string): void {
  if (regenerate && (onBusy === 'enqueue' || onBusy === 'steer')) {
    badRequest(`${name}: ${JSON.stringify(onBusy)} cannot stand beside regenerate`)
  }
}
