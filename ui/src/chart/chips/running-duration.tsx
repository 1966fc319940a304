import { useEffect, useState } from 'react'
import { duration } from '../words.ts'

/** How long something has lasted, counting. `since`: an ISO 8601 time. */
export function RunningDuration({ since }: { since: string }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250)
    return () => clearInterval(timer)
  }, [])
  const ms = Math.max(0, now - Date.parse(since))
  return (
    <time dateTime={since}>{ms < 1000 ? '0 s' : duration(Math.floor(ms / 1000) * 1000).replace('.0 s', ' s')}</time>
  )
}
