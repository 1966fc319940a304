/**
 * Formulas in a model's text: TeX between dollars or `\(…\)`, `\[…\]`, kept as it was written. Markdown would eat its
 * backslashes.
 */
import { Marked, type TokenizerAndRendererExtension } from 'marked'

export interface MathToken {
  type: 'math' | 'mathBlock'
  raw: string
  /** The formula with its delimiters. */
  text: string
}

const inline: TokenizerAndRendererExtension = {
  name: 'math',
  level: 'inline',
  start: (text) => text.search(/\$|\\[([]/),
  tokenizer(text) {
    // A price is no formula: no blank within a single dollar's side, no digit behind its end.
    // As long as a formula may be: a text of nothing but beginnings would be read to its end at each of them.
    const found =
      /^(?:\\\([\s\S]{1,2000}?\\\)|\\\[[\s\S]{1,2000}?\\\]|\$\$[\s\S]{1,2000}?\$\$|\$(?![\s\d$])(?:[^$\n\\]|\\[^\n]){1,2000}?(?<!\s)\$(?!\d))/.exec(
        text,
      )
    return found ? { type: 'math', raw: found[0], text: found[0] } : undefined
  },
}

const block: TokenizerAndRendererExtension = {
  name: 'mathBlock',
  level: 'block',
  // Looked for in the paragraph that it would interrupt, not in all that follows.
  start(text) {
    const end = text.indexOf('\n\n')
    return /^ {0,3}(?:\$\$[^$]{1,5000}?\$\$|\\\[[\s\S]{1,5000}?\\\]) *$/m.exec(end < 0 ? text : text.slice(0, end))
      ?.index
  },
  tokenizer(text) {
    const found = /^ {0,3}(?:\$\$[^$]{1,5000}?\$\$|\\\[[\s\S]{1,5000}?\\\]) *(?:\n+|$)/.exec(text)
    return found ? { type: 'mathBlock', raw: found[0], text: found[0].trim() } : undefined
  },
}

/** The options of a lexer that knows formulas. */
export const withMath = new Marked({ gfm: true }).use({ extensions: [inline, block] }).defaults
