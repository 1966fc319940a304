/** The model's reasoning: visible until its answer begins, then folded to one line with its time. */
import { IconBulb, IconChevronRight } from '@tabler/icons-react'
import { type MouseEvent, memo, useEffect, useRef, useState } from 'react'
import { Copy } from '../../blocks/copy.tsx'
import classes from './message.module.css'
import { duration } from './tool-card.tsx'

interface ReasoningProps {
  text: string
  /** Null when it is not known. */
  ms: number | null
  /** The answer has not begun. */
  thinking: boolean
  /** The key in `unfolded` while it is expanded, whether it is rendered or not. */
  id: string
  unfolded: Set<string>
}

export const Reasoning = memo(({ text, ms, thinking, id, unfolded }: ReasoningProps) => {
  // What the reader wants counts from then on.
  const [choice, choose] = useState(() => (unfolded.has(id) ? true : null))
  const isOpen = choice ?? thinking
  const end = useRef<HTMLPreElement>(null)
  // The newest line stays in sight as the text grows.
  useEffect(() => {
    if (thinking && end.current) end.current.scrollTop = end.current.scrollHeight
  }, [text, thinking])
  const onClick = (event: MouseEvent) => {
    event.preventDefault()
    choose(!isOpen)
    if (isOpen) unfolded.delete(id)
    else unfolded.add(id)
  }
  return (
    <details className={classes.tool} data-state={thinking ? 'running' : 'done'} open={isOpen}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is a button, keys included */}
      <summary onClick={onClick}>
        <IconChevronRight size={15} stroke={1.8} className={classes.toolFold} aria-hidden />
        <IconBulb size={16} stroke={1.8} className={classes.thought} aria-hidden />
        <span className={classes.thoughtName}>{thinking ? 'Thinking…' : 'Reasoning'}</span>
        {ms !== null && !thinking && <span className={classes.toolTime}>{duration(ms)}</span>}
      </summary>
      {isOpen && (
        <section className={classes.toolPart} aria-label="Reasoning">
          <div className={classes.toolPartName}>
            What the model thought
            <Copy text={text} label="Copy reasoning" />
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
          <pre ref={end} tabIndex={0} className={classes.thoughtText}>
            {text}
          </pre>
        </section>
      )}
    </details>
  )
})
