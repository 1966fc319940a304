/** A session as a sequence of exchanges between its caller, itself, the provider, its tools and the store, live. */
import { Group, Text } from '@mantine/core'
import { IconArrowsExchange } from '@tabler/icons-react'
import { type CSSProperties, useMemo } from 'react'
import { Link } from 'react-router'
import { writeExact } from '../../../../src/untrusted/exact-json.ts'
import { ToolName } from '../../agents/tool-name.tsx'
import { AwaitedLines } from '../../blocks/awaited/awaited.tsx'
import { Card } from '../../blocks/card.tsx'
import { CodeBlock } from '../../blocks/code-block.tsx'
import { EmptyState } from '../../blocks/messages/empty-state.tsx'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { Gone } from '../../blocks/messages/gone.tsx'
import { plural } from '../../blocks/words.ts'
import { useNewestActivity } from '../live/use-newest-activity.ts'
import { useSessionSteps } from '../live/use-session-steps.ts'
import { OpenInPlayground } from '../sessions/open-in-playground.tsx'
import { type ChosenSession, chartAddress, useChartAddress } from '../sessions/session-in-url.ts'
import { SessionPicker } from '../sessions/session-picker.tsx'
import { StartOne } from '../sessions/start-one.tsx'
import { clockTime } from '../words.ts'
import { type Exchange, exchangesOf, type Party, parties } from './exchanges.ts'
import classes from './sequence.module.css'

/** The session of the address; without one, the session that was active last. */
export function Sequence() {
  const { chosen, choose } = useChartAddress()
  const { newest, isPending } = useNewestActivity(chosen === null)
  const shown = chosen ?? newest
  return (
    <>
      <Group mb="md" gap="sm" wrap="nowrap">
        <SessionPicker chosen={shown} onChoose={choose} />
        {shown && (
          <Group ml="auto" flex="none">
            <OpenInPlayground session={shown} />
          </Group>
        )}
      </Group>
      {shown ? (
        <OfSession key={shown.sessionId} session={shown} />
      ) : isPending ? (
        <AwaitedLines />
      ) : (
        <EmptyState icon={IconArrowsExchange} title="No session yet" action={<StartOne />}>
          Each message, each call of a model or a tool, and each answer of a session, in order.
        </EmptyState>
      )}
    </>
  )
}

function OfSession({ session }: { session: ChosenSession }) {
  const { status, steps, error } = useSessionSteps(session.sessionId)
  const exchanges = useMemo(() => exchangesOf(steps), [steps])
  // The first step that is known may be any of a long session's.
  const isWhole = (steps[0]?.seq ?? 1) === 1
  if (status === 'gone') return <Gone noun="session" />
  if (status === 'loading') return <AwaitedLines />
  return (
    <>
      <ErrorAlert error={error} mb="md" />
      <Card
        title="Sequence"
        aside={
          <Text fz="xs" c="dimmed">
            {isWhole ? (
              plural(exchanges.length, 'exchange')
            ) : (
              <>
                the newest ones; <Link to={chartAddress('replay', session)}>all of them</Link>
              </>
            )}
          </Text>
        }
      >
        <div className={classes.heads} aria-hidden>
          {parties.map((party) => (
            <span key={party}>{party}</span>
          ))}
        </div>
        <ol className={classes.exchanges} aria-label="Exchanges">
          {exchanges.map((exchange) => (
            <ExchangeRow key={exchange.key} exchange={exchange} />
          ))}
        </ol>
        {exchanges.length === 0 && (
          <Text fz="sm" c="dimmed" p="md">
            The session waits for its first message.
          </Text>
        )}
      </Card>
    </>
  )
}

const placeOf = (party: Party): number => parties.indexOf(party) + 1

function ExchangeRow({ exchange }: { exchange: Exchange }) {
  const { at, from, to, words, tool, tone, isAnswer, step } = exchange
  const [left, right] = [placeOf(from), placeOf(to)].toSorted((one, other) => one - other)
  const style: CSSProperties & Record<'--left' | '--right', number | undefined> = { '--left': left, '--right': right }
  const direction = from === to ? 'none' : placeOf(from) < placeOf(to) ? 'right' : 'left'
  return (
    <li data-tone={tone}>
      <details>
        <summary className={classes.exchange}>
          <time dateTime={at}>{clockTime(at)}</time>
          <span className={classes.words} style={style}>
            <span className={classes.parties}>
              {from} to {to}:{' '}
            </span>
            {tool !== null && (
              <>
                <ToolName seen={tool} />{' '}
              </>
            )}
            {words}
          </span>
          <i
            className={classes.arrow}
            style={style}
            data-to={direction}
            data-answer={isAnswer || undefined}
            aria-hidden
          />
        </summary>
        <CodeBlock code={writeExact(step.detail, 2)} caption={`${step.event}, payload`} />
        <p>
          {step.from} → {step.to} · server {step.instanceId}
          {step.messageId !== null && (
            <>
              {' · '}
              <Link to={`/replies/${step.messageId}`}>the reply</Link>
            </>
          )}
        </p>
      </details>
    </li>
  )
}
