import { Alert } from '@mantine/core'
import { wordsOf } from '../../api.ts'

interface ErrorAlertProps {
  /** Null when nothing is shown. */
  error: unknown
  /** Space below. */
  mb?: 'md'
}

export function ErrorAlert({ error, ...space }: ErrorAlertProps) {
  if (error === null) return null
  return (
    <Alert color="red" role="alert" {...space}>
      {wordsOf(error)}
    </Alert>
  )
}
