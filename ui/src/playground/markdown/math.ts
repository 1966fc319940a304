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
    const found =
      /^(?:\\\([\s\S]+?\\\)|\\\[[\s\S]+?\\\]|\$\$[\s\S]+?\$\$|\$(?![\s\d$])(?:[^$\n\\]|\\[^\n])+?(?<!\s)\$(?!\d))/.exec(
        text,
      )
    return found ? { type: 'math', raw: found[0], text: found[0] } : undefined
  },
}

const block: TokenizerAndRendererExtension = {
  name: 'mathBlock',
  level: 'block',
  start: (text) => /^ {0,3}(?:\$\$|\\\[)/m.exec(text)?.index,
  tokenizer(text) {
    const found = /^ {0,3}(?:\$\$[^$]+?\$\$|\\\[[\s\S]+?\\\]) *(?:\n+|$)/.exec(text)
    return found ? { type: 'mathBlock', raw: found[0], text: found[0].trim() } : undefined
  },
}

/** The options of a lexer that knows formulas. */
export const withMath = new Marked({ gfm: true }).use({ extensions: [inline, block] }).defaults
