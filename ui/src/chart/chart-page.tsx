/** The running machine: live, replayed, counted, and its live actors. */
import './tones.css'
import { Tabs } from '@mantine/core'
import { IconActivity, IconChartArrows, IconPlayerTrackNext, IconUsers } from '@tabler/icons-react'
import { useNavigate } from 'react-router'
import { Actors } from './actors.tsx'
import classes from './chart-page.module.css'
import { Live } from './live.tsx'
import { Replay } from './replay.tsx'
import { chartAddress, firstView, useChartAddress } from './session-in-url.ts'
import { TrafficView } from './traffic.tsx'

const views = [
  { value: 'live', label: 'Live', icon: IconActivity, view: Live },
  { value: 'replay', label: 'Replay', icon: IconPlayerTrackNext, view: Replay },
  { value: 'traffic', label: 'Traffic', icon: IconChartArrows, view: TrafficView },
  { value: 'actors', label: 'Actors', icon: IconUsers, view: Actors },
] as const

export function Component() {
  const navigate = useNavigate()
  const { view, chosen } = useChartAddress()
  const shown = views.some(({ value }) => value === view) ? view : firstView
  return (
    <Tabs
      value={shown}
      onChange={(value) => void navigate(chartAddress(value ?? firstView, chosen))}
      keepMounted={false}
      classNames={{ list: classes.tabs ?? '', tab: classes.tab ?? '' }}
    >
      <Tabs.List aria-label="Views of the chart">
        {views.map(({ value, label, icon: Icon }) => (
          <Tabs.Tab key={value} value={value} leftSection={<Icon size={16} stroke={1.7} aria-hidden />}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {views.map(({ value, view: View }) => (
        <Tabs.Panel key={value} value={value} pt="md">
          <View />
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
