/**
 * Pictures that a reply's tools gave. They are part of no event and stored nowhere: the models of this reply see them, later
 * ones read in the result's text that there were some.
 */
import type { ToolPictures } from '../../actors/generate/running.ts'
import type { MessagePart } from '../../actors/ports/index.ts'

/** Most bytes of one reply's pictures. Those beyond it are left out. */
const MAX_BYTES = 20 * 2 ** 20

export function createToolPictures(maxBytes = MAX_BYTES): ToolPictures {
  const byCall = new Map<string, readonly MessagePart[]>()
  let left = maxBytes
  return {
    areShown: () => byCall.size > 0,
    keep(callId, pictures) {
      const kept = pictures.filter(({ size }) => {
        if (size > left) return false
        left -= size
        return true
      })
      if (kept.length > 0) byCall.set(callId, kept)
    },
    beside(turns) {
      if (byCall.size === 0) return turns
      return turns.map((message) => {
        const pictures = message.role === 'tool' ? byCall.get(message.toolCallId) : undefined
        return pictures === undefined ? message : { ...message, pictures }
      })
    },
  }
}
