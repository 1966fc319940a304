/** A session's actor, live. */
import { Button, Group, Loader, Switch } from '@mantine/core'
import { IconActivity, IconPlayerTrackNext } from '@tabler/icons-react'
import { Link } from 'react-router'
import { EmptyState } from '../../blocks/messages/empty-state.tsx'
import classes from '../chart-page.module.css'
import { ReadingChart } from '../reading/reading-chart.tsx'
import { OpenInPlayground } from '../sessions/open-in-playground.tsx'
import { type ChosenSession, chartAddress, useChartAddress } from '../sessions/session-in-url.ts'
import { SessionPicker } from '../sessions/session-picker.tsx'
import { StartOne } from '../sessions/start-one.tsx'
import { LiveSession } from './live-session.tsx'
import { useNewestActivity } from './use-newest-activity.ts'

/** Follows the newest activity when the address names no session. */
export function Live() {
  const { chosen, choose } = useChartAddress()
  const following = chosen === null
  const { newest, isPending } = useNewestActivity(following)
  const shown = chosen ?? newest
  return (
    <>
      <Group mb="md" gap="sm">
        <SessionPicker chosen={shown} onChoose={choose} />
        <Switch
          label="Follow newest activity"
          checked={following}
          disabled={following && shown === null}
          onChange={({ currentTarget: { checked } }) => choose(checked ? null : shown)}
        />
        {shown && <Ways session={shown} />}
      </Group>
      {shown ? (
        <LiveSession key={shown.sessionId} session={shown} />
      ) : (
        <>
          <ReadingChart current={null} step={undefined} steps={[]} />
          <div className={classes.below}>
            {isPending ? (
              <Loader size="sm" aria-label="Looking for sessions" />
            ) : (
              <EmptyState icon={IconActivity} title="No session yet" action={<StartOne />}>
                Send a message to an agent and watch its session move through these states.
              </EmptyState>
            )}
          </div>
        </>
      )}
    </>
  )
}

function Ways({ session }: { session: ChosenSession }) {
  return (
    <Group gap="xs" ml="auto">
      <Button
        component={Link}
        to={chartAddress('replay', session)}
        variant="default"
        size="xs"
        leftSection={<IconPlayerTrackNext size={15} stroke={1.7} aria-hidden />}
      >
        Replay
      </Button>
      <OpenInPlayground session={session} />
    </Group>
  )
}
