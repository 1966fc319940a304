/** How long a reply has brought nothing, when it is given up, and whether a call waits to be made again. */
import classes from './silence/silence.module.css'
import { SilenceActions } from './silence/silence-actions.tsx'
import { SilentFor } from './silence/silent-for.tsx'
import { useSilence } from './silence/use-silence.ts'
import { useTrace } from './use-trace.ts'
import { waitingWords } from './words.ts'

interface WaitingProps {
  agentId: string
  sessionId: string
  messageId: string
  /** The time of the reply's admission, ISO 8601. */
  since: string
}

export default function Waiting({ agentId, sessionId, messageId, since }: WaitingProps) {
  const { trace } = useTrace(messageId, true)
  const silence = useSilence(sessionId, since)
  const retry = trace && waitingWords(trace.spans)
  if (retry) return <span className={classes.silence}>{retry}</span>
  return (
    silence && (
      <span className={classes.quiet}>
        <SilentFor silence={silence} />
        <SilenceActions silence={silence} session={{ id: sessionId, agentId }} />
      </span>
    )
  )
}
