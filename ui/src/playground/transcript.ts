/** What this window knows of the reply at hand, ahead of the server's stored messages. */
import { createStore } from '@xstate/store'
import { type LiveEvent, type LiveReply, newReply, withEvent } from './live-reply.ts'

interface TranscriptContext {
  live: LiveReply | null
}

export function createTranscript() {
  const context: TranscriptContext = { live: null }
  return createStore({
    context,
    on: {
      /** A message goes out. */
      sent: (_, { text, now }: { text: string; now: string }) => ({ live: newReply(text, now) }),
      /** A reply that runs already is followed from its beginning. */
      joined: (_, { id, now }: { id: string; now: string }) => ({ live: { ...newReply(null, now), id } }),
      /** The server did not take the message. */
      refused: () => ({ live: null }),
      received: ({ live }, { events }: { events: readonly LiveEvent[] }) => ({
        live: live && events.reduce(withEvent, live),
      }),
      /** It cannot be followed any longer; the stored messages tell the rest. */
      leftOff: ({ live }) => ({ live: live && { ...live, status: 'complete' as const } }),
    },
  })
}

export type Transcript = ReturnType<typeof createTranscript>

/**
 * Gathers events until the next picture is drawn: a page that drew each of a thousand tokens a second would stand still.
 * In a hidden window, which draws nothing, a quarter of a second. `flush` hands over what there is.
 */
export function gatherEvents(transcript: Transcript) {
  let events: LiveEvent[] = []
  let picture = 0
  let timer = 0
  const flush = () => {
    cancelAnimationFrame(picture)
    clearTimeout(timer)
    picture = timer = 0
    if (events.length === 0) return
    const gathered = events
    events = []
    transcript.trigger.received({ events: gathered })
  }
  return {
    flush,
    add(event: LiveEvent) {
      events.push(event)
      if (picture !== 0) return
      picture = requestAnimationFrame(flush)
      timer = window.setTimeout(flush, 250)
    },
  }
}
