/** The running machine: live, replayed, as a sequence, and its live actors. */
import { Tabs } from '@mantine/core'
import { IconActivity, IconArrowsExchange, IconPlayerTrackNext, IconUsers } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { Navigate, useNavigate } from 'react-router'
import { AwaitedLines } from '../blocks/awaited/awaited.tsx'
import { Gone } from '../blocks/messages/gone.tsx'
import { ReadFailure } from '../blocks/messages/when-read.tsx'
import { InHead } from '../blocks/pages/page.tsx'
import { allSessions } from '../sessions/queries.ts'
import { fetchAhead, reliable } from '../shell/reliable-import.ts'
import classes from './chart-page.module.css'
import { Live } from './live/live.tsx'
import { chartAddress, firstView, useChartAddress } from './sessions/session-in-url.ts'

// Not with the page, which shows one view at first.
const replay = () => import('./replay/replay.tsx')
const sequence = () => import('./sequence/sequence.tsx')
const actors = () => import('./actors/actors.tsx')
fetchAhead([replay, sequence, actors], 2_000)
const Replay = lazy(async () => ({ default: (await reliable(replay)()).Replay }))
const Sequence = lazy(async () => ({ default: (await reliable(sequence)()).Sequence }))
const Actors = lazy(async () => ({ default: (await reliable(actors)()).Actors }))

const views = [
  { value: 'live', label: 'Live', icon: IconActivity, view: Live },
  { value: 'replay', label: 'Replay', icon: IconPlayerTrackNext, view: Replay },
  { value: 'sequence', label: 'Sequence', icon: IconArrowsExchange, view: Sequence },
  { value: 'actors', label: 'Running sessions', icon: IconUsers, view: Actors },
] as const

export function Component() {
  const navigate = useNavigate()
  const { view, chosen, unplaced } = useChartAddress()
  const shown = views.some(({ value }) => value === view) ? view : firstView
  if (unplaced !== null) return <Placed sessionId={unplaced} view={view} />
  return (
    <Tabs
      value={shown}
      onChange={(value) => void navigate(chartAddress(value ?? firstView, chosen))}
      keepMounted={false}
      classNames={{ list: classes.tabs ?? '', tab: classes.tab ?? '' }}
    >
      <InHead>
        <Tabs.List aria-label="Views of the chart">
          {views.map(({ value, label, icon: Icon }) => (
            <Tabs.Tab key={value} value={value} leftSection={<Icon size={16} stroke={1.7} aria-hidden />}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </InHead>
      {views.map(({ value, view: View }) => (
        <Tabs.Panel key={value} value={value}>
          <Suspense fallback={<AwaitedLines />}>
            <View />
          </Suspense>
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}

/** Finds the agent of a session that the address names alone. */
function Placed({ sessionId, view }: { sessionId: string; view: string }) {
  const query = useQuery(allSessions({ q: sessionId, limit: 1 }))
  const { data, error } = query
  const found = data?.sessions.find(({ id }) => id === sessionId.toLowerCase())
  if (found) return <Navigate to={chartAddress(view, { agentId: found.agentId, sessionId: found.id })} replace />
  if (error) return <ReadFailure error={error} query={query} />
  return data ? <Gone noun="session" /> : <AwaitedLines />
}
