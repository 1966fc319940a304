/** The session that answers a call, below the call: its state, its own stop, and its conversation as it grows. */
import { Button, UnstyledButton } from '@mantine/core'
import { IconChevronRight, IconExternalLink, IconPlayerStop } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useSelector } from '@xstate/store-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import { allAgents } from '../../agents/resource.ts'
import { ApiError } from '../../api.ts'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { playgroundOf } from '../../chart/sessions/session-in-url.ts'
import { WaitingCalls } from '../composer/waiting-calls.tsx'
import { type ShownMessage, shownMessages } from '../connection/live-reply.ts'
import { useConnection } from '../connection/use-connection.ts'
import { statusOf } from '../message/foot.tsx'
import { messageList, messagesChanged, stopChild } from '../queries.ts'
import type { Conversation } from '../transcript/branches.ts'
import classes from './nested.module.css'
import type { NestedSessionProps } from './nested-calls.ts'
import { NestedMessage } from './nested-message.tsx'

/** Expanded while its call has no result. One that has ended is read when it is expanded. */
export default function NestedSession(props: NestedSessionProps) {
  const { place, isAnswered, id, unfolded } = props
  const [isOpen, setOpen] = useState(() => !isAnswered || unfolded.has(id))
  const [isRead, setRead] = useState(isOpen)
  const { data: agents } = useQuery(allAgents)
  const name = agents?.find((agent) => agent.id === place.agentId)?.name ?? 'agent'
  const onToggle = () => {
    if (isOpen) unfolded.delete(id)
    else unfolded.add(id)
    setOpen(!isOpen)
    setRead(true)
  }
  const head = { name, isOpen, onToggle }
  return (
    <section className={classes.nested} aria-label={`Asked: ${name}`}>
      {isRead ? <Read {...props} head={head} /> : <Head {...head} place={place} />}
    </section>
  )
}

interface HeadProps {
  name: string
  isOpen: boolean
  onToggle: () => void
  place: NestedSessionProps['place']
  /** The state and the stop of the session, once they are known. */
  children?: ReactNode
}

const Head = ({ name, isOpen, onToggle, place, children }: HeadProps) => (
  <div className={classes.head}>
    <UnstyledButton className={classes.fold ?? ''} aria-expanded={isOpen} onClick={onToggle}>
      <IconChevronRight size={15} stroke={1.8} aria-hidden />
      <span>{name}</span>
    </UnstyledButton>
    {children}
    <Button
      component={Link}
      to={playgroundOf(place)}
      size="compact-xs"
      variant="subtle"
      color="gray"
      leftSection={<IconExternalLink size={14} aria-hidden />}
      aria-label={`Open the session of ${name}`}
    >
      Open
    </Button>
  </div>
)

const none: Conversation = { path: [], ids: [] }
const nothing = () => {}
/** A session that has not begun is looked at so often. */
const LOOK_MS = 1_000

type Follower = NestedSessionProps & { head: Omit<HeadProps, 'place' | 'children'> }

function Read({ place, isAnswered, id, unfolded, head }: Follower) {
  const { agentId, sessionId } = place
  const connection = useConnection({ agentId, sessionId, onSession: nothing })
  const { transcript, stored, isIdle, pending, problem } = connection
  useQuery({ ...messageList(agentId, sessionId), refetchInterval: !isAnswered && isIdle && LOOK_MS })
  useLastLook(place, isAnswered)
  const live = useSelector(transcript, ({ context }) => context.live)
  const stop = useMutation({ mutationFn: () => stopChild(agentId, sessionId) })
  const messages = shownMessages(stored.data ?? none, live)
  const last = messages.findLast(({ role }) => role === 'assistant')
  const isMissing = isAnswered && stored.error instanceof ApiError && stored.error.status === 404
  return (
    <>
      <Head {...head} place={place}>
        <State reply={last} isAnswered={isAnswered} />
        {!isAnswered && (
          <Button
            size="compact-xs"
            variant="default"
            loading={stop.isPending}
            leftSection={<IconPlayerStop size={14} aria-hidden />}
            aria-label={`Stop ${head.name}`}
            onClick={() => stop.mutate()}
          >
            Stop
          </Button>
        )}
      </Head>
      <ErrorAlert error={stop.error ?? problem?.error ?? null} />
      {head.isOpen && (
        <div className={classes.messages}>
          {isMissing && 'There is no session of this call.'}
          {messages.map((message, index) => (
            <NestedMessage
              key={index} // the index stays when the stored message replaces the live one
              message={message}
              id={`${id} ${index}`}
              unfolded={unfolded}
              isFollowedByMessage={messages[index + 1]?.role === 'user'}
            />
          ))}
          <WaitingCalls pending={pending} onDecide={connection.decide} of={head.name} />
        </div>
      )}
    </>
  )
}

function State({ reply, isAnswered }: { reply: ShownMessage | undefined; isAnswered: boolean }) {
  if (reply === undefined) return isAnswered ? null : <span className={classes.state}>Not begun yet</span>
  const { icon: Icon, words } = statusOf(reply)
  return (
    <span className={classes.state} data-testid="child-state">
      {Icon && <Icon size={14} stroke={2} aria-hidden />}
      {words}
    </span>
  )
}

/** Reads the messages once more when the call has got its result: the last look may have been before that. */
function useLastLook({ agentId, sessionId }: NestedSessionProps['place'], isAnswered: boolean): void {
  const was = useRef(isAnswered)
  useEffect(() => {
    if (isAnswered && !was.current) messagesChanged(agentId, sessionId)
    was.current = isAnswered
  }, [isAnswered, agentId, sessionId])
}
