import { Text } from '@mantine/core'
import { Card } from '../../blocks/card.tsx'
import type { Step } from '../step.ts'
import { EventRow } from './event-row.tsx'
import styles from './live.module.css'

const mostShown = 100

interface LiveEventsProps {
  steps: readonly Step[]
  /** The number of events before the page was opened. */
  known: number
}

/** Newest first. */
export function LiveEvents({ steps, known }: LiveEventsProps) {
  const shown = steps.slice(-mostShown)
  const before = steps.length - shown.length
  return (
    <Card
      title="Events"
      aside={
        <Text fz="xs" c="dimmed">
          {steps.length > 0 && `newest first${before > 0 ? `, ${mostShown} shown` : ''}`}
        </Text>
      }
    >
      {steps.length === 0 && (
        <Text c="dimmed" fz="sm" p="md">
          The session waits for its first message.
        </Text>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <ol className={styles.events} aria-label="Events, newest first" reversed tabIndex={0}>
        {shown.toReversed().map((step, index) => (
          <EventRow key={step.seq} step={step} isNew={before + shown.length - index > known} />
        ))}
      </ol>
    </Card>
  )
}
