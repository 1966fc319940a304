/**
 * What a form begins with. An answer that the window has kept may be older than the newest tag of its record, with which it
 * would be saved: what was changed meanwhile, from another page of this window too, would be undone without a word.
 */
import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

/** As `useQuery`, and without data until the record has been read since the component was mounted. */
export function useNewest<Data, Key extends QueryKey>(query: UseQueryOptions<Data, Error, Data, Key>) {
  const { data, error, isError, isFetching, isFetchedAfterMount, refetch } = useQuery({
    ...query,
    refetchOnMount: 'always',
  })
  const [isRead, setRead] = useState(false)
  if (!isRead && isFetchedAfterMount && !isError) setRead(true)
  return { data: isRead ? data : undefined, error, isFetching, refetch }
}
