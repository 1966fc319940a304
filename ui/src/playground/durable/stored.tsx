/** Follows the words of a running reply: no frame is sent before it is stored, so what is shown is what is stored. */
import { useState } from 'react'
import { wholeNumber } from '../../blocks/words.ts'
import classes from './stored.module.css'

export function Stored({ content }: { content: string }) {
  const [count] = useState(createWordCount)
  return (
    <span className={classes.stored} data-testid="stored">
      stored through word {wholeNumber(count(content))}
    </span>
  )
}

/** Counts the words of a growing text, of which only the new part is read. */
function createWordCount(): (text: string) => number {
  let last = ''
  let words = 0
  return (text) => {
    if (text === last) return words
    const isLonger = text.startsWith(last)
    const fresh = isLonger ? text.slice(last.length) : text
    const found = fresh.match(/\S+/g)?.length ?? 0
    // The first piece may continue the word before it.
    const joins = isLonger && found > 0 && /\S$/.test(last) && /^\S/.test(fresh)
    words = (isLonger ? words : 0) + found - (joins ? 1 : 0)
    last = text
    return words
  }
}
