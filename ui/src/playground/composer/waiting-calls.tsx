/** The calls that a session waits for, above the field, and what a message does to them. */
import { type ComponentProps, lazy, Suspense } from 'react'
import { reliable } from '../../shell/reliable-import.ts'
import type { Question as LoadedQuestion } from './question/question.tsx'

/** Loaded when a call waits: it brings the forms of tools' arguments, which few conversations need. */
const question = reliable(() => import('./question/question.tsx'))
const Question = lazy(async () => ({ default: (await question()).Question }))

export function WaitingCalls(props: ComponentProps<typeof LoadedQuestion>) {
  if (props.pending.length === 0) return null
  return (
    <Suspense>
      <Question {...props} />
    </Suspense>
  )
}

/** Returns the texts of the field and its button while that many calls wait, or null while none does. */
export function rejecting(count: number): { placeholder: string; sendLabel: string } | null {
  if (count === 0) return null
  const calls = count === 1 ? 'call that waits' : `${count} calls that wait`
  return { placeholder: `Sending a message rejects the ${calls}`, sendLabel: `Send, and reject the ${calls}` }
}
