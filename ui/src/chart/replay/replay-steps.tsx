import { Text, UnstyledButton } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import { ToolName } from '../../agents/tool-name.tsx'
import { Card } from '../../blocks/card.tsx'
import { wholeNumber } from '../../blocks/words.ts'
import classes from '../chart-page.module.css'
import { StateChip } from '../chips/state-chip.tsx'
import { isNote, noteWords } from '../note-words.ts'
import { pastName } from '../reading/words.ts'
import { clockTime, detailWords, duration } from '../words.ts'
import styles from './replay.module.css'
import type { Moment } from './replay-moments.ts'

interface ReplayStepsProps {
  moments: readonly Moment[]
  index: number
  onGo: (index: number) => void
}

/** All moments to go to; those that are near the place in the list are on the page. */
export function ReplaySteps({ moments, index, onGo }: ReplayStepsProps) {
  const list = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: moments.length,
    getScrollElement: () => list.current,
    estimateSize: (place) => (hasDetail(moments[place]) ? 54 : 36),
    overscan: 8,
    paddingStart: 4,
    paddingEnd: 4,
  })
  useEffect(() => rows.scrollToIndex(index, { align: 'center' }), [rows, index])
  const near = rows.getVirtualItems()
  const space = { paddingTop: near[0]?.start, paddingBottom: rows.getTotalSize() - (near.at(-1)?.end ?? 0) }
  return (
    <Card
      title="Steps"
      aside={
        <Text fz="xs" c="dimmed">
          {wholeNumber(moments.length - 1)}
        </Text>
      }
    >
      <div ref={list} className={styles.moments}>
        <ol style={space}>
          {near.map(({ index: place }) => {
            const moment = moments[place]
            return (
              moment && (
                <li
                  key={moment.id}
                  ref={rows.measureElement}
                  data-index={place}
                  aria-posinset={place + 1}
                  aria-setsize={moments.length}
                >
                  <UnstyledButton
                    className={styles.moment ?? ''}
                    aria-current={place === index ? 'step' : undefined}
                    data-future={place > index || undefined}
                    onClick={() => onGo(place)}
                  >
                    <MomentWords moment={moment} before={moments[place - 1]} />
                  </UnstyledButton>
                </li>
              )
            )
          })}
        </ol>
      </div>
    </Card>
  )
}

const hasDetail = (moment: Moment | undefined): boolean =>
  moment?.step != null && moment.tool === null && !isNote(moment.step) && detailWords(moment.step.detail).length > 0

const gapWords = (gap: number | null) => (gap === null ? null : gap < 1 ? duration(gap) : `+${duration(gap)}`)

function NoteWords({ at, gap, words }: { at: string | null; gap: number | null; words: string }) {
  return (
    <>
      <span className={classes.time}>{at && clockTime(at)}</span>
      <span className={`${styles.momentWhat} ${styles.note}`}>{words}</span>
      <span className={styles.gap}>{gapWords(gap)}</span>
    </>
  )
}

function MomentWords({ moment, before }: { moment: Moment; before: Moment | undefined }) {
  const { at, step, tool, state } = moment
  const gap = at && before?.at ? Date.parse(at) - Date.parse(before.at) : null
  const did = tool && { null: 'calls', true: 'has answered', false: 'has failed' }[`${tool.ok}`]
  const isOfNote = step !== null && tool === null && isNote(step)
  const detail = step && !tool && !isOfNote ? detailWords(step.detail).join(', ') : ''
  if (isOfNote) return <NoteWords at={at} gap={gap} words={noteWords(step)} />
  return (
    <>
      <span className={classes.time}>{at ? clockTime(at) : 'before'}</span>
      <span className={styles.momentWhat}>
        <span className={classes.eventName}>
          {tool ? (
            <>
              {tool.ok === null && `${did} `}
              <ToolName seen={tool.name} />
            </>
          ) : step ? (
            pastName(step.event)
          ) : (
            'start'
          )}
        </span>
        {tool && tool.ok !== null ? <span className={styles.gap}>{did}</span> : <StateChip id={state} />}
        {detail !== '' && <code>{detail}</code>}
      </span>
      <span className={styles.gap}>{gapWords(gap)}</span>
    </>
  )
}
