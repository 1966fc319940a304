/** Code in colours. Large: imported when the first fenced block is shown. */
import { common, createLowlight } from 'lowlight'
import type { ReactNode } from 'react'
import './highlight.css'

type Node = ReturnType<typeof lowlight.highlight>['children'][number]
const lowlight = createLowlight(common)

/** Null for a language that is not known. */
export type Highlight = (code: string, language: string) => ReactNode[] | null

export const highlight: Highlight = (code, language) =>
  lowlight.registered(language) ? lowlight.highlight(language, code).children.map(draw) : null

function draw(node: Node, place: number): ReactNode {
  if (node.type === 'text') return node.value
  if (node.type !== 'element') return null
  const { className } = node.properties
  return (
    <span key={place} className={Array.isArray(className) ? className.join(' ') : undefined}>
      {node.children.map(draw)}
    </span>
  )
}
