/** The notices that stand in place of a conversation, or above its field. */
import { Alert, Button, Center, Loader, Stack, Text } from '@mantine/core'
import { IconPlugOff } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { ApiError, wordsOf } from '../api.ts'
import { EmptyState } from '../blocks/messages/empty-state.tsx'
import { Gone } from '../blocks/messages/gone.tsx'
import classes from './chat.module.css'
import { keepDraft, readDraft } from './composer/drafts.ts'

export const Loading = () => (
  <Center flex={1}>
    <Loader role="img" aria-label="Loading" />
  </Center>
)

interface InPlaceProps {
  header: ReactNode
  children: ReactNode
}

const InPlace = ({ header, children }: InPlaceProps) => (
  <>
    {header}
    <Center flex={1} p="md">
      {children}
    </Center>
  </>
)

export const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 404

interface SessionGoneProps {
  header: ReactNode
  agentId: string
  sessionId: string | null
  /** The text typed in the session. */
  text: string
}

export function SessionGone({ header, agentId, sessionId, text }: SessionGoneProps) {
  const navigate = useNavigate()
  const take = () => {
    keepDraft(agentId, null, [readDraft(agentId, null), text].filter(Boolean).join('\n'))
    keepDraft(agentId, sessionId, '')
    void navigate(`/playground/${agentId}`)
  }
  return (
    <InPlace header={header}>
      <Stack align="center">
        <Gone noun="session" />
        {text !== '' && (
          <>
            <Text className={classes.left ?? ''} dir="auto">
              {text}
            </Text>
            <Button onClick={take}>Take the text to a new session</Button>
          </>
        )}
      </Stack>
    </InPlace>
  )
}

interface UnreadProps {
  header: ReactNode
  error: unknown
  query: { isFetching: boolean; refetch: () => Promise<unknown> }
}

/** The session may be long: it is not shown as if it were empty. */
export const Unread = ({ header, error, query: { isFetching, refetch } }: UnreadProps) => (
  <InPlace header={header}>
    <EmptyState
      icon={IconPlugOff}
      title="The session could not be read"
      action={
        <Button loading={isFetching} onClick={() => void refetch()}>
          Try again
        </Button>
      }
    >
      {wordsOf(error)}
    </EmptyState>
  </InPlace>
)

/** A message that was not accepted, or something else that was refused. */
export interface Problem {
  error: unknown
  /** The text that was written. Null if it was no message, or a message that was not written here. */
  text: string | null
  /** True if it waits for the replies before it. */
  isQueued?: boolean
}

interface NoticesProps {
  problem: Problem | null
  onDismiss: () => void
  isReconnecting: boolean
}

export function Notices({ problem, onDismiss, isReconnecting }: NoticesProps) {
  return (
    <div role="status" className={classes.notices}>
      {isReconnecting && (
        <span className={classes.reconnecting}>
          <Loader size={13} color="currentColor" aria-hidden /> Reconnecting. Nothing that was shown is lost.
        </span>
      )}
      {problem && (
        <Alert
          color={isBusy(problem.error) ? 'yellow' : 'red'}
          withCloseButton
          closeButtonLabel="Dismiss"
          onClose={onDismiss}
        >
          {wordsOf(problem.error)} {advice(problem)}
        </Alert>
      )}
    </div>
  )
}

const isBusy = (error: unknown): boolean => error instanceof ApiError && [409, 503].includes(error.status)

function advice({ error, text, isQueued = false }: Problem): string {
  if (!(error instanceof ApiError)) return ''
  if (text === null) return error.status === 503 ? 'Try again in a moment.' : ''
  if (error.status === 409 && isQueued) return 'Your message is kept: send it when one of them has begun.'
  if (error.status === 409) return 'It was started elsewhere. Your message is kept: send it when that reply has ended.'
  if (error.status === 503) return 'Your message is kept: send it again in a moment.'
  return ''
}
