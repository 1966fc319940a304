/** Markdown in top-level blocks, so that of a growing reply only the last block is parsed and rendered again. */
import { Lexer, type MarkedToken, type Token } from 'marked'
import remend from 'remend'
import { type MathToken, withMath } from './math.ts'

export type KnownToken = MarkedToken | MathToken

export interface Block {
  token: KnownToken
  /** The offset in the text at which it begins. */
  start: number
  /** The direction of the whole paragraph, of which this is a piece. When absent, its own. */
  dir?: 'ltr' | 'rtl'
}

/**
 * A longer paragraph is split where a word begins: a browser lays a paragraph out as a whole, which takes 40 ms at
 * 100,000 characters, and would be done for every new word.
 */
const longestParagraph = 4_000

// A letter or a lone number begins no list, heading or fence: what follows is parsed as a paragraph again.
const wordStart = /\s(?=\p{L}|\d+\s)/gu

/**
 * Returns a function that splits a growing text into blocks. It reuses the last result where possible. Use one for each
 * text shown.
 */
export function createSplitter(): (text: string) => readonly Block[] {
  let last = ''
  let blocks: readonly Block[] = []
  return (text) => {
    if (text === last) return blocks
    // More text can change the last block, those before it are closed.
    const kept = text.startsWith(last) ? blocks.slice(0, -1) : []
    const start = kept.length === 0 ? 0 : (blocks.at(-1)?.start ?? 0)
    blocks = [...kept, ...blocksFrom(text, start)]
    last = text
    return blocks
  }
}

function blocksFrom(text: string, from: number): Block[] {
  const blocks: Block[] = []
  let start = from
  for (const token of lex(text.slice(from))) {
    if (token.type === 'paragraph' && token.raw.length > longestParagraph) blocks.push(...pieces(token.raw, start))
    else if (token.type !== 'space' && token.type !== 'def') blocks.push({ token, start })
    start += token.raw.length
  }
  return blocks
}

function pieces(raw: string, from: number): Block[] {
  const blocks: Block[] = []
  const dir = directionOf(raw)
  let start = 0
  let end = 0
  for (const { index } of raw.matchAll(wordStart)) {
    if (index + 1 - start > longestParagraph && end > start) {
      blocks.push({ token: paragraph(raw.slice(start, end)), start: from + start, dir })
      start = end
    }
    end = index + 1
  }
  blocks.push({ token: paragraph(raw.slice(start)), start: from + start, dir })
  return blocks
}

/** Returns the direction as `dir=auto` finds it: by the first letter that has one. */
const directionOf = (text: string): 'ltr' | 'rtl' =>
  /^[^\p{L}]*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(text)
    ? 'rtl'
    : 'ltr'

const paragraph = (raw: string): KnownToken => ({
  type: 'paragraph',
  raw,
  text: raw,
  tokens: Lexer.lexInline(raw, withMath),
})

/** Returns the last block of a running reply: what is not closed yet is shown as if it ended here. */
export function closed(token: KnownToken): KnownToken {
  if (token.type === 'code') return token
  const mended = remend(token.raw, { linkMode: 'text-only', katex: false, htmlTags: false })
  return mended === token.raw ? token : (lex(mended)[0] ?? token)
}

/** Returns whether a fenced block's end has come. */
export const isFenceClosed = (raw: string): boolean => {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1]
  return fence === undefined || raw.trimEnd().endsWith(`\n${fence}`)
}

/** Deeper than anybody writes. Each level takes room on the stack, of which thousands need more than there is. */
const MOST_LEVELS = 100

function isDeep(tokens: readonly Token[], left = MOST_LEVELS): boolean {
  if (left === 0) return true
  return tokens.some((token) => {
    const inner = token.type === 'list' ? token.items : 'tokens' in token ? token.tokens : undefined
    return inner !== undefined && isDeep(inner, left - 1)
  })
}

/** A word that might be an address, were it shorter: the lexer reads it from each of its letters to its end. */
const endlessAddress = /(?<![\w.!#$%&'*+/=?^`{|}~-])[\w.!#$%&'*+/=?^`{|}~-]{5000,}@/

const asWritten = (raw: string): KnownToken => ({ type: 'code', raw, text: raw })

/**
 * Returns the lexer's own tokens, and those of its one extension. Text that is nested too deeply is shown as it was
 * written.
 */
function lex(text: string): KnownToken[] {
  if (endlessAddress.test(text)) return [asWritten(text)]
  try {
    return known(Lexer.lex(text, withMath)).map((token) => (isDeep([token]) ? asWritten(token.raw) : token))
  } catch (error) {
    if (error instanceof RangeError) return [asWritten(text)]
    throw error
  }
}
export const known = (tokens: Token[]): KnownToken[] => tokens as KnownToken[]
