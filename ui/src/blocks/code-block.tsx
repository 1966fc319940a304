import classes from './blocks.module.css'
import { Copy } from './copy.tsx'

/** Code to take away. `caption`: what it is or its language. */
export function CodeBlock({ code, caption }: { code: string; caption: string }) {
  return (
    <figure className={classes.code}>
      <figcaption>
        {caption}
        <Copy text={code} label={`Copy ${caption}`} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </figure>
  )
}
