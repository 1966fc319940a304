/**
 * Rows that capabilities store in the transaction that stores an event of a reply, so that both are there or neither is. The
 * event itself does not have them: nobody is shown them.
 */
import type { ReplyEvent } from './reply-event.ts'

const rows = new WeakMap<ReplyEvent, object>()

/** Has the row stored with the event, which is not emitted yet. Undefined: nothing is. */
export function storeAlong(event: ReplyEvent, row: object | undefined): void {
  if (row !== undefined) rows.set(event, row)
}

/** Returns the row that is stored with an event. Undefined: none is. */
export const storedAlong = (event: ReplyEvent): object | undefined => rows.get(event)
