/** A fenced block: highlighted once the highlighter is loaded, unless the text is too long. */
import { useEffect, useState } from 'react'
import { CodeBlock } from '../../blocks/code-block.tsx'
import type { Highlight } from './highlight.tsx'

/** Highlighting takes about 1 ms for 2,000 characters, for every frame while the block grows. */
const mostGrowing = 4_000
const most = 60_000
/** Lines that are laid out together: the more, the more each new line costs. */
const linesTogether = 100

let highlight: Highlight | null = null

interface CodeProps {
  code: string
  language: string
  /** The heading over the code; by default its language. */
  caption?: string
  /** More is coming. */
  growing?: boolean
}

export function Code({ code, language, caption, growing = false }: CodeProps) {
  const [name = ''] = language.split(/\s/)
  const ready = useHighlighter(name !== '')
  const coloured = ready && code.length <= (growing ? mostGrowing : most) ? ready(code, name) : null
  return (
    <CodeBlock code={code} caption={caption ?? (name || 'Text')}>
      {coloured ?? <Lines text={code} />}
    </CodeBlock>
  )
}

function Lines({ text }: { text: string }) {
  const lines = text.split('\n')
  if (lines.length <= linesTogether) return text
  const parts: string[] = []
  for (let at = 0; at < lines.length; at += linesTogether) parts.push(lines.slice(at, at + linesTogether).join('\n'))
  return parts.map((part, place) => (
    <span key={`${place}`} data-lines>
      {part}
    </span>
  ))
}

function useHighlighter(wanted: boolean): Highlight | null {
  const [ready, setReady] = useState(() => highlight)
  useEffect(() => {
    if (!wanted || highlight !== null) return
    let left = false
    void import('./highlight.tsx').then((loaded) => {
      highlight = loaded.highlight
      if (!left) setReady(() => loaded.highlight)
    })
    return () => {
      left = true
    }
  }, [wanted])
  return ready
}
