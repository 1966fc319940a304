/** Compares what this page has seen with what is stored. Pure, and without any code of the client that it watches. */

/** A frame with text, as it came over the wire. */
export interface SeenFrame {
  id: number
  replyId: string
  text: string
}

/** A reply as the server reads it back: its text, and where each frame ends in it. */
export interface StoredReply {
  id: string
  content: string
  frames: readonly { id: number; offset: number }[]
}

export interface Counts {
  /** Frames with text that this page has received. */
  shown: number
  /** The number of frames that were read back exactly. */
  stored: number
  /** The number of frames that a later read did not have. */
  lost: number
  /** The number of frames that a later read had with another text. */
  contradicted: number
  /** Frames that came again after they had come. */
  doubled: number
}

export const nothingSeen: Counts = { shown: 0, stored: 0, lost: 0, contradicted: 0, doubled: 0 }

type Verdict = 'stored' | 'lost' | 'contradicted'

export function createChecker() {
  const seen = new Map<number, SeenFrame>()
  const verdicts = new Map<number, Verdict>()
  // Kept beside them: after an hour there are 150,000, and each frame that comes asks.
  const tally = { stored: 0, lost: 0, contradicted: 0 }
  let doubled = 0
  return {
    /** Adds a frame; returns false if it had been received before. */
    saw(frame: SeenFrame): boolean {
      if (seen.has(frame.id)) {
        doubled += 1
        return false
      }
      seen.set(frame.id, frame)
      return true
    },
    /** Returns the frames that a read must have which begins now: all that were seen, or those of a reply. */
    due: (replyId?: string): SeenFrame[] =>
      [...seen.values()].filter((frame) => replyId === undefined || frame.replyId === replyId),
    /** Compares a read. `due`: taken before the read began, of the requested replies. A bad verdict stays. */
    read(due: readonly SeenFrame[], replies: readonly StoredReply[]): void {
      const byId = new Map(replies.map((reply) => [reply.id, textsOf(reply)]))
      for (const { id, replyId, text } of due) {
        const before = verdicts.get(id)
        if (isBad(before)) continue
        const stored = byId.get(replyId)?.get(id)
        const verdict = stored === undefined ? 'lost' : stored === text ? 'stored' : 'contradicted'
        verdicts.set(id, verdict)
        if (before !== undefined) tally[before] -= 1
        tally[verdict] += 1
      }
    },
    counts: (): Counts => ({ shown: seen.size, ...tally, doubled }),
  }
}

const isBad = (verdict: Verdict | undefined): boolean => verdict === 'lost' || verdict === 'contradicted'

const textsOf = ({ content, frames }: StoredReply): Map<number, string> =>
  new Map(frames.map(({ id, offset }, index) => [id, content.slice(frames[index - 1]?.offset ?? 0, offset)]))
