/** Sessions of the agent in whose messages the words were found, below those with such a title. */
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { wordsOf } from '../../api.ts'
import { Snippets } from '../../sessions/found/snippets.tsx'
import { allSessions } from '../../sessions/queries.ts'
import { sessionName } from '../../sessions/words.ts'
import classes from './session-side.module.css'

interface FoundMessagesProps {
  agentId: string
  q: string
  user: string
  onChosen: (() => void) | undefined
}

const MOST = 20

export function FoundMessages({ agentId, q, user, onChosen }: FoundMessagesProps) {
  const filters = { agentId, q, in: 'messages' as const, ...(user !== '' && { user }) }
  const { data, error } = useQuery({ ...allSessions({ ...filters, limit: MOST }), retry: false })
  if (error) return <Text className={classes.sideNote}>{wordsOf(error)}</Text>
  if (data === undefined) return null
  return (
    <section aria-label="Found in messages">
      <Text className={classes.sideNote}>
        {data.sessions.length === 0 ? 'No message has these words.' : 'In messages'}
        {data.complete === false && ' Older messages are still being made searchable.'}
      </Text>
      <ul>
        {data.sessions.map((session) => (
          <li key={session.id} className={classes.found}>
            <span className={classes.sessionTitle} dir="auto">
              {sessionName(session)}
            </span>
            <Snippets agentId={agentId} sessionId={session.id} snippets={session.snippets ?? []} onChosen={onChosen} />
          </li>
        ))}
      </ul>
    </section>
  )
}
