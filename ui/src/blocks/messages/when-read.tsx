/** In place of what a page reads: what is awaited, that it could not be read, or what it is. */
import { Alert, Button } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { wordsOf } from '../../api.ts'

interface FailedRead {
  /** Null when nothing is shown. */
  error: unknown
  query: Pick<UseQueryResult, 'isFetching' | 'refetch'>
  /** Space below. */
  mb?: 'md'
}

/** A message that says why something could not be read, and a button that reads it again. */
export function ReadFailure({ error, query: { isFetching, refetch }, ...space }: FailedRead) {
  if (error === null) return null
  return (
    <Alert color="red" role="alert" {...space}>
      {wordsOf(error)}
      <div>
        <Button mt="sm" size="xs" variant="default" loading={isFetching} onClick={() => void refetch()}>
          Try again
        </Button>
      </div>
    </Alert>
  )
}

interface WhenReadProps<Data> {
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'isFetching' | 'refetch'>
  awaited: ReactNode
  /** The children show the last data, also after reading them again has failed. */
  children: (data: Data) => ReactNode
}

export function WhenRead<Data>({ query, awaited, children }: WhenReadProps<Data>) {
  if (query.data !== undefined) return children(query.data)
  return query.error === null ? awaited : <ReadFailure error={query.error} query={query} />
}
