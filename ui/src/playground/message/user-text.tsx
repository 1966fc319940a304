/** The text that a user wrote or pasted: fenced and unfenced code as code, long texts folded. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { wholeNumber } from '../../blocks/words.ts'
import { Code } from '../markdown/code.tsx'
import classes from './message.module.css'
import { isCode, isLong, partsOf } from './pasted.ts'

export function UserText({ text }: { text: string }) {
  const [unfolded, setUnfolded] = useState(false)
  const long = isLong(text)
  const parts = partsOf(text)
  return (
    <div className={classes.bubble} data-wide={parts.some(({ code }) => code) || undefined}>
      <div className={classes.written} data-folded={(long && !unfolded) || undefined}>
        {parts.map(({ at, code, language, body }) =>
          code ? (
            <Code key={at} code={body} language={language} />
          ) : (
            <div key={at} className={classes.words} data-code={isCode(body) || undefined}>
              {body}
            </div>
          ),
        )}
      </div>
      {long && (
        <Button
          variant="subtle"
          size="compact-xs"
          mt="xs"
          aria-expanded={unfolded}
          onClick={() => setUnfolded(!unfolded)}
        >
          {unfolded ? 'Show less' : `Show all ${wholeNumber(text.split('\n').length)} lines`}
        </Button>
      )}
    </div>
  )
}
