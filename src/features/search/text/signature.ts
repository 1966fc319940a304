/**
 * Signatures of texts (docs/design/search.md): sets of bits that say which words a text may hold, and which it does not.
 * Each word has an element for its beginnings of certain lengths, and each element some bits.
 */
import type { Term } from './query.ts'
import { eachWord, type Word } from './words.ts'

/**
 * The bits of a word's beginning of so many UTF-16 code units, by that number. The shorter ones are asked for alone.
 */
const BITS_OF_BEGINNING = [0, 5, 3, 2, 2, 0, 2, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2]
/** The bits of a character of a run, which is asked for alone, and of two, of which a query has several. */
const BITS_OF_CHARACTER = 6
const BITS_OF_PAIR = 2
/** The bits of whose text it is. */
const BITS_OF_SCOPE = 3
/** The beginnings of a word of a query that are asked for: the shorter ones are in many texts. */
const MOST_OF_WORD = 5
/** Bits that are asked for. */
const MOST_ASKED = 32
/** A text with more bits may hold everything. */
const MOST_BITS = 250_000
/** A signature is so many times as long as the bits that are set in it at least, and twice as long at most. */
const ROOM = 2
const SHORTEST = 64

/** Salts: a word, a character of a run, two such characters, and whose text it is. */
const WORD = 0x811c9dc5
const RUN = 0x2f0b4c47
const PAIR = 0x6d2b79f5
const SCOPE = 0x1b873593

const added = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193)

/** Returns a number of 31 bits, each of which depends on all of the hash (the end of MurmurHash3). */
function mixed(hash: number): number {
  let h = hash
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) & 0x7fffffff
}

function hashOf(text: string, salt: number): number {
  let hash = salt
  for (let n = 0; n < text.length; n += 1) hash = added(hash, text.charCodeAt(n))
  return mixed(hash)
}

type Take = (element: number, count: number) => void

/** Calls `take` for each beginning of a word that has bits, the shortest one first. */
function eachBeginning(text: string, take: Take): void {
  let hash = WORD
  const end = Math.min(text.length, BITS_OF_BEGINNING.length - 1)
  for (let n = 1; n <= end; n += 1) {
    hash = added(hash, text.charCodeAt(n - 1))
    const count = BITS_OF_BEGINNING[n] ?? 0
    if (count > 0) take(mixed(hash), count)
  }
}

/** Returns the bit that follows another one of the same element. */
const bitBehind = (bit: number): number => mixed(bit ^ 0x5bd1e995)

function bitsOf(element: number, count: number): number[] {
  const bits = [element]
  for (let bit = element; bits.length < count; bits.push(bit)) bit = bitBehind(bit)
  return bits
}

/** Returns the signature of a text. `scope`: words that say whose it is, which no text holds. */
export async function signatureOf(text: string, scope: readonly string[], most = MOST_BITS): Promise<Buffer> {
  const bits = new Set<number>()
  // All of an element's bits, although the first one is there: it may be one of another element's.
  const add: Take = (element, count) => {
    for (let [n, bit] = [0, element]; n < count; n += 1, bit = bitBehind(bit)) bits.add(bit)
  }
  const known = new Set<string>()
  for (const one of scope) add(hashOf(one, SCOPE), BITS_OF_SCOPE)
  let before: Word | null = null
  await eachWord(text, (word) => {
    if (!word.isRun) {
      if (!known.has(word.text)) eachBeginning(word.text, add)
      known.add(word.text)
    } else {
      add(hashOf(word.text, RUN), BITS_OF_CHARACTER)
      if (before?.isRun && word.follows) add(hashOf(before.text + word.text, PAIR), BITS_OF_PAIR)
    }
    before = word
    return bits.size <= most
  })
  if (bits.size > most) return Buffer.alloc(SHORTEST / 8, 0xff)
  let size = SHORTEST
  while (size < ROOM * bits.size) size *= 2
  const signature = Buffer.alloc(size / 8)
  for (const bit of bits) {
    const place = bit & (size - 1)
    signature[place >> 3] = (signature[place >> 3] ?? 0) | (1 << (place & 7))
  }
  return signature
}

/**
 * Returns the bits that the signature of each text has that holds the terms, those first that tell most. A signature of
 * 2ⁿ bits has each at the place of its last n bits.
 */
export function bitsAsked(terms: readonly Term[], scope: readonly string[]): number[] {
  const ranked: { bits: number[]; rank: number }[] = scope.map((one) => {
    return { bits: bitsOf(hashOf(one, SCOPE), BITS_OF_SCOPE), rank: 0 }
  })
  for (const { words } of terms)
    for (const [n, word] of words.entries()) {
      const next = words[n + 1]
      const isPair = word.isRun && next?.isRun && next.follows
      if (isPair) ranked.push({ bits: bitsOf(hashOf(word.text + next.text, PAIR), BITS_OF_PAIR), rank: 0 })
      else if (word.isRun) ranked.push({ bits: bitsOf(hashOf(word.text, RUN), BITS_OF_CHARACTER), rank: 1 })
      else ranked.push(...beginningsAsked(word))
    }
  const sorted = ranked.toSorted((a, b) => a.rank - b.rank)
  return [...new Set(sorted.flatMap(({ bits }) => bits))].slice(0, MOST_ASKED)
}

function beginningsAsked({ text }: Word): { bits: number[]; rank: number }[] {
  const beginnings: number[][] = []
  eachBeginning(text, (element, count) => beginnings.push(bitsOf(element, count)))
  return beginnings
    .slice(-MOST_OF_WORD)
    .toReversed()
    .map((bits, rank) => ({ bits, rank }))
}
