/** TeX as MathML and HTML, by KaTeX. Large: imported when the first formula is shown. */
import katex from 'katex'
import 'katex/dist/katex.min.css'

/** A rule or a space of a formula is no larger, in em: nothing else can be read beside one of a million. */
const MOST_EM = 50

/** Draws it in `place`; what is wrong with it is the result, null where nothing is. `text`: with what encloses it. */
export function typeset(place: HTMLElement, text: string, isBlock: boolean): string | null {
  const width = /^(?:\$\$|\\[([])/.test(text) ? 2 : 1
  const isDisplay = isBlock || text.startsWith('$$') || text.startsWith('\\[')
  try {
    // Elements, not text: a text's style attributes would need a weaker policy. `trust`: no links, no pictures.
    const options = { displayMode: isDisplay, trust: false, strict: 'ignore', maxSize: MOST_EM } as const
    katex.render(text.slice(width, -width), place, options)
    return null
  } catch (error) {
    place.replaceChildren()
    return error instanceof Error ? error.message : String(error)
  }
}
