/** The state of the current reply in this window, ahead of the server's stored messages. */
import { createStore } from '@xstate/store'
import { type LiveEvent, type LiveReply, newReply, type ShownPart, withEvents } from '../connection/live-reply.ts'

interface TranscriptContext {
  live: LiveReply | null
}

export function createTranscript() {
  const context: TranscriptContext = { live: null }
  return createStore({
    context,
    on: {
      /** Begins a reply: a message is sent, or another reply requested (`text` null). `behind`: as of `LiveReply`. */
      sent: (
        _,
        {
          text,
          parts,
          behind,
          now,
        }: { text: string | null; parts: readonly ShownPart[]; behind: LiveReply['behind']; now: string },
      ) => ({
        live: newReply(text, now, { behind, userParts: parts }),
      }),
      /** Begins the reply to a decision, without a message of the user's. */
      decided: (_, { now }: { now: string }) => ({ live: newReply(null, now) }),
      /** Begins to follow a running reply from its beginning. */
      joined: (_, { id, now }: { id: string; now: string }) => ({ live: { ...newReply(null, now), id } }),
      /** Drops a message that the server refused. */
      refused: () => ({ live: null }),
      received: ({ live }, { events, now }: { events: readonly LiveEvent[]; now: number }) => ({
        live: live && withEvents(live, events, now),
      }),
      /** Restores the connection after a loss: new text continues what was shown. */
      reconnected: ({ live }) => ({
        live: live && { ...live, reconnectedAt: [...live.reconnectedAt, live.content.length] },
      }),
      /** Ends a reply that can no longer be followed; the stored messages hold the rest. */
      leftOff: ({ live }) => ({ live: live && { ...live, status: 'complete' as const } }),
    },
  })
}

export type Transcript = ReturnType<typeof createTranscript>

/**
 * Buffers events until the next animation frame: a page that rendered each of a thousand tokens a second would freeze.
 * A hidden window, which has no animation frames, waits for a quarter of a second. `flush` delivers what is buffered.
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
    transcript.trigger.received({ events: gathered, now: performance.now() })
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
