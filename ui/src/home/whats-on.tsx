/** Shown beside the first steps: the most recent sessions, or what to try. */
import { Text, Title } from '@mantine/core'
import { IconDoorExit, IconPlayerStop, IconSitemap } from '@tabler/icons-react'
import { Link } from 'react-router'
import { RelativeTime } from '../blocks/relative-time.tsx'
import type { SessionOverview } from '../sessions/queries.ts'
import { sessionName } from '../sessions/words.ts'
import classes from './whats-on.module.css'

/** `found`: the newest sessions. */
export function WhatsOn({ found }: { found: readonly SessionOverview[] }) {
  return found.length === 0 ? <Promises /> : <RecentSessions found={found} />
}

function RecentSessions({ found }: { found: readonly SessionOverview[] }) {
  return (
    <section className={classes.card} aria-labelledby="recent">
      <Title order={2} id="recent">
        Recent sessions
      </Title>
      <ul className={classes.sessions}>
        {found.map((session) => (
          <li key={session.id}>
            <Link to={`/playground/${session.agentId}/${session.id}`}>
              <span className={classes.name} dir="auto">
                {sessionName(session)}
              </span>
              <span className={classes.of}>
                {session.agentName} · <RelativeTime iso={session.updatedAt} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
      <Link to="/sessions" className={classes.all}>
        All sessions
      </Link>
    </section>
  )
}

const promises = [
  {
    icon: IconDoorExit,
    title: 'Leave during a reply',
    text: 'It continues without you and is there when you return: after a reload, or on another device.',
  },
  { icon: IconPlayerStop, title: 'Stop it from anywhere', text: 'The text so far is kept.' },
  {
    icon: IconSitemap,
    title: 'See every step',
    text: 'The live view shows each session as it moves, and replays it later.',
  },
]

/** Shown before the first conversation: what to try. */
function Promises() {
  return (
    <section className={classes.card} aria-labelledby="promises">
      <Title order={2} id="promises">
        Things to try
      </Title>
      <ul className={classes.promises}>
        {promises.map(({ icon: Icon, title, text }) => (
          <li key={title}>
            <Icon size={20} stroke={1.6} aria-hidden />
            <div>
              <Title order={3}>{title}</Title>
              <Text c="dimmed" fz="sm">
                {text}
              </Text>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
