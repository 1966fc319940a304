/** The shortest way to a first reply: an agent to talk to, or the steps to create one. */
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useDeferredValue, useState } from 'react'
import { type Agent, agentResource } from '../agents/resource.ts'
import { AwaitedLines } from '../blocks/awaited/awaited.tsx'
import { ReadFailure } from '../blocks/messages/when-read.tsx'
import { Page } from '../blocks/pages/page.tsx'
import { useRefusal } from '../login/roles.ts'
import type { SessionOverview } from '../sessions/queries.ts'
import { homeDescription } from '../shell/first/first-words.ts'
import { reliable } from '../shell/reliable-import.ts'
import type { Sentence } from './causes.ts'
import { FirstAgent } from './first-agent.tsx'
import { FirstSteps, useDismissed } from './first-steps.tsx'
import classes from './home-page.module.css'
import { recentSessions, someAgents, someProviders } from './queries.ts'
import { WhatsOn } from './whats-on.tsx'

// An empty server has nobody on call: its first page goes without.
const onCall = reliable(() => import('./on-call.tsx'))
const OnCall = lazy(async () => {
  const { OnCall: Component, readFigures } = await onCall()
  await readFigures()
  return { default: Component }
})

/** Refreshed by itself: a step may be done in another window. */
const EVERY_MS = 5_000

const none: readonly SessionOverview[] = []

export function Component() {
  const mayRead = useRefusal('open', '/sessions') === undefined
  const sessions = useQuery({ ...recentSessions, refetchInterval: EVERY_MS, enabled: mayRead })
  const found = mayRead ? sessions.data?.sessions : none
  const newest = found?.[0]
  const talked = newest !== undefined
  const { isDismissed, dismiss } = useDismissed()
  const ownOf = (items: readonly Agent[] = []) => items.filter(({ model }) => model !== 'demo')
  // Whoever is served needs no first steps.
  const isServedBy = (own: readonly Agent[]) =>
    found?.some(({ agentId }) => own.some(({ id }) => id === agentId)) === true
  const agents = useQuery({
    ...someAgents,
    refetchInterval: ({ state }) => !isDismissed && !isServedBy(ownOf(state.data?.items)) && EVERY_MS,
  })
  const own = ownOf(agents.data?.items)
  const isServed = isServedBy(own)
  const providers = useQuery({ ...someProviders, refetchInterval: !isDismissed && !isServed && EVERY_MS })
  const hasOwnProvider = providers.data?.items.some(({ providerType }) => providerType !== 'demo') === true
  const isOffered = talked && agents.data !== undefined && !isServed
  const talkedTo = useQuery({ ...agentResource.one(newest?.agentId ?? ''), enabled: isOffered })
  const agent = talked ? talkedTo.data : agents.data?.items[0]
  const failed = [agents, providers, ...(mayRead ? [sessions] : [])].find(({ error }) => error !== null)
  const isRead =
    agents.data !== undefined &&
    providers.data !== undefined &&
    found !== undefined &&
    !(isOffered && talkedTo.isPending)
  // Rendered in pieces: the query's answer alone would be rendered as one long task.
  const isShown = useDeferredValue(isRead)
  const [sentence, setSentence] = useState<Sentence>()
  return (
    <Page
      title={talked ? 'Overview' : 'Welcome to Greenroom'}
      description={
        talked ? (
          <span className={classes.standing} data-level={sentence?.level} role="status">
            {sentence?.text ?? homeDescription}
          </span>
        ) : (
          homeDescription
        )
      }
    >
      {failed && <ReadFailure error={failed.error} query={failed} />}
      {!isShown && !talked && !failed && <AwaitedLines />}
      {/* What stands below waits for what stands above: nothing moves once it is there. */}
      <Suspense fallback={<AwaitedLines />}>
        {talked && <OnCall onSentence={setSentence} />}
        {isRead && isShown && (
          <div className={isServed ? '' : classes.columns}>
            {!isServed && (
              <div>
                {agent && <FirstAgent agent={agent} talked={talked} />}
                {!isDismissed && mayRead && (
                  <FirstSteps
                    hasProvider={hasOwnProvider}
                    agent={own[0]}
                    isFirst={agent === undefined}
                    talked={talked}
                    onDismiss={dismiss}
                  />
                )}
              </div>
            )}
            <div className={classes.side}>
              <WhatsOn found={found} />
            </div>
          </div>
        )}
      </Suspense>
    </Page>
  )
}
