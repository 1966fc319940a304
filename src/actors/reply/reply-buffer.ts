/**
 * The events of a running reply that are not stored yet, numbered in order: an event without an id of its own is a part
 * of the one before it.
 */
import { isNumberedKind, type ReplyEvent, type StoredEvent } from './reply-event.ts'

/** Estimates the size in characters: a tool's result may be as long as many texts. */
function sizeOf(event: ReplyEvent): number {
  if (event.type === 'text' || event.type === 'reasoning') return event.text.length
  const texts = Object.values(event).filter((value) => typeof value === 'string')
  return texts.reduce((size, text) => size + text.length, 1024)
}

export type ReplyBuffer = ReturnType<typeof createReplyBuffer>

/** Creates a buffer, whose first event comes after the place `from`. */
export function createReplyBuffer(from: Pick<StoredEvent, 'seq' | 'part'>) {
  let pending: StoredEvent[] = []
  let writing: readonly StoredEvent[] = []
  let pendingSize = 0
  let writingSize = 0
  let { seq, part } = from
  return {
    isEmpty: () => pending.length === 0,
    /** Returns whether all of it, including the part that is being written, is text: always data that can be stored. */
    isText: () => isText(writing) && isText(pending),
    /** Returns the size of the pending part and of the one that is being written, in characters, roughly. */
    size: () => pendingSize + writingSize,
    push(event: ReplyEvent): void {
      pendingSize += sizeOf(event)
      const last = pending.at(-1)
      // Texts until the next write become one frame: fewer, larger frames are the back-pressure.
      if (event.type === 'text' && last?.event.type === 'text') {
        last.event = { type: 'text', text: last.event.text + event.text }
        return
      }
      if (event.type === 'reasoning' && last?.event.type === 'reasoning') {
        last.event = { type: 'reasoning', text: last.event.text + event.text }
        return
      }
      if (isNumberedKind(event.type)) [seq, part] = [seq + 1, 0]
      else part += 1
      pending.push({ seq, part, event })
    },
    take(): StoredEvent[] {
      const taken = pending
      writing = taken
      pending = []
      writingSize = pendingSize
      pendingSize = 0
      return taken
    },
    written(): void {
      writing = []
      writingSize = 0
    },
    /** Takes back the part that was taken last, which is not written after all. */
    putBack(): void {
      pending = [...writing, ...pending]
      pendingSize += writingSize
      writing = []
      writingSize = 0
    },
  }
}

const isText = (events: readonly StoredEvent[]): boolean =>
  events.every(({ event }) => event.type === 'text' || event.type === 'reasoning')
