/**
 * Takes the `data:` URLs out of a JSON text while it arrives (contract section 13): their bytes are decoded on the way, and
 * never held as text. In their place stands a short word, so that what is left is an ordinary body.
 */
import { type Base64Decoder, createBase64Decoder, type Decoded, STAGE_BYTES } from './base64.ts'

/** Keys whose values may be a picture or a file. */
const KEYS = new Set(['url', 'file_data', 'image_url'])
const LONGEST_KEY = 9

/** The longest text before the bytes; of a longer one nothing is read. */
const LONGEST_HEAD = 256
const SCHEME = 'data:'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const SLASH = 0x2f
const SPACE = 0x20
const LOWER_U = 0x75

export interface DataUrl {
  /** The text between `data:` and the comma, such as `image/png;base64`. */
  head: string
  data: Decoded | 'broken' | 'too large'
}

export interface DataUrlOptions {
  /** The limit of one. */
  maxBytes: number
  /** Hears of every byte that is kept; may throw. */
  hold(bytes: number): void
  /** Takes what is left of the text. */
  keep(bytes: Uint8Array): void
  /** Takes what was found, and gives the word that stands for it: no character in it needs an escape in JSON. */
  found(url: DataUrl): string
}

type State = 'outside' | 'string' | 'head' | 'data'

/**
 * Makes a filter of data URLs. Give it the text as it comes. Of a text that is no JSON it may make anything, which the
 * parser then refuses.
 */
export function createDataUrlFilter({ maxBytes, hold, keep, found }: DataUrlOptions): (chunk: Buffer) => void {
  let state: State = 'outside'
  let name = '' // of the string that is read, or was last: its beginning, as far as a key is long
  let isWanted = false // the value that comes belongs to one of KEYS
  let isEscaped = false // within a string that is kept
  let head = ''
  let raw = '' // the head as it came
  let escapes = createEscapes()
  let reader: UrlReader | null = null
  let stage: Buffer | null = null
  const stageRoom = () => (stage ??= Buffer.allocUnsafe(STAGE_BYTES))

  /** Reads outside of strings, up to the one that begins. Each of these returns where it has stopped. */
  const outside = (chunk: Buffer, from: number): number => {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (byte === QUOTE) {
        state = isWanted ? 'head' : 'string'
        head = raw = name = ''
        if (isWanted) escapes = createEscapes()
        isWanted = false
        return at + 1
      }
      if (byte === COLON) isWanted = KEYS.has(name)
      else if (byte > SPACE) isWanted = false
    }
    return chunk.length
  }
  /** Reads a string that is kept as it is. */
  const string = (chunk: Buffer, from: number): number => {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (isEscaped) isEscaped = false
      else if (byte === BACKSLASH) isEscaped = true
      else if (byte === QUOTE) {
        state = 'outside'
        return at + 1
      }
      if (name.length <= LONGEST_KEY) name += String.fromCharCode(byte)
    }
    return chunk.length
  }
  /** Reads the beginning of a value, held back until it is known to be a data URL, or not. */
  const beginning = (chunk: Buffer, from: number): number => {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number
      raw += String.fromCharCode(byte)
      const char = escapes.next(byte)
      if (char === ',' && /;\s*base64$/i.test(head)) {
        state = 'data'
        reader = createUrlReader(createBase64Decoder({ maxBytes, hold, stageRoom }))
        return at + 1
      }
      head += char
      const isHead = byte !== QUOTE && char !== ',' && raw.length <= LONGEST_HEAD
      if (isHead && head.slice(0, SCHEME.length).toLowerCase() === SCHEME.slice(0, head.length)) continue
      keep(Buffer.from(raw.slice(0, -1), 'latin1'))
      state = 'string'
      isEscaped = raw.at(-2) === '\\' // the only one: before, nothing was in question
      return at
    }
    return chunk.length
  }
  const data = (chunk: Buffer, from: number): number => {
    const [end, decoded] = reader?.read(chunk, from) ?? [from, 'broken']
    if (decoded === null) return end
    keep(Buffer.from(`${found({ head: head.slice(SCHEME.length), data: decoded })}"`))
    reader = null
    state = 'outside'
    return end
  }

  const steps = { outside, string, head: beginning, data } satisfies Record<State, typeof outside>
  return (chunk) => {
    let from = 0 // of what is kept and not handed on: in one piece, for a body may have 100,000 strings
    for (let at = 0; at < chunk.length; ) {
      const isKept = state === 'outside' || state === 'string'
      if (!isKept && at > from) keep(chunk.subarray(from, at))
      at = steps[state](chunk, at)
      if (!isKept) from = at
    }
    if (chunk.length > from) keep(chunk.subarray(from))
  }
}

type UrlReader = ReturnType<typeof createUrlReader>

/** Reads the rest of a JSON string, from the comma on, into the decoder. */
function createUrlReader(decoder: Base64Decoder) {
  const escapes = createEscapes()
  /**
   * Reads byte by byte, and hands the bytes on together: a write for each escape cost 80 times what plain text does.
   */
  const readEscaped = (chunk: Buffer, from: number): number => {
    const characters = Buffer.allocUnsafe(chunk.length - from)
    let length = 0
    let at = from
    for (; at < chunk.length && (escapes.isOpen() || chunk[at] !== QUOTE); at++) {
      const code = escapes.nextCode(chunk[at] as number)
      if (code !== null) characters[length++] = code
    }
    decoder.write(characters.subarray(0, length))
    return at
  }
  const readPlain = (chunk: Buffer, from: number): number => {
    const quote = chunk.indexOf(QUOTE, from)
    const end = quote < 0 ? chunk.length : quote
    decoder.write(chunk.subarray(from, end))
    return end
  }
  return {
    /** Returns where it has stopped, and what has come at the string's end. */
    read(chunk: Buffer, from: number): [number, DataUrl['data'] | null] {
      const isEscaped = escapes.isOpen() || hasBackslash(chunk, from)
      const end = isEscaped ? readEscaped(chunk, from) : readPlain(chunk, from)
      return end === chunk.length ? [end, null] : [end + 1, decoder.end()]
    },
  }
}

/** Returns whether a backslash stands before the next quote, or to the end of the chunk. */
function hasBackslash(chunk: Buffer, from: number): boolean {
  const backslash = chunk.indexOf(BACKSLASH, from)
  if (backslash < 0) return false
  const quote = chunk.indexOf(QUOTE, from)
  return quote < 0 || backslash < quote
}

/** A mark for a short escape that no data URL contains, since its letter must not be read as itself. */
const FOREIGN = SPACE

/** Reads the characters of a JSON string. Encoders escape the slash, and some the plus sign. */
function createEscapes() {
  let digits = -1 // of a `\u` escape, which are still to come; 5: the backslash has come; -1: outside of an escape
  let code = 0
  const escapes = {
    isOpen: () => digits >= 0,
    /** Returns the code unit that this byte completes. Null while an escape goes on. */
    nextCode(byte: number): number | null {
      if (digits < 0) {
        if (byte !== BACKSLASH) return byte
        digits = 5
        return null
      }
      if (digits === 5 && byte !== LOWER_U) {
        digits = -1
        return byte === SLASH ? byte : FOREIGN
      }
      if (digits-- === 5) {
        code = 0
        return null
      }
      code = code * 16 + hexDigit(byte)
      if (digits > 0) return null
      digits = -1
      return Number.isNaN(code) || code > 0xff ? FOREIGN : code
    },
    /** Returns the same as a character; empty within an escape. */
    next(byte: number): string {
      const complete = escapes.nextCode(byte)
      return complete === null ? '' : String.fromCharCode(complete)
    },
  }
  return escapes
}

const hexDigit = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : Number.NaN
}
