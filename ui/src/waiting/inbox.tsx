/** A waiting session, to be decided here: the question, and the messages before it. */
import { Anchor, Text, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type Ref, useState } from 'react'
import { Link } from 'react-router'
import { useOwnNames } from '../agents/tool-name.tsx'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { Question } from '../playground/composer/question/question.tsx'
import { messageList } from '../playground/queries.ts'
import classes from './inbox.module.css'
import { decide, type WaitingSession } from './queries.ts'

/** Messages before the question. */
const SHOWN = 3

export function Inbox({ session, ref }: { session: WaitingSession; ref: Ref<HTMLElement> }) {
  const { id, agentId, agentName, user, pending } = session
  const { data } = useQuery(messageList(agentId, id))
  const [refusals, setRefusals] = useState(0)
  const deciding = useMutation({
    mutationFn: (decisions: Parameters<typeof decide>[1]) => decide(session, decisions),
    onError: () => setRefusals((before) => before + 1),
  })
  const before = data?.path.filter(({ content }) => content !== '').slice(-SHOWN) ?? []
  const seen = [...new Set(pending.map(({ name }) => name))]
  const names = seen.map(useOwnNames(seen)).join(', ')
  return (
    <section className={classes.inbox} aria-label="Decision" ref={ref}>
      <Title order={2} fz="md">
        <span dir="auto">{agentName}</span> asks to call{' '}
        <code title={seen.join(', ')} dir="auto">
          {names}
        </code>
        {user !== null && (
          <>
            {' '}
            for <span dir="auto">{user}</span>
          </>
        )}
      </Title>
      <ul className={classes.before} aria-label="Messages before it">
        {before.map(({ id: messageId, role, content }) => (
          <li key={messageId} data-role={role}>
            <b>{role === 'user' ? 'User' : 'Agent'}</b>
            <span dir="auto">{content}</span>
          </li>
        ))}
      </ul>
      {/* What was refused is to be decided again. */}
      <Question key={refusals} pending={pending} onDecide={deciding.mutate} hasUser={user !== null} hasKeys />
      <ErrorAlert error={deciding.error} />
      <Text className={classes.keys} component="div">
        <span>
          <kbd>A</kbd> approves · <kbd>E</kbd> edits · <kbd>R</kbd> rejects · <kbd>J</kbd> <kbd>K</kbd> next, previous
        </span>
        <Anchor component={Link} to={`/playground/${agentId}/${id}`} fz="inherit">
          Open in the playground
        </Anchor>
      </Text>
    </section>
  )
}
