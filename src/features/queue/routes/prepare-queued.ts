/** A message that has begun from the queue, as its agent answers it now (contract section 22). */

import type { ReplyError } from '../../../actors/reply/reply-event.ts'
import {
  type MessageInput,
  messageFrom,
  type RecordDependencies,
  unanswerable,
} from '../../../http/sending/message-record.ts'
import type { Overrides } from '../../../http/sending/overrides.ts'
import { HttpError } from '../../../http/server/http-error.ts'
import type { PreparedMessage } from '../begin-queued.ts'
import type { BegunMessage } from '../queue-store.ts'

const ofProvider = (detail: string): ReplyError => ({ code: 'provider_error', message: detail, detail })

/**
 * Prepares a queued message. Returns null if the agent is gone. The refusal names what no longer fits. Rejects while
 * the database is away.
 */
export async function prepareQueued(
  deps: RecordDependencies,
  begun: BegunMessage,
  mediaTypes: readonly string[],
): Promise<PreparedMessage | null> {
  const agent = await deps.agents.find(begun.agentId)
  if (agent === null) return null
  const input = inputOf(begun)
  try {
    if (begun.fault !== null) throw new HttpError(400, 'parent_id: there is no such reply in this session any more')
    const { parts: _, ...message } = await messageFrom(deps, agent, input, undefined, mediaTypes)
    return { message, refusal: null }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    return { message: unanswerable(deps, agent, input), refusal: ofProvider(error.message) }
  }
}

function inputOf({ admission, input }: BegunMessage): MessageInput {
  const { overrides, ...asked } = input
  return {
    ...asked,
    sessionId: admission.reply.sessionId,
    text: admission.text,
    place: undefined,
    idempotency: null,
    isRetry: false,
    onBusy: 'reject',
    overrides: overrides as Overrides | null,
  }
}
