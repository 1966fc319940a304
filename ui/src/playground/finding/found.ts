/** Marks what the find bar, or a search, has found. The marks are the browser's own highlights: the elements stay as they are. */
import { type RefObject, useEffect } from 'react'

/** The highlights: of the find bar, and of the search that led to the session. */
type Highlights = 'found' | 'searched'

/**
 * Folds the text to lower case at the same length, so that places in it are places in the text: the lower case of `İ`
 * alone has two units.
 */
const folded = (text: string): string => text.replaceAll('İ', 'i').toLowerCase()

/** Returns the indexes of the messages that contain the text, ignoring case. Pure. */
export function placesOf(messages: readonly { content: string }[], wanted: string): number[] {
  const text = folded(wanted.trim())
  if (text === '') return []
  return messages.flatMap(({ content }, place) => (folded(content).includes(text) ? [place] : []))
}

/** Marks the texts in every rendered message, also in those that are rendered later. */
export function useMarks(root: RefObject<HTMLElement | null>, name: Highlights, wanted: readonly string[]): void {
  const texts = JSON.stringify(wanted.map((text) => folded(text.trim())).filter((text) => text !== ''))
  useEffect(() => {
    const element = root.current
    const all: string[] = JSON.parse(texts)
    if (element === null || all.length === 0) return
    let picture = 0
    const mark = () => {
      picture = 0
      CSS.highlights.set(name, new Highlight(...all.flatMap((text) => rangesIn(element, text))))
    }
    const later = () => {
      if (picture === 0) picture = requestAnimationFrame(mark)
    }
    mark()
    const changes = new MutationObserver(later)
    changes.observe(element, { childList: true, subtree: true, characterData: true })
    return () => {
      changes.disconnect()
      cancelAnimationFrame(picture)
      CSS.highlights.delete(name)
    }
  }, [root, name, texts])
}

/** Returns the state of an address that a search gave: the words as they stand in the messages. */
export const foundState = (marked: readonly { text: string; marks: readonly (readonly number[])[] }[]) => ({
  found: [...new Set(marked.flatMap(({ text, marks }) => marks.map(([start, end]) => text.slice(start, end))))],
})

/** Reads the words from the state of an address. */
export function wordsFound(state: unknown): readonly string[] {
  const found: unknown = Object(state).found
  return Array.isArray(found) ? found.filter((word) => typeof word === 'string') : none
}

const none: readonly string[] = []

/**
 * Returns the ranges of the text. Each lies within one run of text: a match that begins before a bold word and ends in
 * it is not marked.
 */
function rangesIn(element: HTMLElement, text: string): Range[] {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  const ranges: Range[] = []
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const content = folded(node.textContent ?? '')
    for (let at = content.indexOf(text); at >= 0; at = content.indexOf(text, at + text.length)) {
      const range = new Range()
      range.setStart(node, at)
      range.setEnd(node, at + text.length)
      ranges.push(range)
    }
  }
  return ranges
}
