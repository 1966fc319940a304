/** The replies of the last 24 hours, as a bar for each hour; two handles choose the hours that are looked at. */
import { RangeSlider, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { timeOfDay } from '../../blocks/time-words.ts'
import { plural, wholeNumber } from '../../blocks/words.ts'
import { lastHours } from '../queries.ts'
import { heightOf } from './bar-height.ts'
import { firstHour, type Hour, hourMs, hoursOf, shownHours } from './hours.ts'
import classes from './last-day.module.css'

/** Milliseconds since 1970; the end is not included. */
export interface Span {
  from: number
  to: number
}

interface LastDayProps {
  now: number
  /** Null when no hours are chosen. */
  span: Span | null
  /** Called once a handle is let go. */
  onChange: (span: Span | null) => void
  /** Low bars, above what they narrow. */
  isLow?: boolean
}

export function LastDay({ now, span, onChange, isLow = false }: LastDayProps) {
  const first = firstHour(now)
  const { data, error } = useQuery(lastHours(now))
  const hours = hoursOf(data?.rows ?? [], first)
  const at = (place: number) => first + place * hourMs
  const placeOf = (moment: number) => Math.min(Math.max(Math.round((moment - first) / hourMs), 0), shownHours)
  const [moved, setMoved] = useState<[number, number] | null>(null)
  // Until then what was chosen stands where it was let go.
  useEffect(() => setMoved(null), [span?.from, span?.to])
  const chosen: [number, number] = moved ?? (span ? [placeOf(span.from), placeOf(span.to)] : [0, shownHours])
  const isRead = data !== undefined
  const most = { replies: mostOf(hours, 'replies'), failures: mostOf(hours, 'failures') }
  return (
    <section className={classes.day} data-low={isLow || undefined} aria-labelledby="last-day">
      <header>
        <Title order={2} id="last-day">
          Replies in 24 hours
        </Title>
        <span>{isRead ? sumOf(hours, most) : error && 'They could not be read.'}</span>
      </header>
      <div className={classes.bars} role="img" aria-label={isRead ? wordsOf(hours) : 'Not read yet'}>
        {hours.map((hour, place) => (
          <Bar key={hour.start} hour={hour} most={most} isOut={place < chosen[0] || place >= chosen[1]} />
        ))}
      </div>
      <RangeSlider
        className={classes.brush ?? ''}
        size="xs"
        color="gray"
        min={0}
        max={shownHours}
        step={1}
        minRange={1}
        value={chosen}
        onChange={setMoved}
        onChangeEnd={([from, to]) => onChange(from === 0 && to === shownHours ? null : { from: at(from), to: at(to) })}
        label={(place) => timeOfDay(at(place))}
        thumbFromLabel="From"
        thumbToLabel="To"
        thumbValueText={(place) => timeOfDay(at(place))}
      />
      <div className={classes.axis} aria-hidden>
        {[0, 6, 12, 18, 24].map((place) => (
          <span key={place}>{place === shownHours ? 'now' : timeOfDay(at(place))}</span>
        ))}
      </div>
    </section>
  )
}

type Most = Record<'replies' | 'failures', number>

const mostOf = (hours: readonly Hour[], what: keyof Most): number => Math.max(...hours.map((hour) => hour[what]))

function sumOf(hours: readonly Hour[], most: Most): string {
  const replies = hours.reduce((sum, hour) => sum + hour.replies, 0)
  const failures = hours.reduce((sum, hour) => sum + hour.failures, 0)
  const inAnHour = failures === 0 ? '' : `, at most ${wholeNumber(most.failures)} in an hour`
  return `${plural(replies, 'reply', 'replies')}, ${wholeNumber(failures)} failed${inAnHour}`
}

const timesOf = ({ start }: Hour): string => `${timeOfDay(start)}–${timeOfDay(start + hourMs)}`

/** Returns the bars in words, for screen readers: the hours in which something happened. */
function wordsOf(hours: readonly Hour[]): string {
  const busy = hours.filter(({ replies }) => replies > 0)
  const said = busy.map(
    (hour) => `${timesOf(hour)}: ${plural(hour.replies, 'reply', 'replies')}, ${hour.failures} failed`,
  )
  return busy.length === 0 ? 'No replies in 24 hours' : said.join('; ')
}

/** The replies upwards, and below them the failures on an axis of their own, where a few among many are seen. */
function Bar({ hour, most, isOut }: { hour: Hour; most: Most; isOut: boolean }) {
  const { replies, failures } = hour
  return (
    <div data-out={isOut || undefined} title={`${timesOf(hour)}: ${replies}, ${failures} failed`}>
      <span>
        <i style={{ height: heightOf(replies, most.replies) }} />
      </span>
      <span data-bad>
        <i style={{ height: heightOf(failures, most.failures) }} />
      </span>
    </div>
  )
}
