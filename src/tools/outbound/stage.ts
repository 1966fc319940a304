/** The size of one piece of memory. */
const STAGE_BYTES = 64 * 1024

/**
 * Keeps a body in pieces of 64 KiB, however it arrives: servers may send a byte at a time, and a chunk of its own takes
 * 250 bytes. `hold` is called before memory is taken. An error that it throws ends the call.
 */
export function createStage(hold: (bytes: number) => void = () => {}) {
  const pieces: Uint8Array[] = []
  let room = Buffer.alloc(0)
  return {
    add(chunk: Uint8Array): void {
      for (let at = 0; at < chunk.length; ) {
        if (room.length === 0) {
          hold(STAGE_BYTES)
          room = Buffer.allocUnsafeSlow(STAGE_BYTES)
          pieces.push(room)
        }
        const taken = chunk.subarray(at, at + room.length)
        room.set(taken)
        room = room.subarray(taken.length)
        at += taken.length
      }
    },
    /** Returns all bytes that were added. To be called once, at the end. */
    pieces(): Uint8Array[] {
      const last = pieces.pop()
      return last === undefined ? pieces : [...pieces, last.subarray(0, last.length - room.length)]
    },
  }
}
