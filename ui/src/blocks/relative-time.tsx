import { type PointerEvent, useEffect, useState } from 'react'
import { serverNow } from '../shell/server-clock.ts'
import { once } from './once.ts'
import { relativeTime, timeUntil } from './time-words.ts'
import { useNow } from './use-now.ts'

const exact = once(() => new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }))

/** The time since a moment, kept up to date; the exact time on hover. `iso`: an ISO 8601 time. */
export function RelativeTime({ iso }: { iso: string }) {
  const [now, setNow] = useState(serverNow)
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), 30_000)
    return () => clearInterval(timer)
  }, [])
  return <Time iso={iso} words={relativeTime(iso, now)} />
}

/** The time until a moment, counting down; the exact time on hover. */
export const TimeUntil = ({ iso }: { iso: string }) => <Time iso={iso} words={timeUntil(iso, useNow())} />

function Time({ iso, words }: { iso: string; words: string }) {
  const sayExactly = ({ currentTarget }: PointerEvent<HTMLElement>) => {
    currentTarget.title = exact().format(new Date(iso))
  }
  return (
    <time dateTime={iso} onPointerEnter={sayExactly}>
      {words}
    </time>
  )
}
