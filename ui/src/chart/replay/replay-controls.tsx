import { ActionIcon, Group, SegmentedControl, Slider, Text } from '@mantine/core'
import {
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
  IconPlayerSkipBackFilled,
  IconPlayerSkipForwardFilled,
  IconPlayerTrackNextFilled,
  IconPlayerTrackPrevFilled,
} from '@tabler/icons-react'
import { useMemo } from 'react'
import { type Tone, toneOf } from '../machine.ts'
import { clockTime, duration } from '../words.ts'
import styles from './replay.module.css'
import type { Moment } from './replay-moments.ts'
import { ReplayScale } from './replay-scale.tsx'
import type { ReplayPosition } from './use-replay-position.ts'

/** Beyond this, marks would touch each other. */
const mostMarks = 80
/** Pieces that are a few pixels wide still. */
const mostPieces = 160

interface ReplayControlsProps {
  moments: readonly Moment[]
  position: ReplayPosition
}

export function ReplayControls({ moments, position }: ReplayControlsProps) {
  const { index, go, speed, setSpeed } = position
  const last = moments.length - 1
  const pieces = useMemo(() => stripOf(moments), [moments])
  const marks = moments.length <= mostMarks ? moments.map((_moment, value) => ({ value })) : []
  return (
    <section className={styles.controls} aria-label="Replay">
      <Group gap="sm" wrap="wrap">
        <Buttons position={position} last={last} />
        <SegmentedControl
          aria-label="Speed"
          size="xs"
          value={String(speed)}
          onChange={(value) => setSpeed(Number(value))}
          data={['1', '4', '16'].map((value) => ({ value, label: `${value}×` }))}
        />
        <Where moments={moments} index={index} />
      </Group>
      <div className={styles.timeline}>
        <div className={styles.strip} aria-hidden>
          {pieces.map(({ from, tone }) => (
            <i key={from} data-tone={tone} data-past={from < index || undefined} />
          ))}
        </div>
        <Slider
          size="sm"
          min={0}
          max={last}
          value={index}
          onChange={go}
          marks={marks}
          label={null}
          thumbLabel="Moment"
          thumbSize={18}
          thumbValueText={spoken(moments[index], index, last)}
          classNames={{
            track: styles.track ?? '',
            mark: styles.mark ?? '',
            thumb: styles.thumb ?? '',
          }}
        />
      </div>
      <ReplayScale moments={moments} index={index} />
    </section>
  )
}

/** Returns the pieces of the strip: one each moment, or several in one, in the colour of the worst of them. */
function stripOf(moments: readonly Moment[]): { from: number; tone: Tone }[] {
  const together = Math.ceil((moments.length - 1) / mostPieces)
  const pieces: { from: number; tone: Tone }[] = []
  for (let from = 0; from < moments.length - 1; from += together) {
    const tones = moments.slice(from, Math.min(from + together, moments.length - 1)).map(({ state }) => toneOf(state))
    pieces.push({
      from,
      tone: (['bad', 'stopped'] as const).find((tone) => tones.includes(tone)) ?? tones[0] ?? 'idle',
    })
  }
  return pieces
}

const spoken = (moment: Moment | undefined, index: number, last: number): string =>
  `${index} of ${last}: ${moment?.step?.event ?? 'start'}, ${moment?.state ?? ''}`

function Buttons({ position: { index, go, step, playing, toggle }, last }: { position: ReplayPosition; last: number }) {
  const icon = { size: 15, 'aria-hidden': true } as const
  return (
    <Group gap={4}>
      <ActionIcon variant="default" size="lg" aria-label="First" disabled={index === 0} onClick={() => go(0)}>
        <IconPlayerSkipBackFilled {...icon} />
      </ActionIcon>
      <ActionIcon variant="default" size="lg" aria-label="Step back" disabled={index === 0} onClick={() => step(-1)}>
        <IconPlayerTrackPrevFilled {...icon} />
      </ActionIcon>
      <ActionIcon variant="filled" size="lg" aria-label={playing ? 'Pause' : 'Play'} onClick={toggle}>
        {playing ? <IconPlayerPauseFilled {...icon} /> : <IconPlayerPlayFilled {...icon} />}
      </ActionIcon>
      <ActionIcon variant="default" size="lg" aria-label="Step" disabled={index >= last} onClick={() => step(1)}>
        <IconPlayerTrackNextFilled {...icon} />
      </ActionIcon>
      <ActionIcon variant="default" size="lg" aria-label="Last" disabled={index >= last} onClick={() => go(last)}>
        <IconPlayerSkipForwardFilled {...icon} />
      </ActionIcon>
    </Group>
  )
}

function Where({ moments, index }: { moments: readonly Moment[]; index: number }) {
  const moment = moments[index]
  const first = moments.find(({ at }) => at !== null)?.at
  const passed = first && moment?.at ? Date.parse(moment.at) - Date.parse(first) : 0
  return (
    <Text fz="sm" c="dimmed" ml="auto" className={styles.where} data-testid="where">
      {index} of {moments.length - 1}
      {moment?.at && ` · ${clockTime(moment.at)}`}
      {passed > 0 && ` · ${duration(passed)} in`}
    </Text>
  )
}
