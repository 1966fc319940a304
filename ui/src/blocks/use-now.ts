import { useEffect, useState } from 'react'
import { serverNow } from '../shell/server-clock.ts'

/** Returns the time by the server's clock, each second while `isTicking`. Milliseconds since 1970. */
export function useNow(isTicking = true): number {
  const [now, setNow] = useState(serverNow)
  useEffect(() => {
    if (!isTicking) return
    setNow((before) => (serverNow() - before < 1_000 ? before : serverNow()))
    const timer = setInterval(() => setNow(serverNow()), 1_000)
    return () => clearInterval(timer)
  }, [isTicking])
  return now
}
