/** The calls of agents by a reply, as nodes of the chart: each opens the chart of the session that answers it. */
import { IconArrowUpRight } from '@tabler/icons-react'
import { Link } from 'react-router'
import { ToolName } from '../../agents/tool-name.tsx'
import { isNote } from '../note-words.ts'
import { type ChosenSession, chartAddress } from '../sessions/session-in-url.ts'
import type { Step } from '../step.ts'
import classes from './reading.module.css'

interface AgentCall extends ChosenSession {
  /** The name of the tool. */
  name: string
  /** Null while it has no result. */
  ok: boolean | null
}

/** Returns the calls of agents by the reply in these steps, each session once. The newest note of a call counts. */
function agentCalls(steps: readonly Step[], messageId: string | null): AgentCall[] {
  const calls = new Map<string, AgentCall>()
  for (const step of steps) {
    const { agentId, sessionId, name, ok } = step.detail
    if (!isNote(step) || step.event !== 'tool' || step.messageId !== messageId) continue
    if (typeof agentId !== 'string' || typeof sessionId !== 'string') continue
    calls.set(sessionId, { agentId, sessionId, name: String(name), ok: typeof ok === 'boolean' ? ok : null })
  }
  return [...calls.values()]
}

const looks = {
  null: { tone: 'busy', words: 'is asked' },
  true: { tone: 'good', words: 'has answered' },
  false: { tone: 'bad', words: 'has failed' },
} as const

interface AskedProps {
  steps: readonly Step[]
  messageId: string | null
  /** The view of the chart that a node opens. */
  view: string
}

export function Asked({ steps, messageId, view }: AskedProps) {
  const calls = agentCalls(steps, messageId)
  if (calls.length === 0) return null
  return (
    <ul className={classes.asked} aria-label="Agents that are asked">
      {calls.map(({ name, ok, ...session }) => {
        const { tone, words } = looks[`${ok}`]
        return (
          <li key={session.sessionId}>
            <Link to={chartAddress(view, session)} className={classes.askedNode} data-tone={tone}>
              <i aria-hidden />
              <b>
                <ToolName seen={name} />
              </b>{' '}
              {words}
              <IconArrowUpRight size={14} stroke={1.8} aria-hidden />
            </Link>
          </li>
        )
      })}
    </ul>
  )
}
