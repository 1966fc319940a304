/** Lists of sessions that move by themselves: what changes at the server makes their queries stale. */
import { useEffect } from 'react'
import { api } from '../api.ts'
import { queryClient } from '../query-client.ts'

/** Changes that come together are one reading. */
const TELL_MS = 250

/** Tells of each change until the returned function is called. */
function follow(tell: () => void): () => void {
  const controller = new AbortController()
  const { signal } = controller
  const read = async () => {
    // What changed before the stream was open, or while it was lost, is read too.
    const onConnection = (state: 'open' | 'lost') => state === 'open' && tell()
    for await (const _ of api.events('/api/v1/sessions/stream', { signal, onConnection })) tell()
  }
  // The shell tells of a server that is away; the list stays as it is.
  read().catch(() => undefined)
  return () => controller.abort()
}

/**
 * Follows changes instead of polling, while the page that calls it is open and seen: a browser has six connections for
 * all its tabs.
 */
export function useLiveSessions(): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const tellSoon = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        void queryClient.invalidateQueries({ queryKey: ['sessions', 'all'] })
      }, TELL_MS)
    }
    let leave = () => {}
    const look = () => {
      leave()
      leave = document.visibilityState === 'visible' ? follow(tellSoon) : () => {}
    }
    look()
    document.addEventListener('visibilitychange', look)
    return () => {
      document.removeEventListener('visibilitychange', look)
      clearTimeout(timer)
      leave()
    }
  }, [])
}
