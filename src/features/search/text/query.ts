/** The question of a search (contract section 31): words, phrases and runs, found in a text. */
import { eachWord, type Word, wordsOf } from './words.ts'

/** Words that must stand next to each other, in this order. `isPrefix`: the last one is the beginning of a word. */
export interface Term {
  words: readonly Word[]
  isPrefix: boolean
}

const MOST_TERMS = 10
const MOST_CHARACTERS = 200

/** Reads `q`. Returns what is wrong with it as a text. */
export function readQuery(q: string): readonly Term[] | string {
  const length = [...q].length
  if (length < 1 || length > MOST_CHARACTERS) return `must have 1 to ${MOST_CHARACTERS} characters`
  const terms = q.split('"').flatMap((part, n) => (n % 2 === 1 ? phraseIn(part) : wordsIn(part)))
  if (terms.length === 0) return 'must have a letter or a digit'
  return terms.length > MOST_TERMS ? `must have at most ${MOST_TERMS} words or phrases` : terms
}

function phraseIn(part: string): Term[] {
  const words = wordsOf(part)
  return words.length === 0 ? [] : [{ words, isPrefix: false }]
}

/** Returns a term for each word, and one for each run of characters. */
function wordsIn(part: string): Term[] {
  const terms: { words: Word[]; isPrefix: boolean }[] = []
  for (const word of wordsOf(part)) {
    const last = terms.at(-1)
    if (word.isRun && word.follows && last?.words.at(-1)?.isRun) last.words.push(word)
    else terms.push({ words: [word], isPrefix: !word.isRun })
  }
  return terms
}

/** A place in a text, in UTF-16 code units. */
export type Mark = [start: number, end: number]

/** Places that are kept of each term: more are never shown. */
const MOST_MARKS = 1000

/** Returns the places of the terms in order, without overlap, the first ones of many. Null where a term is missing. */
export async function marksIn(text: string, terms: readonly Term[]): Promise<Mark[] | null> {
  const longest = Math.max(...terms.map(({ words }) => words.length))
  const recent: Word[] = []
  const marks = terms.map((): Mark[] => [])
  await eachWord(text, (word) => {
    recent.push(word)
    if (recent.length > longest) recent.shift()
    for (const [n, { words: asked, isPrefix }] of terms.entries()) {
      const found = marks[n]
      if (found === undefined || found.length === MOST_MARKS || recent.length < asked.length) continue
      const first = recent.length - asked.length
      if (asked.every((one, k) => fits(recent[first + k], one, k, isPrefix)))
        found.push([recent[first]?.start ?? 0, word.end])
    }
    return marks.some((found) => found.length < MOST_MARKS)
  })
  return marks.some((found) => found.length === 0) ? null : joined(marks.flat())
}

function fits(word: Word | undefined, asked: Word, place: number, isPrefix: boolean): boolean {
  if (word === undefined || word.isRun !== asked.isRun) return false
  if (asked.isRun && place > 0 && asked.follows && !word.follows) return false
  return isPrefix ? word.text.startsWith(asked.text) : word.text === asked.text
}

function joined(marks: Mark[]): Mark[] {
  const sorted = marks.toSorted(([a, x], [b, y]) => a - b || y - x)
  const kept: Mark[] = []
  for (const mark of sorted) {
    const last = kept.at(-1)
    if (last !== undefined && mark[0] < last[1]) last[1] = Math.max(last[1], mark[1])
    else kept.push([...mark])
  }
  return kept
}

/** Longest piece of a text that an answer shows, in UTF-16 code units. */
const MOST_SHOWN = 240
const BEFORE = 60

/** Cuts a piece around the first mark, between characters. */
export function snippetOf(text: string, marks: readonly Mark[]): { text: string; marks: Mark[] } {
  const [first = 0] = marks[0] ?? []
  let start = text.length <= MOST_SHOWN ? 0 : Math.max(0, Math.min(first - BEFORE, text.length - MOST_SHOWN))
  while (start > 0 && start < first && isInside(text, start)) start += 1
  let end = Math.min(text.length, start + MOST_SHOWN)
  while (end > start && end < text.length && isInside(text, end)) end -= 1
  const shown = marks.filter(([from]) => from >= start && from < end)
  return {
    text: text.slice(start, end),
    marks: shown.map(([from, to]) => [from - start, Math.min(to, end) - start]),
  }
}

/** Returns whether a cut at this place would part a character. */
const isInside = (text: string, at: number): boolean =>
  /^[\uDC00-\uDFFF]/.test(text.slice(at, at + 1)) || /^(?:\p{M}|\u200D)/u.test(text.slice(at, at + 2))
