import { Center, Loader } from '@mantine/core'
import { IconDoor } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError, wordsOf } from '../api.ts'
import { EmptyState } from './empty-state.tsx'
import { Page, type PageProps } from './page.tsx'

interface RecordProps<Data> {
  query: UseQueryResult<Data>
  /** Shown while there is nothing else to show. */
  title: string
  back: NonNullable<PageProps['back']>
  children: (data: Data) => ReactNode
}

/** A page for one record: while it loads, when it is gone, when it cannot be read. */
export function Record<Data>({ query, title, back, children }: RecordProps<Data>) {
  if (query.data !== undefined) return children(query.data)
  return (
    <Page title={title} back={back}>
      {query.error ? (
        <EmptyState icon={IconDoor} title={gone(query.error) ? 'It is gone' : 'It could not be read'}>
          {gone(query.error) ? 'Somebody has deleted it, or the address is wrong.' : wordsOf(query.error)}
        </EmptyState>
      ) : (
        <Center h={240}>
          <Loader aria-label="Loading" />
        </Center>
      )}
    </Page>
  )
}

const gone = (error: unknown): boolean => error instanceof ApiError && error.status === 404
