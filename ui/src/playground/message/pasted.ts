/** Telling code from words in what a person pasted. Pure. */

interface Part {
  /** The offset in the text at which it begins. */
  at: number
  code: boolean
  language: string
  body: string
}

/** Fenced as models write it; a fence that is never closed goes to the end. */
const fence = /^```([\w+#.-]*)[^\n]*\n([\s\S]*?)(?:\n```[ \t]*(?:\n|$)|$(?![\s\S]))/gm

export function partsOf(text: string): Part[] {
  const parts: Part[] = []
  let at = 0
  for (const found of text.matchAll(fence)) {
    const [whole, language = '', body = ''] = found
    const words = text.slice(at, found.index)
    if (words.trim() !== '') parts.push({ at, code: false, language: '', body: words.trim() })
    parts.push({ at: found.index, code: true, language, body })
    at = found.index + whole.length
  }
  const rest = text.slice(at)
  if (rest.trim() !== '' || parts.length === 0) parts.push({ at, code: false, language: '', body: rest })
  return parts
}

/** Lines that end or begin as those of programs, logs and JSON do. */
const codeLine = /[;{}[\](),=>]\s*$|^\s{2,}\S|^\s*(?:[#<@}\])]|\/\/|import |from |def |const |let |return |at )/

/**
 * Returns whether most of four or more lines look like code. They are then shown in a monospaced font, so that aligned
 * text stays aligned.
 */
export function isCode(text: string): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.length >= 4 && lines.filter((line) => codeLine.test(line)).length > lines.length * 0.6
}

const LONG_LINES = 24
const LONG_CHARACTERS = 3_000

export const isLong = (text: string): boolean => text.length > LONG_CHARACTERS || text.split('\n').length > LONG_LINES
