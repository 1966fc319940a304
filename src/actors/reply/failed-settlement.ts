import type { Settlement } from '../ports/index.ts'
import { noUsage, type ReplyError, type StoredEvent } from './reply-event.ts'

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
