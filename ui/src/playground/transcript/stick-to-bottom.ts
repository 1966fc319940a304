/** Keeps the end in sight while the content grows, until the reader scrolls up. */
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'

interface StickToBottom {
  scroller: RefObject<HTMLDivElement | null>
  content: RefObject<HTMLDivElement | null>
  /** Whether new content is scrolled to. */
  stuck: RefObject<boolean>
  isAtBottom: boolean
  toBottom: () => void
}

export function useStickToBottom(): StickToBottom {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const stuck = useRef(true)
  const [isAtBottom, setAtBottom] = useState(true)
  const toBottom = useCallback(() => {
    stuck.current = true
    setAtBottom(true)
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight })
  }, [])
  useEffect(() => {
    const box = scroller.current
    const inner = content.current
    if (box === null || inner === null) return
    let lastTop = 0 // as of any box that is new: reading it would have the whole page laid out within React's commit
    const onScroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = box
      const below = scrollHeight - clientHeight - scrollTop
      // Any scrolling up is the reader's; growth alone never scrolls up.
      if (below <= 4) stuck.current = true
      else if (scrollTop < lastTop) stuck.current = false
      lastTop = scrollTop
      setAtBottom(stuck.current || below <= 4)
    }
    const growth = new ResizeObserver(() => {
      if (stuck.current) box.scrollTop = box.scrollHeight
      else setAtBottom(box.scrollHeight - box.clientHeight - box.scrollTop <= 4)
    })
    // What the reader expands stays where it is.
    const onClick = ({ target }: MouseEvent) => {
      if (target instanceof Element && target.closest('summary')) stuck.current = false
    }
    growth.observe(inner, { box: 'border-box' })
    growth.observe(box)
    box.addEventListener('scroll', onScroll, { passive: true })
    box.addEventListener('click', onClick)
    return () => {
      growth.disconnect()
      box.removeEventListener('click', onClick)
      box.removeEventListener('scroll', onScroll)
    }
  }, [])
  return { scroller, content, stuck, isAtBottom, toBottom }
}
