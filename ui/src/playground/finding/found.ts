/** Marks what the find bar finds. The marks are the browser's own highlights: the elements stay as they are. */
import { type RefObject, useEffect } from 'react'

const name = 'found'

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

/** Marks the text in every rendered message, also in those that are rendered later. */
export function useMarks(root: RefObject<HTMLElement | null>, wanted: string): void {
  const text = folded(wanted.trim())
  useEffect(() => {
    const element = root.current
    if (element === null || text === '') return
    let picture = 0
    const mark = () => {
      picture = 0
      CSS.highlights.set(name, new Highlight(...rangesIn(element, text)))
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
  }, [root, text])
}

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
