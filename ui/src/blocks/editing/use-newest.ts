/**
 * The initial data of a form. A response in the window's cache may be older than the newest tag of its record. Saved
 * with that tag, it would silently undo what was changed meanwhile, also by another page of this window.
 */
import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

/** Reads like `useQuery`, but has no data until the record has been read since the component was mounted. */
export function useNewest<Data, Key extends QueryKey>(query: UseQueryOptions<Data, Error, Data, Key>) {
  const { data, error, isError, isFetching, isFetchedAfterMount, refetch } = useQuery({
    ...query,
    refetchOnMount: 'always',
  })
  const [isRead, setRead] = useState(false)
  if (!isRead && isFetchedAfterMount && !isError) setRead(true)
  return { data: isRead ? data : undefined, error, isFetching, refetch }
}
