import type { Settlement } from '../ports/index.ts'
import { errorOf, type HandoverReason, noUsage, type ReplyError, type StoredEvent } from './reply-event.ts'

/**
 * Returns the settlement of a reply that fails without having run here: its use, its figures and its title are not
 * known. `events` are all that was stored of it. Null when the journal has to read them.
 */
export const failedSettlement = (error: ReplyError, events: readonly StoredEvent[] | null): Settlement => ({
  outcome: { type: 'failed', error, usage: noUsage },
  events,
  endedAt: new Date(),
  requesterLost: true,
  reasoningMs: null,
  figures: null,
  title: null,
})

/** Returns how a reply ends that its instance has left, and that no other one goes on with. */
export const abandoned = (reason: HandoverReason): ReplyError =>
  reason === 'shutdown'
    ? errorOf('shutdown', 'The instance is shutting down.')
    : errorOf('instance_lost', 'The instance that generated this reply was lost.')
