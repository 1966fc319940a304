/**
 * Signatures of texts (docs/design/search.md): sets of bits that say which words a text may hold, and which it does not.
 * Each word has an element for its beginnings of certain lengths; an element has two bits.
 */
import type { Term } from './query.ts'
import { eachWord, type Word } from './words.ts'

/** The lengths of beginnings, in UTF-16 code units, as bits of a number. */
const LENGTHS = [1, 2, 3, 4, 6, 8, 12, 16].reduce((bits, length) => bits | (1 << length), 0)
const LONGEST = 16
/** The elements of a word of a query that are asked for: the shorter ones are in many texts. */
const MOST_OF_WORD = 3
/** Elements that are asked for. */
const MOST_ASKED = 16
/** A text with more elements may hold everything. */
const MOST_ELEMENTS = 100_000
/** A signature has as many bits for each element at least, and twice as many at most. */
const BITS_OF_ELEMENT = 5
const FEWEST_BITS = 64

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

/** Calls `take` for each beginning of a word, the shortest one first. */
function eachBeginning(text: string, take: (element: number) => void): void {
  let hash = WORD
  const end = Math.min(text.length, LONGEST)
  for (let n = 0; n < end; n += 1) {
    hash = added(hash, text.charCodeAt(n))
    if ((LENGTHS >> (n + 1)) & 1) take(mixed(hash))
  }
}

/** Returns the second bit of an element. */
const secondOf = (element: number): number => mixed(element ^ 0x5bd1e995)

/** Returns the signature of a text. `scope`: words that say whose it is, which no text holds. */
export async function signatureOf(text: string, scope: readonly string[], most = MOST_ELEMENTS): Promise<Buffer> {
  const elements = new Set(scope.map((one) => hashOf(one, SCOPE)))
  const add = (element: number) => void elements.add(element)
  let before: Word | null = null
  await eachWord(text, (word) => {
    if (!word.isRun) eachBeginning(word.text, add)
    else {
      add(hashOf(word.text, RUN))
      if (before?.isRun && word.follows) add(hashOf(before.text + word.text, PAIR))
    }
    before = word
    return elements.size <= most
  })
  if (elements.size > most) return Buffer.alloc(FEWEST_BITS / 8, 0xff)
  let size = FEWEST_BITS
  while (size < BITS_OF_ELEMENT * elements.size) size *= 2
  const signature = Buffer.alloc(size / 8)
  for (const element of elements) for (const bit of [element, secondOf(element)]) setBit(signature, bit & (size - 1))
  return signature
}

const setBit = (bits: Buffer, n: number): void => {
  bits[n >> 3] = (bits[n >> 3] ?? 0) | (1 << (n & 7))
}

/** Returns the bits that the signature of each text has that holds the terms, those first that tell most. A signature of 2ⁿ bits has each at the place of its last n bits. */
export function bitsAsked(terms: readonly Term[], scope: readonly string[]): number[] {
  const ranked: { element: number; rank: number }[] = []
  for (const { words } of terms)
    for (const [n, word] of words.entries()) {
      const next = words[n + 1]
      if (word.isRun) {
        const isPair = next?.isRun && next.follows
        ranked.push({
          element: isPair ? hashOf(word.text + next.text, PAIR) : hashOf(word.text, RUN),
          rank: isPair ? 0 : 1,
        })
      } else {
        const beginnings: number[] = []
        eachBeginning(word.text, (element) => beginnings.push(element))
        for (const [rank, element] of beginnings.slice(-MOST_OF_WORD).toReversed().entries())
          ranked.push({ element, rank })
      }
    }
  const sorted = ranked.toSorted((a, b) => a.rank - b.rank).map(({ element }) => element)
  const elements = new Set([...scope.map((one) => hashOf(one, SCOPE)), ...sorted].slice(0, MOST_ASKED))
  return [...elements].flatMap((element) => [element, secondOf(element)])
}
