import type { ReactNode } from 'react'
import classes from './blocks.module.css'
import { Copy } from './copy.tsx'

interface CodeBlockProps {
  code: string
  /** The title or the language of the code. */
  caption: string
  /** The code in colours; plain where it is left out. */
  children?: ReactNode
  /** Buttons beside the one that copies. */
  actions?: ReactNode
  /** Only its first lines are shown. */
  isFolded?: boolean
  wraps?: boolean
  /** Shown under the code: the button that unfolds it. */
  below?: ReactNode
}

/** Code to be copied. */
export function CodeBlock({ code, caption, children = code, actions, isFolded, wraps, below }: CodeBlockProps) {
  return (
    <figure className={classes.code}>
      <figcaption>
        {caption}
        <span>
          {actions}
          <Copy text={code} label={`Copy ${caption}`} />
        </span>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0} dir="ltr" data-folded={isFolded || undefined} data-wraps={wraps || undefined}>
        <code>{children}</code>
      </pre>
      {below}
    </figure>
  )
}
