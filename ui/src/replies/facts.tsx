/** The outcome of a reply, in a sentence, what can be done next, and its figures. */
import { Alert, Button, Group } from '@mantine/core'
import { IconPlugConnected } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from 'react-router'
import { agentResource } from '../agents/resource.ts'
import { Copy } from '../blocks/copy.tsx'
import { endings, headlineOf } from '../blocks/messages/outcome.ts'
import { Reason } from '../blocks/messages/reason.tsx'
import { RunningDuration } from '../blocks/running-duration.tsx'
import { wholeNumber } from '../blocks/words.ts'
import { InstanceChip } from '../chart/chips/instance-chip.tsx'
import type { Message } from '../chart/queries.ts'
import type { Step } from '../chart/step.ts'
import { clockTime, duration } from '../chart/words.ts'
import { SilenceActions } from '../traces/silence/silence-actions.tsx'
import { SilentFor } from '../traces/silence/silent-for.tsx'
import { useSilence } from '../traces/silence/use-silence.ts'
import classes from './replies.module.css'

interface FactsProps {
  reply: Message
  agentId: string
  steps: readonly Step[]
  /** The time until it was stored, as its trace tells. Null while it is not. */
  storedMs: number | null
}

export function Facts({ reply, agentId, steps, storedMs }: FactsProps) {
  const { createdAt, durationMs = null, firstTokenMs = null, usage = null, attempts = null, model = null } = reply
  const { data: agent } = useQuery(agentResource.one(agentId))
  const server = steps.at(-1)?.instanceId
  const facts = [
    ['Agent', agent && <Link to={`/agents/${agentId}`}>{agent.name}</Link>],
    ['Model', model],
    ['Began', clockTime(createdAt)],
    ['First token', firstTokenMs === null ? null : `after ${duration(firstTokenMs)}`],
    ['Running for', durationMs === null ? <RunningDuration since={createdAt} /> : null],
    ['Text ended', durationMs === null ? null : `after ${duration(durationMs)}`],
    ['Saved', storedMs === null ? null : `after ${duration(storedMs)}`],
    ['Calls', attempts],
    ['Tokens', usage && `${wholeNumber(usage.promptTokens)} in, ${wholeNumber(usage.completionTokens)} out`],
    ['Server', server && <InstanceChip id={server} />],
  ] as const
  return (
    <>
      <Outcome reply={reply} agentId={agentId} />
      <dl className={classes.list}>
        {facts.map(([name, value]) =>
          value == null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
        <Id name="Session" id={reply.sessionId} />
      </dl>
    </>
  )
}

const Id = ({ name, id }: { name: string; id: string }) => (
  <div className={classes.whole}>
    <dt>{name}</dt>
    <dd>
      <code title={id}>{id}</code>
      <Copy text={id} label={`Copy the ${name.toLowerCase()} id`} />
    </dd>
  </div>
)

function Outcome({ reply, agentId }: Pick<FactsProps, 'reply' | 'agentId'>) {
  const { status, finishReason, error, providerId, sessionId, createdAt } = reply
  const isRunning = status === 'streaming'
  const silence = useSilence(sessionId, createdAt, isRunning)
  const navigate = useNavigate()
  const client = useQueryClient()
  if (error) {
    return (
      <Alert color="red" variant="light" p="sm" title={headlineOf(error)}>
        <Reason text={error.message} />
        <Group gap="xs" mt="xs">
          <code>{error.code}</code>
          {providerId != null && error.code.startsWith('provider_') && (
            <Button
              component={Link}
              to={`/providers/${providerId}`}
              size="compact-xs"
              variant="default"
              leftSection={<IconPlugConnected size={14} aria-hidden />}
            >
              Open the provider
            </Button>
          )}
        </Group>
      </Alert>
    )
  }
  return (
    <p className={classes.outcome}>
      {isRunning ? 'It is being written.' : (endings[finishReason ?? 'stop'] ?? '')}
      {silence && <SilentFor silence={silence} />}
      <SilenceActions
        silence={silence}
        session={{ id: sessionId, agentId }}
        onAsked={(replyId) =>
          void client.invalidateQueries({ queryKey: ['chart'] }).then(() => navigate(`/replies/${replyId}`))
        }
      />
    </p>
  )
}
