/** What this window knows of the reply at hand, ahead of the server's stored messages. */
import { createStore } from '@xstate/store'
import type { EventSourceMessage } from 'eventsource-parser'
import { type LiveReply, newReply, resumed, withFrame } from './live-reply.ts'

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
      reopened: ({ live }) => ({ live: live && resumed(live) }),
      received: ({ live }, { frames }: { frames: readonly EventSourceMessage[] }) => ({
        live: live && frames.reduce(withFrame, live),
      }),
      /** It cannot be followed any longer; the stored messages tell the rest. */
      leftOff: ({ live }) => ({ live: live && { ...live, status: 'complete' as const } }),
    },
  })
}

export type Transcript = ReturnType<typeof createTranscript>

/**
 * Gathers frames until the next picture is drawn: a page that drew each of a thousand frames a second would stand still.
 * In a hidden window, which draws nothing, a quarter of a second. `flush` hands over what there is.
 */
export function gatherFrames(transcript: Transcript) {
  let frames: EventSourceMessage[] = []
  let picture = 0
  let timer = 0
  const flush = () => {
    cancelAnimationFrame(picture)
    clearTimeout(timer)
    picture = timer = 0
    if (frames.length === 0) return
    const gathered = frames
    frames = []
    transcript.trigger.received({ frames: gathered })
  }
  return {
    flush,
    add(frame: EventSourceMessage) {
      frames.push(frame)
      if (picture !== 0) return
      picture = requestAnimationFrame(flush)
      timer = window.setTimeout(flush, 250)
    },
  }
}
