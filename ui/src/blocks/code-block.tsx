import type { ReactNode } from 'react'
import classes from './blocks.module.css'
import { Copy } from './copy.tsx'

interface CodeBlockProps {
  code: string
  /** What it is, or its language. */
  caption: string
  /** The code in colours; plain where it is left out. */
  children?: ReactNode
}

/** Code to be copied. */
export function CodeBlock({ code, caption, children = code }: CodeBlockProps) {
  return (
    <figure className={classes.code}>
      <figcaption>
        {caption}
        <Copy text={code} label={`Copy ${caption}`} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0} dir="ltr">
        <code>{children}</code>
      </pre>
    </figure>
  )
}
