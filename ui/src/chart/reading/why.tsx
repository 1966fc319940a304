/** The reason why a reply ended, in a sentence, with the provider's own words where there are some. */
import { Link } from 'react-router'
import { endings, headlineOf } from '../../blocks/messages/outcome.ts'
import { Reason } from '../../blocks/messages/reason.tsx'
import type { Step } from '../step.ts'
import classes from './answers.module.css'
import { type End, endOf, pastName } from './words.ts'

interface WhyProps {
  /** Of the reply. */
  steps: readonly Step[]
  /** Null where it did not fail, undefined while that is not known. */
  error: { code: string; message: string } | null | undefined
}

export function Why({ steps, error }: WhyProps) {
  const end = endOf(steps)
  const messageId = steps[0]?.messageId ?? null
  if (end === null || messageId === null) return <>Nothing has ended yet</>
  return (
    <div className={classes.why}>
      {sentenceOf(end, error?.message ?? '')}
      {error && <Reason text={error.message} />}
      <p>
        {end.code !== null && (
          <>
            <code>{end.code}</code>
            {' · '}
          </>
        )}
        {end.finishReason === 'tool_calls' && (
          <>
            <Link to="/waiting">Decide</Link>
            {' · '}
          </>
        )}
        <Link to={`/replies/${messageId}`}>Open the reply</Link>
      </p>
    </div>
  )
}

function sentenceOf({ event, code, finishReason }: End, message: string): string {
  if (code !== null) return headlineOf({ code, message })
  const byReason: Readonly<Record<string, string>> = endings
  if (event === 'cancel') return endings.cancelled
  if (event === 'steered') return endings.steered
  return byReason[finishReason ?? ''] ?? `Ended: ${pastName(event)}.`
}
