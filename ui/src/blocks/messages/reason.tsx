import { readableError } from './provider-error.ts'
import classes from './reason.module.css'

/** The reason of a failure, in the provider's words; the whole answer can be unfolded. */
export function Reason({ text }: { text: string }) {
  const { sentence, answer } = readableError(text)
  return (
    <>
      <p className={classes.reason} dir="auto">
        {sentence || 'No reason was given.'}
      </p>
      {answer !== null && (
        <details className={classes.answer}>
          <summary>The provider’s answer</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
          <pre tabIndex={0} dir="ltr">
            {answer}
          </pre>
        </details>
      )}
    </>
  )
}
