/** Decodes base64 as it arrives: strictly, and never much at a time. */
import { createHash } from 'node:crypto'

export interface Decoded {
  size: number
  /** Hex. */
  sha256: string
  /** Emptied once they are not needed: requests live as long as their streams. */
  pieces: Uint8Array[]
}

export interface Base64Decoder {
  write(text: Uint8Array): void
  end(): Decoded | 'broken' | 'too large'
}

/** Characters of text; three quarters of it in bytes: 0.1 ms. */
export const STAGE_BYTES = 64 * 1024

/**
 * The largest block of decoded bytes: blocks grow with what there is: hundreds of small ones lay scattered between
 * garbage. All are multiples of a stage's bytes, and add up to multiples of what is stored at a time.
 */
const LARGEST_BLOCK = 24 * 48 * 1024
const MINUS = 0x2d
const UNDERSCORE = 0x5f

export interface Base64Options {
  maxBytes: number
  /** Hears of every byte that is kept; may throw. */
  hold(bytes: number): void
  /**
   * Returns room for STAGE_BYTES, which decoders may share that run one after the other: 70,000 of their own took 24 s.
   */
  stageRoom(): Buffer
}

/**
 * Decodes base64 with padding and without blanks (RFC 4648, section 4). Keeps nothing beyond `maxBytes` or after a fault.
 */
export function createBase64Decoder({ maxBytes, hold, stageRoom }: Base64Options): Base64Decoder {
  let stage: Buffer | null = null
  let staged = 0
  let size = 0
  let fault: 'broken' | 'too large' | null = null
  let pieces: Buffer[] = []
  let free: Buffer = Buffer.alloc(0) // what is left of the last block
  const hash = createHash('sha256')

  const fail = (reason: 'broken' | 'too large') => {
    fault = reason
    hold(-size)
    pieces = []
    stage = null
  }
  const roomFor = (bytes: number) => {
    if (free.length < bytes) {
      free = Buffer.allocUnsafeSlow(Math.max(bytes, Math.min(size, LARGEST_BLOCK)))
      pieces.push(free)
    }
    return free
  }
  const decode = (padding: number) => {
    if (stage === null || staged === 0) return
    const text = stage.subarray(0, staged)
    const length = (staged / 4) * 3 - padding
    staged = 0
    if (!Number.isInteger(length)) return fail('broken')
    if (size + length > maxBytes) return fail('too large')
    const room = roomFor(length)
    // Characters that are none of base64 are skipped, all but those of base64url.
    const written = room.write(text.toString('latin1'), 0, length, 'base64')
    if (written !== length || text.includes(MINUS) || text.includes(UNDERSCORE)) return fail('broken')
    hold(length)
    size += length
    hash.update(room.subarray(0, length))
    free = room.subarray(length)
  }
  return {
    write(text) {
      for (let at = 0; at < text.length && fault === null; ) {
        // Padding is the end's: a full stage waits for what follows.
        if (staged === STAGE_BYTES) decode(0)
        stage ??= stageRoom()
        const taken = text.subarray(at, at + STAGE_BYTES - staged)
        stage.set(taken, staged)
        staged += taken.length
        at += taken.length
      }
    },
    end() {
      const ending = stage?.subarray(Math.max(0, staged - 2), staged).toString('latin1') ?? ''
      if (fault === null) decode(ending.endsWith('==') ? 2 : ending.endsWith('=') ? 1 : 0)
      stage = null
      const last = pieces.pop()
      if (last !== undefined) pieces.push(last.subarray(0, last.length - free.length))
      return fault ?? { size, sha256: hash.digest('hex'), pieces }
    },
  }
}

/**
 * Gives their memory back now, not when it is collected: 20 MiB of garbage beside what follows. They must not be read any
 * more.
 */
export function freePieces({ pieces }: Pick<Decoded, 'pieces'>): void {
  for (const { buffer } of pieces.splice(0)) {
    if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0)
  }
}
