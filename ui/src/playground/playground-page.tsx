/** `/playground/:agentId/:sessionId?`: talk to an agent. */
import { Center, Loader } from '@mantine/core'
import { useDisclosure, useHotkeys, useMediaQuery } from '@mantine/hooks'
import { IconRobot } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, type RefObject, Suspense, useCallback, useDeferredValue, useRef, useState } from 'react'
import { Navigate, useNavigate, useParams } from 'react-router'
import { type Agent, allAgents } from '../agents/resource.ts'
import { LateDrawer } from '../blocks/late/late-drawer.tsx'
import { late, useLoaded } from '../blocks/late/use-loaded.ts'
import { EmptyState } from '../blocks/messages/empty-state.tsx'
import { Gone } from '../blocks/messages/gone.tsx'
import { ReadFailure } from '../blocks/messages/when-read.tsx'
import { Page } from '../blocks/pages/page.tsx'
import { FirstFrame } from '../shell/first/first-frame.tsx'
import { reliable } from '../shell/reliable-import.ts'
import { useRoomOfSide } from '../shell/use-side-fold.ts'
import { SpanSide } from '../traces/span-side.ts'
import { Chat } from './chat.tsx'
import { ChatHeader } from './chat-header.tsx'
import classes from './playground-page.module.css'
import { useFold } from './sessions/use-fold.ts'
import { type Side, useSide } from './side/use-side.ts'

/** On a phone it is in a drawer. */
const sessionsPart = late(reliable(() => import('./sessions/session-side.tsx')))
const SidePanel = lazy(reliable(() => import('./side/side-panel.tsx')))

const lastAgentKey = 'playground-agent'

/**
 * The width at which sessions are visible, as in playground-page.module.css. Below it, the head has a button for them.
 */
const ROOM_FOR_SESSIONS = 'not all and (max-width: 62em)'

const JUST_READ_MS = 1_000

/**
 * Returns whether the data are read again: those read with the page's code (routes.tsx) are not, but an agent that was
 * just created must be there.
 */
const unlessJustRead = ({ state }: { state: { dataUpdatedAt: number; isInvalidated: boolean } }) =>
  state.isInvalidated || Date.now() - state.dataUpdatedAt > JUST_READ_MS ? 'always' : false

export function Component() {
  const { agentId, sessionId } = useParams()
  const query = useQuery({ ...allAgents, refetchOnMount: unlessJustRead })
  const { data: agents, error, isFetching } = query
  // Rendered in pieces: everything hangs on the agents, and their answer alone would be rendered as one long task.
  const isRead = useDeferredValue(agents !== undefined)
  if (agents === undefined || !isRead)
    return error ? (
      <Before>
        <ReadFailure error={error} query={query} />
      </Before>
    ) : (
      <Awaited isNew={sessionId === undefined} />
    )
  const agent = agents.find(({ id }) => id === agentId)
  if (agent) return <Playground agent={agent} agents={agents} sessionId={sessionId} />
  if (agentId !== undefined) return <Before>{isFetching ? <Loader role="img" aria-label="Loading" /> : gone}</Before>
  const last = localStorage.getItem(lastAgentKey)
  const first = agents.find(({ id }) => id === last) ?? agents[0]
  if (first) return <Navigate to={`/playground/${first.id}`} replace />
  return <Before>{isFetching ? <Loader role="img" aria-label="Loading" /> : <NoAgent />}</Before>
}

const awaitedTitle = <title>Playground · Greenroom</title>

const Awaited = ({ isNew }: { isNew: boolean }) => (
  <>
    {awaitedTitle}
    <FirstFrame of={isNew ? 'chat' : 'session'} />
  </>
)

const AwaitedHead = () => (
  <>
    {awaitedTitle}
    <div className="first-head" />
  </>
)

const gone = <Gone noun="agent" leadTo={{ path: '/playground', label: 'Choose another agent' }} />

function Before({ children }: { children: React.ReactNode }) {
  useRoomOfSide(false)
  return (
    <Page title="Playground">
      <Center mih={240}>{children}</Center>
    </Page>
  )
}

const NoAgent = () => (
  <EmptyState icon={IconRobot} title="No agent to talk to yet" leadTo={{ path: '/agents', label: 'Create an agent' }}>
    An agent is a model with a prompt and tools. Create one, then try it here.
  </EmptyState>
)

interface PlaygroundProps {
  agent: Agent
  agents: Agent[]
  sessionId: string | undefined
}

function Playground({ agent, agents, sessionId }: PlaygroundProps) {
  localStorage.setItem(lastAgentKey, agent.id)
  const { key, became } = useChatKey(agent.id, sessionId)
  const side = useSide()
  useRoomOfSide(side.isTight)
  const hasRoom = useMediaQuery(ROOM_FOR_SESSIONS, undefined, { getInitialValueInEffect: false }) === true
  const fold = useFold()
  const isListed = hasRoom && !fold.isFolded
  const Sessions = useLoaded(sessionsPart, isListed)?.default
  const [isFinding, finding] = useDisclosure()
  useHotkeys([['mod+F', finding.open]], [])
  const span = useRef<HTMLDivElement>(null)
  const head = { agent, agents, sessionId, side, beside: hasRoom ? fold : null }
  // The first time, the head is rendered after the conversation: together they are the longest task of the page's visit.
  const hasHead = useDeferredValue(true, false)
  const panel = <SidePanel key={agent.id} agent={agent} sessionId={sessionId} onClose={side.toggle} />
  return (
    <div
      className={classes.page}
      data-side={(side.isBeside && side.isOpen) || undefined}
      data-folded={(hasRoom && fold.isFolded) || undefined}
    >
      {isListed && (
        <aside className={classes.side}>
          {Sessions && <Sessions key={agent.id} agent={agent} agents={agents} sessionId={sessionId} />}
        </aside>
      )}
      <section className={classes.chat} aria-label="Chat">
        <SpanSide value={side.isBeside && side.isOpen ? span : null}>
          <Chat
            key={key}
            agent={agent}
            sessionId={sessionId ?? null}
            onSession={became}
            onFound={isFinding ? finding.close : null}
            header={(message) =>
              hasHead ? <ChatHeader {...head} message={message} onFind={finding.open} /> : <AwaitedHead />
            }
          />
        </SpanSide>
      </section>
      <WorkbenchSide side={side} span={span}>
        {panel}
      </WorkbenchSide>
    </div>
  )
}

interface WorkbenchSideProps {
  side: Side
  /** The element in which a span of the conversation opens. */
  span: RefObject<HTMLDivElement | null>
  children: ReactNode
}

/** Beside the conversation; over it where there is no room. */
function WorkbenchSide({ side, span, children }: WorkbenchSideProps) {
  return side.isBeside ? (
    side.isOpen && (
      <aside className={classes.workbench} aria-label="Workbench">
        <div ref={span} className={classes.span} />
        <Suspense>{children}</Suspense>
      </aside>
    )
  ) : (
    <LateDrawer
      opened={side.isOpen}
      onClose={side.toggle}
      position="right"
      size={420}
      padding={0}
      withCloseButton={false}
      title="Workbench"
      classNames={{ body: classes.drawer ?? '', header: classes.drawerHead ?? '' }}
    >
      <Suspense>{children}</Suspense>
    </LateDrawer>
  )
}

/**
 * Returns the key of the conversation. It stays when a new session gets its id and its address, and changes when
 * another session is chosen.
 */
function useChatKey(agentId: string, sessionId: string | undefined) {
  const navigate = useNavigate()
  const [chat, setChat] = useState({ key: 0, agentId, sessionId, became: sessionId })
  if (chat.agentId !== agentId || chat.sessionId !== sessionId) {
    const isSame = chat.agentId === agentId && chat.became === sessionId
    setChat({ key: isSame ? chat.key : chat.key + 1, agentId, sessionId, became: sessionId })
  }
  const became = useCallback(
    (id: string) => {
      setChat((before) => ({ ...before, became: id }))
      // Rendered with the address: "New session" would else lead from where the page still is to where it is.
      void navigate(`/playground/${agentId}/${id}`, { replace: true, flushSync: true })
    },
    [agentId, navigate],
  )
  return { key: chat.key, became }
}
