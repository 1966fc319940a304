/** Lists of sessions that move by themselves: what changes at the server makes their queries stale. */
import { useEffect } from 'react'
import { api } from '../api.ts'
import { queryClient } from '../query-client.ts'

/** Changes that come together are one reading. */
const TELL_MS = 250

/** Instead of polling, while the page that calls it is open. */
export function useLiveSessions(): void {
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    let timer: ReturnType<typeof setTimeout> | undefined
    const tellSoon = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        void queryClient.invalidateQueries({ queryKey: ['sessions', 'all'] })
      }, TELL_MS)
    }
    const follow = async () => {
      // What changed before the stream was open, or while it was lost, is read too.
      const onConnection = (state: 'open' | 'lost') => state === 'open' && tellSoon()
      for await (const _ of api.events('/api/v1/sessions/stream', { signal, onConnection })) tellSoon()
    }
    // The shell tells of a server that is away; the list stays as it is.
    follow().catch(() => undefined)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [])
}
