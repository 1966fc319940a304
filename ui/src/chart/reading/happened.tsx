/** The events in a state, or on the way between two, in this session: each event with its payload. */
import { ActionIcon, Text } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { Link } from 'react-router'
import { writeExact } from '../../../../src/untrusted/exact-json.ts'
import { Card } from '../../blocks/card.tsx'
import { CodeBlock } from '../../blocks/code-block.tsx'
import { plural } from '../../blocks/words.ts'
import { isNote, noteWords } from '../note-words.ts'
import type { Step } from '../step.ts'
import { clockTime, duration } from '../words.ts'
import classes from './reading.module.css'
import { pastName, stateName } from './words.ts'

/** A state (`from` null), or the way between two; the beginning of a state's id stands for all within, '' for any at rest. */
export interface Picked {
  from: string | null
  to: string
}

const MOST = 20

/** Returns whether a state is at that place of the chart: '' is at rest. */
export const isAt = (state: string, place: string): boolean =>
  place === '' ? !state.startsWith('streaming') : state === place || state.startsWith(`${place}.`)

/** Returns the steps that entered the state, or went the way, newest first; a state has what was noted in it too. */
function pickedSteps(steps: readonly Step[], { from, to }: Picked): Step[] {
  return steps
    .filter((step) => (from === null ? step.to === to : !isNote(step) && isAt(step.from, from) && isAt(step.to, to)))
    .toReversed()
}

interface HappenedProps {
  picked: Picked
  steps: readonly Step[]
  onClose: () => void
}

export function Happened({ picked, steps, onClose }: HappenedProps) {
  const { from, to } = picked
  const found = pickedSteps(steps, picked)
  const name = (id: string) => (id === '' ? 'at rest' : stateName(id))
  const after = (step: Step) => steps.find(({ seq, kind }) => seq > step.seq && kind === 'transition')
  return (
    <div className={classes.happened}>
      <Card
        title={from === null ? `${name(to)}: ${plural(found.length, 'event')}` : `${name(from)} → ${name(to)}`}
        aside={
          <ActionIcon variant="subtle" color="gray" aria-label="Close what happened" onClick={onClose}>
            <IconX size={16} stroke={1.7} />
          </ActionIcon>
        }
      >
        {found.length === 0 && (
          <Text fz="sm" c="dimmed" p="md">
            This session has not been here.
          </Text>
        )}
        <ol>
          {found.slice(0, MOST).map((step) => {
            const next = isNote(step) ? undefined : after(step)
            return (
              <li key={step.seq} data-note={isNote(step) || undefined}>
                <details>
                  <summary>
                    <time dateTime={step.at}>{clockTime(step.at)}</time>
                    <b>{isNote(step) ? noteWords(step) : pastName(step.event)}</b>
                    {next && <span>for {duration(Date.parse(next.at) - Date.parse(step.at))}</span>}
                  </summary>
                  <CodeBlock code={writeExact(step.detail, 2)} caption={`${step.event}, payload`} />
                  <p>
                    {step.from} → {step.to} · server {step.instanceId}
                    {step.messageId !== null && (
                      <>
                        {' · '}
                        <Link to={`/replies/${step.messageId}`}>the reply</Link>
                      </>
                    )}
                  </p>
                </details>
              </li>
            )
          })}
        </ol>
      </Card>
    </div>
  )
}
