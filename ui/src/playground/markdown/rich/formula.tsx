/** A formula: typeset once KaTeX is loaded; until then, and where it is faulty, as it was written. */
import { useLayoutEffect, useRef, useState } from 'react'
import classes from '../markdown.module.css'
import type { MathToken } from '../math.ts'
import { onDemand } from '../on-demand.ts'

const useTypesetter = onDemand(() => import('./typeset.ts'))

export function Formula({ token: { type, text } }: { token: MathToken }) {
  const typesetter = useTypesetter(true)
  const place = useRef<HTMLSpanElement>(null)
  const [fault, setFault] = useState<string | null>(null)
  const isBlock = type === 'mathBlock'
  useLayoutEffect(() => {
    if (typesetter && place.current) setFault(typesetter.typeset(place.current, text, isBlock))
  }, [typesetter, text, isBlock])
  const isDrawn = typesetter !== null && fault === null
  const Written = isBlock ? 'pre' : 'code'
  return (
    <>
      {!isDrawn && (
        <Written className={classes.math} dir="ltr" title={fault ?? undefined}>
          {text}
        </Written>
      )}
      {typesetter && (
        <span ref={place} hidden={!isDrawn} className={classes.formula} data-block={isBlock || undefined} />
      )}
    </>
  )
}
