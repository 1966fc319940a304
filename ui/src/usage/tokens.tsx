import { VisuallyHidden } from '@mantine/core'
import { wholeNumber } from '../blocks/words.ts'
import { shortNumber } from './words.ts'

/** A number of tokens; `≈` where a tokenizer's estimate is among them. */
export function Tokens({ count, estimated, short = false }: { count: number; estimated: boolean; short?: boolean }) {
  return (
    <span title={short ? wholeNumber(count) : undefined}>
      {estimated && (
        <>
          <span aria-hidden>≈ </span>
          <VisuallyHidden>about </VisuallyHidden>
        </>
      )}
      {short ? shortNumber(count) : wholeNumber(count)}
    </span>
  )
}
