/** Text as a search sees it: words, and characters of scripts that write none, each with its place in the text. */

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
/** A letter with its marks, a syllable that is written as its parts, or a mark of its own. */
const CLUSTER = new RegExp(
  String.raw`[\u1100-\u115F\uA960-\uA97C][\u1160-\u11A7\uD7B0-\uD7C6]?[\u11A8-\u11FF\uD7CB-\uD7FB]?${MARKS}|[\p{L}\p{N}\p{So}]${MARKS}|\p{M}+`,
  'gu',
)
const isRunText = new RegExp(`^(?:${RUN})`, 'u')
const LETTER = /[\p{L}\p{N}]/u
/** Accents, in the scripts whose readers leave them out. Vowels of others are marks too, and stay. */
const ACCENTS =
  /(?:[\u0300-\u036F]|[\u0591-\u05C7]|[\u064B-\u0652\u0670]|[\u1AB0-\u1AFF]|[\u1DC0-\u1DFF]|[\u20D0-\u20FF])/gu

const strokes: Readonly<Record<string, string>> = { ø: 'o', ł: 'l', đ: 'd', ħ: 'h', ı: 'i', ς: 'σ' }

/** Longest text that the index holds of a word, in characters. */
export const MOST_OF_WORD = 100

/** Returns a letter in the form in which letters are compared: without case, accents and the choice of its form. */
function fold(cluster: string): string {
  const plain = cluster.normalize('NFKC').toUpperCase().toLowerCase()
  const bare = plain.normalize('NFD').replace(ACCENTS, '').normalize('NFC')
  return bare.replace(/[øłđħıς]/gu, (letter) => strokes[letter] ?? letter)
}

/** Returns the words of a text in their order. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = []
  let open: Word | null = null
  for (const match of text.matchAll(CLUSTER)) {
    const start = match.index
    const end = start + match[0].length
    const folded = fold(match[0])
    if (folded === '' && open !== null && open.end === start) {
      open.end = end // an accent of its own belongs to the letter before
      continue
    }
    if (folded === '' || !LETTER.test(folded)) {
      if (!/\p{M}/u.test(match[0]) || open?.end !== start) open = null
      continue
    }
    const isRun = isRunText.test(folded)
    if (isRun) {
      for (const text of [...folded.matchAll(/\P{M}\p{M}*/gu)].map(([one]) => one)) {
        words.push({ text, isRun, start, end, follows: words.at(-1)?.end === start || words.at(-1)?.start === start })
      }
      open = null
      continue
    }
    if (open !== null && open.end === start) {
      open.text += folded
      open.end = end
      continue
    }
    open = { text: folded, isRun, start, end, follows: words.at(-1)?.end === start }
    words.push(open)
  }
  return words
}

const cut = (text: string): string => [...text.slice(0, 2 * MOST_OF_WORD)].slice(0, MOST_OF_WORD).join('')

/** Returns what the index holds of a message. `whole` is false where it has more. */
export function lexemesOf(words: readonly Word[], mostBytes = 500_000): { lexemes: string[]; whole: boolean } {
  const lexemes = new Set<string>()
  let bytes = 0
  for (const [n, { text, isRun }] of words.entries()) {
    const after = words[n + 1]
    const pair = isRun && after?.isRun && after.follows ? [text + after.text] : []
    for (const lexeme of [isRun ? text : cut(text), ...pair]) {
      if (lexemes.has(lexeme)) continue
      bytes += Buffer.byteLength(lexeme) + 8
      if (bytes > mostBytes) return { lexemes: [...lexemes], whole: false }
      lexemes.add(lexeme)
    }
  }
  return { lexemes: [...lexemes], whole: true }
}

/** Returns what a word of a query is in the index: its text there. */
export const indexedText = ({ text, isRun }: Word): string => (isRun ? text : cut(text))
