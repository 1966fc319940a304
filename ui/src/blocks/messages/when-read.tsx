/** In place of what a page reads: what is awaited, that it could not be read, or what it is. */
import { Alert, Button } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { wordsOf } from '../../api.ts'

interface WhenReadProps<Data> {
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'isFetching' | 'refetch'>
  awaited: ReactNode
  /** What was read stays where it could not be read again. */
  children: (data: Data) => ReactNode
}

export function WhenRead<Data>({
  query: { data, error, isFetching, refetch },
  awaited,
  children,
}: WhenReadProps<Data>) {
  if (data !== undefined) return children(data)
  if (error === null) return awaited
  return (
    <Alert color="red" role="alert">
      {wordsOf(error)}
      <div>
        <Button mt="sm" size="xs" variant="default" loading={isFetching} onClick={() => void refetch()}>
          Try again
        </Button>
      </div>
    </Alert>
  )
}
