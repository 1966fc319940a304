/**
 * A model request as JSON in which stored texts are references (contract section 16). It is made from the body itself,
 * whichever vendor's it is. A known string becomes a reference to its stored place, and everything else stays as it is.
 * Pure.
 */
import { parseExact } from '../../../untrusted/exact-json.ts'
import { isObject } from '../../../untrusted/is-object.ts'

/** An object with this one key is a reference; one that came with the key is a reference to itself. */
const MARK = '@'

/** Names a message: its position in the session, the reply itself, or the user's message that it answers. */
export type MessageName = number | 'own' | 'asked'

export type Reference =
  /** A message's content, or the part of it between these UTF-16 offsets. */
  | ['m', MessageName, from?: number, to?: number]
  /** The arguments of its nth tool call: as text, as an object. */
  | ['a' | 'o', MessageName, n: number]
  /** Its nth tool result, or a part of it. */
  | ['r', MessageName, n: number, from?: number, to?: number]
  /** A stored text by its hash; the same as JSON. */
  | ['t' | 'j', hash: string]
  /** A summary by its checkpoint's id. */
  | ['s', id: string]
  /** The nth of the long new words of an earlier turn's request. */
  | ['w', turn: number, n: number]
  | ['+', pieces: readonly (string | Reference)[]]
  /** An object that is none. */
  | ['is', object: unknown]

/** A shorter string costs less than a reference. */
const SHORTEST = 12
/** Words of this length are not repeated by later turns. */
const LONG = 64

/** The known strings. `inOrder`: texts that may have been joined to one, by blank lines. */
export interface Known {
  find(text: string): Reference | undefined
  /** Returns the reference of an object that is a tool call's arguments, by its JSON. */
  findObject(json: string): Reference | undefined
  readonly inOrder: readonly { text: string; reference: string | Reference }[]
}

export interface Encoded {
  body: string
  /** Words that are long and nowhere else: later turns may refer to them, in this order. */
  words: string[]
}

/** Objects under these names are a call's arguments, with vendors that want them as objects. */
const argumentNames = new Set(['input', 'args'])

/**
 * Encodes a request. `mask` removes secrets from a string, and is null for one without secrets. `tools` stands for the
 * body's tool definitions.
 */
export function encodeRequest(
  body: object,
  known: Known,
  { mask, tools }: { mask(text: string): string | null; tools: Reference | null },
): Encoded {
  const words: string[] = []

  function newWords(text: string, shown = text): string {
    if (shown.length >= LONG) words.push(text)
    return shown
  }

  function textOf(text: string): unknown {
    const masked = mask(text)
    if (masked !== null) return newWords(text, masked)
    if (text.length < SHORTEST) return text
    const found = known.find(text) ?? joinedFrom(text, known)
    return found ? { [MARK]: found } : newWords(text)
  }

  function encoded(value: unknown, name: string): unknown {
    if (typeof value === 'string') return textOf(value)
    if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value
    if (Array.isArray(value)) return value.map((one: unknown) => encoded(one, ''))
    const found = argumentNames.has(name) ? known.findObject(JSON.stringify(value)) : undefined
    if (found) return { [MARK]: found }
    const fields = Object.entries(value).map(([key, one]) => [key, encoded(one, key)] as const)
    const object = Object.fromEntries(fields)
    return MARK in object ? { [MARK]: ['is', object] } : object
  }

  const fields = Object.entries(body).map(([key, value]) => {
    const isTools = key === 'tools' && tools !== null
    return [key, isTools ? { [MARK]: tools } : encoded(value, key)] as const
  })
  return { body: JSON.stringify(Object.fromEntries(fields)), words }
}

const JOINT = '\n\n'

/**
 * Returns the references of a text that was joined from several: messages of one role in a row are sent as one.
 * Undefined if it consists of other texts too.
 */
function joinedFrom(text: string, { inOrder }: Known): Reference | undefined {
  if (!text.includes(JOINT)) return undefined
  const pieces: (string | Reference)[] = []
  let at = 0
  for (const { text: piece, reference } of inOrder) {
    if (piece === '' || !text.startsWith(piece, at)) continue
    const end = at + piece.length + timeAt(text, at + piece.length)
    if (end !== text.length && !text.startsWith(JOINT, end)) continue
    pieces.push(reference)
    if (end > at + piece.length) pieces.push(text.slice(at + piece.length, end))
    if (end === text.length) return ['+', pieces]
    pieces.push(JOINT)
    at = end + JOINT.length
  }
  return undefined
}

const TIME = /\n\n\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\]/y

/** Returns the length of a time behind a user's message (contract section 29). */
function timeAt(text: string, at: number): number {
  TIME.lastIndex = at
  return TIME.exec(text)?.[0].length ?? 0
}

/** The texts that references lead to. Undefined if the text is gone. */
export interface Stored {
  content(message: MessageName): string | undefined
  call(message: MessageName, n: number): string | undefined
  result(message: MessageName, n: number): string | undefined
  text(hash: string): string | undefined
  summary(id: string): string | undefined
  word(turn: number, n: number): string | undefined
}

const isReference = (value: unknown): value is Reference => Array.isArray(value) && typeof value[0] === 'string'

const referenceIn = (value: object): Reference | null => {
  const [[key, inner] = [], second] = Object.entries(value)
  return key === MARK && second === undefined && isReference(inner) ? inner : null
}

export interface Decoded {
  body: Record<string, unknown>
  /** The request's own long words, for later turns. */
  words: string[]
}

export function decodeRequest(body: string, stored: Stored): Decoded {
  const words: string[] = []

  function decoded(value: unknown): unknown {
    if (typeof value === 'string') {
      if (value.length >= LONG) words.push(value)
      return value
    }
    if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value
    if (Array.isArray(value)) return value.map(decoded)
    const reference = referenceIn(value)
    if (reference?.[0] === 'is') return fieldsOf(reference[1])
    return reference === null ? fieldsOf(value) : resolve(reference, stored)
  }
  const fieldsOf = (value: unknown): Record<string, unknown> =>
    Object.fromEntries(Object.entries(Object(value)).map(([key, one]) => [key, decoded(one)]))

  return { body: fieldsOf(parseExact(body)), words }
}

/** Returns all references of a stored body. */
export function referencesIn(body: string): Reference[] {
  const found: Reference[] = []
  JSON.parse(body, (_, value: unknown) => {
    if (isObject(value)) {
      const reference = referenceIn(value)
      if (reference?.[0] === '+') found.push(...reference[1].filter(isReference))
      else if (reference) found.push(reference)
    }
    return value
  })
  return found
}

const gone = (what: string): string => `[gone: ${what}]`

const slice = (text: string, from = 0, to?: number): string => text.slice(from, to).toWellFormed()

function resolve(reference: Reference, stored: Stored): unknown {
  switch (reference[0]) {
    case 'a':
      return stored.call(reference[1], reference[2]) ?? gone('the arguments of a tool call')
    case 'o':
      return jsonOf(stored.call(reference[1], reference[2]), 'the arguments of a tool call')
    case 't':
      return stored.text(reference[1]) ?? gone('a prompt')
    case 'j':
      return jsonOf(stored.text(reference[1]), 'tool definitions')
    case 's':
      return stored.summary(reference[1]) ?? gone('a summary')
    case 'is':
      return reference[1]
    default:
      return textAt(reference, stored)
  }
}

type TextReference = Extract<Reference, ['m' | 'r' | 'w' | '+', ...unknown[]]>

function textAt(reference: TextReference, stored: Stored): string {
  switch (reference[0]) {
    case 'm': {
      const content = stored.content(reference[1])
      return content === undefined ? gone('a message') : slice(content, reference[2], reference[3])
    }
    case 'r': {
      const result = stored.result(reference[1], reference[2])
      return result === undefined ? gone('a tool result') : slice(result, reference[3], reference[4])
    }
    case 'w':
      return stored.word(reference[1], reference[2]) ?? gone('words of an earlier request')
    case '+':
      return reference[1].map((piece) => (typeof piece === 'string' ? piece : String(resolve(piece, stored)))).join('')
  }
}

function jsonOf(text: string | undefined, what: string): unknown {
  try {
    return text === undefined ? gone(what) : parseExact(text)
  } catch {
    return gone(what)
  }
}
