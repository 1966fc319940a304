/** Text as a search sees it: words, and characters of scripts that write none, each with its place in the text. */
import { setImmediate } from 'node:timers/promises'

/** A piece of a text. `isRun`: a character of a script that puts no spaces between words. */
export interface Word {
  text: string
  isRun: boolean
  /** The place in the text, in UTF-16 code units. */
  start: number
  end: number
  /** Whether it stands directly behind the word before it. */
  follows: boolean
}

const RUN = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}]`
const MARKS = String.raw`\p{M}*`
/**
 * Plain letters and digits that bear no mark, as many as stand together; a letter with its marks, a syllable that is
 * written as its parts, or a mark of its own.
 */
const CLUSTER = new RegExp(
  String.raw`[\dA-Za-z]{1,500}(?!\p{M})|[\u1100-\u115F\uA960-\uA97C][\u1160-\u11A7\uD7B0-\uD7C6]?[\u11A8-\u11FF\uD7CB-\uD7FB]?${MARKS}|[\p{L}\p{N}\p{So}]${MARKS}|\p{M}+`,
  'gu',
)
const isRunText = new RegExp(`^(?:${RUN})`, 'u')
const LETTER = /[\p{L}\p{N}]/u
/** Accents, in the scripts whose readers leave them out. Vowels of others are marks too, and stay. */
const ACCENTS =
  /(?:[\u0300-\u036F]|[\u0591-\u05C7]|[\u064B-\u0652\u0670]|[\u1AB0-\u1AFF]|[\u1DC0-\u1DFF]|[\u20D0-\u20FF])/gu

const strokes: Readonly<Record<string, string>> = { ø: 'o', ł: 'l', đ: 'd', ħ: 'h', ı: 'i', ς: 'σ' }

/** Returns a letter in the form in which letters are compared: without case, accents and the choice of its form. */
function fold(cluster: string): string {
  const plain = cluster.normalize('NFKC').toUpperCase().toLowerCase()
  const bare = plain.normalize('NFD').replace(ACCENTS, '').normalize('NFC')
  return bare.replace(/[øłđħıς]/gu, (letter) => strokes[letter] ?? letter)
}

/** A cluster as a search reads it: its folded form, and its kind. */
interface Cluster {
  folded: string
  isLetter: boolean
  isRun: boolean
}

/** Clusters that were read: a text has few different ones, and folding one takes 1 µs. */
const known = new Map<string, Cluster>()
const MOST_KNOWN = 10_000

/** Reads a cluster that is not plain. */
function read(cluster: string): Cluster {
  const before = known.get(cluster)
  if (before !== undefined) return before
  const folded = fold(cluster)
  const made = { folded, isLetter: LETTER.test(folded), isRun: isRunText.test(folded) }
  if (known.size >= MOST_KNOWN) known.clear()
  known.set(cluster, made)
  return made
}

const isPlain = (cluster: string): boolean => cluster.charCodeAt(cluster.length - 1) < 0x80
const readPlain = (cluster: string): Cluster => ({ folded: cluster.toLowerCase(), isLetter: true, isRun: false })

/** A longer word is compared by its beginning: no query is so long. */
const MOST_KEPT = 1000
/** Characters after which whoever reads the words may give way: some tenths of a millisecond. */
const GIVES_WAY_AFTER = 1000

/** Yields the words of a text in their order, and null now and then, where others may have their turn. */
export function* wordsIn(text: string): Generator<Word | null, void> {
  let open: Word | null = null
  let last: { start: number; end: number } | null = null
  let nextWay = GIVES_WAY_AFTER
  for (const match of text.matchAll(CLUSTER)) {
    const start = match.index
    if (start >= nextWay) {
      yield null
      nextWay = start + GIVES_WAY_AFTER
    }
    const end = start + match[0].length
    const { folded, isLetter, isRun } = isPlain(match[0]) ? readPlain(match[0]) : read(match[0])
    if (folded === '' && open !== null && open.end === start) {
      open.end = end // an accent of its own belongs to the letter before
      continue
    }
    const joins: boolean = open !== null && open.end === start
    if (isLetter && !isRun && open !== null && joins) {
      if (open.text.length < MOST_KEPT) open.text += folded
      open.end = end
      continue
    }
    if (!isLetter && joins && /\p{M}/u.test(match[0])) continue
    if (open !== null) {
      last = { start: open.start, end: open.end }
      yield open
      open = null
    }
    if (!isLetter) continue
    if (!isRun) {
      open = { text: folded, isRun, start, end, follows: last?.end === start }
      continue
    }
    for (const [one] of folded.matchAll(/\P{M}\p{M}*/gu)) {
      yield { text: one, isRun, start, end, follows: last?.end === start || last?.start === start }
      last = { start, end }
    }
  }
  if (open !== null) yield open
}

/** Returns the words of a short text, such as a query. */
export const wordsOf = (text: string): Word[] => [...wordsIn(text)].filter((word) => word !== null)

/** Reads the words of a text of any length, and gives way to others meanwhile. Ends early when `take` returns false. */
export async function eachWord(text: string, take: (word: Word) => boolean): Promise<void> {
  let begun = performance.now()
  for (const word of wordsIn(text)) {
    if (word !== null) {
      if (!take(word)) return
    } else if (performance.now() - begun > LONGEST_TURN_MS) {
      await setImmediate()
      begun = performance.now()
    }
  }
}

const LONGEST_TURN_MS = 10
