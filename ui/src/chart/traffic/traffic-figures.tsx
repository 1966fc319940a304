/** What the counts come to: how many replies, how many of them failed, how long they took. */
import { Skeleton } from '@mantine/core'
import type { Traffic } from '../queries.ts'
import { duration } from '../words.ts'
import styles from './traffic.module.css'
import { figuresOf } from './traffic-marks.ts'

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })

export function TrafficFigures({ traffic }: { traffic: Traffic | undefined }) {
  if (!traffic) return <Skeleton h={76} mb="md" radius="lg" />
  const { replies, failed, stopped, p50Ms, p95Ms } = figuresOf(traffic)
  const share = (count: number) => (replies === 0 ? '–' : percent.format(count / replies))
  const figures = [
    { name: 'Replies', value: replies.toLocaleString('en') },
    { name: 'Failed', value: share(failed), isBad: failed > 0 },
    { name: 'Stopped', value: share(stopped) },
    { name: 'Duration, p50', value: p50Ms === null ? '–' : duration(p50Ms) },
    { name: 'Duration, p95', value: p95Ms === null ? '–' : duration(p95Ms) },
  ]
  return (
    <dl className={styles.figures} aria-label="Replies in this time">
      {figures.map(({ name, value, isBad }) => (
        <div key={name} data-bad={isBad || undefined}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
