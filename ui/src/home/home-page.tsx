/** The shortest way to a first reply: an agent to talk to, or the steps to create one. */
import { Skeleton, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { agentResource } from '../agents/resource.ts'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { Page } from '../blocks/pages/page.tsx'
import { providerResource } from '../providers/resource.ts'
import { allSessions } from '../sessions/queries.ts'
import { FirstAgent } from './first-agent.tsx'
import { FirstSteps } from './first-steps.tsx'
import classes from './home-page.module.css'
import { WhatsOn } from './whats-on.tsx'

const one = { limit: 1, offset: 0 }
const RECENT = 5
/** Refreshed by itself: a step may be done in another window. */
const EVERY_MS = 5_000

export function Component() {
  const sessions = useQuery({ ...allSessions({ limit: RECENT }), refetchInterval: EVERY_MS })
  const found = sessions.data?.sessions
  const newest = found?.[0]
  const talked = newest !== undefined
  // After a first conversation the steps are done, and are not polled any more.
  const steps = talked ? {} : { refetchInterval: EVERY_MS }
  const providers = useQuery({ ...providerResource.list(one), ...steps })
  const agents = useQuery({ ...agentResource.list(one), ...steps })
  const talkedTo = useQuery({ ...agentResource.one(newest?.agentId ?? ''), enabled: talked })
  const agent = talked ? talkedTo.data : agents.data?.items[0]
  const error = agents.error ?? providers.error ?? sessions.error
  const isRead = agents.data !== undefined && providers.data !== undefined && found !== undefined
  return (
    <Page
      title="Welcome to Greenroom"
      description="Replies are stored before they are shown, resumed from any token, stopped from anywhere."
    >
      <ErrorAlert error={error} />
      {!isRead && !error && <Skeleton height={280} radius="lg" />}
      {isRead && (
        <div className={classes.columns}>
          <div>
            {agent && <FirstAgent agent={agent} talked={talked} />}
            <Title order={2} mb="sm">
              {agent ? 'Get started' : 'Three steps to the first reply'}
            </Title>
            <FirstSteps providers={providers.data.total} agents={agents.data.total} agent={agent} talked={talked} />
          </div>
          <div className={classes.side}>
            <WhatsOn found={found} />
          </div>
        </div>
      )}
    </Page>
  )
}
