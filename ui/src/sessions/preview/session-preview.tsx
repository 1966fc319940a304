/** The preview beside the list: a session's newest messages, why its reply failed, and a link to all of it. */
import { ActionIcon, Button, Group, Text, Title } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { Link } from 'react-router'
import { AwaitedLines } from '../../blocks/awaited/awaited.tsx'
import { Reason } from '../../blocks/messages/reason.tsx'
import { WhenRead } from '../../blocks/messages/when-read.tsx'
import { RelativeTime } from '../../blocks/relative-time.tsx'
import { wholeNumber } from '../../blocks/words.ts'
import { duration } from '../../chart/words.ts'
import { paragraphs } from '../../replies/segments.ts'
import { reliable } from '../../shell/reliable-import.ts'
import { newestMessages, type SessionOverview } from '../queries.ts'
import { StatusMark } from '../status-mark.tsx'
import { sessionName } from '../words.ts'
import classes from './preview.module.css'

const Waiting = lazy(reliable(() => import('../../traces/waiting.tsx')))

/** Characters of a message that are shown. */
const SHOWN = 1_200

interface SessionPreviewProps {
  session: SessionOverview
  providerName: (id: string) => string
  onClose: () => void
}

export function SessionPreview({ session, providerName, onClose }: SessionPreviewProps) {
  const { id, agentId } = session
  const newest = useQuery(newestMessages(agentId, id))
  const { data } = newest
  const error = data?.at(-1)?.error ?? null
  const running = data?.findLast(({ role, status }) => role === 'assistant' && status === 'streaming')
  return (
    <aside className={classes.preview} aria-label="Preview">
      <header>
        <Title order={2} dir="auto">
          {sessionName(session)}
        </Title>
        <ActionIcon variant="subtle" color="gray" aria-label="Close the preview" onClick={onClose}>
          <IconX size={16} stroke={1.7} />
        </ActionIcon>
      </header>
      <Facts session={session} providerName={providerName} />
      <Group gap="xs">
        <Button component={Link} to={`/playground/${agentId}/${id}`} size="xs" viewTransition>
          Open
        </Button>
        <Button component={Link} to={`/chart?view=replay&agent=${agentId}&session=${id}`} size="xs" variant="default">
          Replay and trace
        </Button>
      </Group>
      {error && (
        <div className={classes.error}>
          <code>{error.code}</code>
          <Reason text={shortened(error.message)} />
        </div>
      )}
      {running && (
        <Suspense>
          <Waiting key={running.id} agentId={agentId} sessionId={id} messageId={running.id} since={running.createdAt} />
        </Suspense>
      )}
      <WhenRead query={newest} awaited={<AwaitedLines count={4} />}>
        {(messages) =>
          messages.map(({ id: messageId, role, content, toolCalls }) => (
            <section key={messageId} className={classes.message} data-role={role}>
              <Text component="h3">{role === 'user' ? 'User' : 'Reply'}</Text>
              <p dir="auto">{content === '' ? '–' : shortened(paragraphs(content, toolCalls))}</p>
            </section>
          ))
        }
      </WhenRead>
    </aside>
  )
}

const shortened = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)

function Facts({ session, providerName }: Pick<SessionPreviewProps, 'session' | 'providerName'>) {
  const { status, agentName, user, updatedAt, reply = null } = session
  const { providerId = null, model = null, httpStatus = null, durationMs = null, tokens = null } = reply ?? {}
  const facts = [
    ['Agent', agentName],
    ['User', user],
    ['Model', model],
    ['Provider', providerId && providerName(providerId)],
    ['HTTP status', httpStatus],
    ['Duration', durationMs === null ? null : duration(durationMs)],
    ['Tokens', tokens == null ? undefined : wholeNumber(tokens)],
  ] as const
  return (
    <dl className={classes.facts}>
      <div>
        <dt>Status</dt>
        <dd>
          <StatusMark status={status} />
        </dd>
      </div>
      {facts.map(([name, value]) =>
        value == null ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd dir="auto">{value}</dd>
          </div>
        ),
      )}
      <div>
        <dt>Updated</dt>
        <dd>
          <RelativeTime iso={updatedAt} />
        </dd>
      </div>
    </dl>
  )
}
