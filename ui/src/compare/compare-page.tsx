/** `/playground/:agentId/compare`: one message, answered side by side with different settings. */
import { Button, Center, Loader, Text, Title } from '@mantine/core'
import { IconPlus, IconRestore } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { type Agent, allAgents } from '../agents/resource.ts'
import { wordsOf } from '../api.ts'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { Gone } from '../blocks/messages/gone.tsx'
import { Column, type Question } from './column.tsx'
import { fewestColumns, mostColumns, type Origin, useColumns } from './columns-in-url.ts'
import classes from './compare.module.css'
import { MessageField } from './message-field.tsx'
import { useAsking } from './use-asking.ts'

export function Component() {
  const { agentId } = useParams()
  const { data: agents, error } = useQuery(allAgents)
  if (agents === undefined) return <Before>{error ? wordsOf(error) : <Loader aria-label="Loading" />}</Before>
  const agent = agents.find(({ id }) => id === agentId)
  if (agent) return <Comparison key={agent.id} agent={agent} />
  return (
    <Before>
      <Gone noun="agent" leadTo={{ path: '/playground', label: 'Choose another agent' }} />
    </Before>
  )
}

const Before = ({ children }: { children: React.ReactNode }) => (
  <Center mih={240}>
    <title>Compare · Greenroom</title>
    {children}
  </Center>
)

function Comparison({ agent }: { agent: Agent }) {
  const { columns, origin, add, remove, override, clear, setSessions } = useColumns()
  const asking = useAsking(agent.id, origin, setSessions)
  const { question, isBusy, stopped } = asking
  const hasBegun = columns.some(({ sessionId }) => sessionId !== null)
  const ask = (next: Question) => asking.ask({ question: next, sessions: columns.map(({ sessionId }) => sessionId) })
  return (
    <div className={classes.page}>
      <title>{`Compare · ${agent.name} · Greenroom`}</title>
      <header className={classes.head}>
        <div className={classes.heading}>
          <Title order={1} fz="lg">
            Compare
          </Title>
          <Text fz="sm" c="dimmed">
            <Link to={`/agents/${agent.id}`}>{agent.name}</Link>
            {origin && <FromWhere agentId={agent.id} origin={origin} />}
          </Text>
        </div>
        {hasBegun ? (
          <Button
            variant="default"
            disabled={isBusy}
            leftSection={<IconRestore size={16} aria-hidden />}
            onClick={asking.startOver}
          >
            Start over
          </Button>
        ) : (
          <Button
            variant="default"
            disabled={columns.length >= mostColumns}
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={add}
          >
            Add a column
          </Button>
        )}
      </header>
      <div className={classes.columns}>
        {columns.map(({ overrides, sessionId }, index) => (
          <Column
            // All that a column has is in the address, by its place.
            key={index}
            agent={agent}
            name={`Column ${index + 1}`}
            state={{ overrides, set: (changes) => override(index, changes), clear: () => clear(index) }}
            sessionId={sessionId}
            question={question}
            onRemove={columns.length > fewestColumns && !hasBegun ? () => remove(index) : null}
            onBusy={asking.onBusy}
            stopped={stopped}
          />
        ))}
      </div>
      <div className={classes.bottom}>
        <ErrorAlert error={asking.error} />
        {origin?.answers && !hasBegun ? (
          <Button
            fullWidth
            loading={asking.isPreparing}
            onClick={() => ask({ chat: { regenerate: true }, parts: [] }).catch(() => {})}
          >
            Run
          </Button>
        ) : (
          <MessageField agentName={agent.name} isBusy={isBusy || asking.isPreparing} onAsk={ask} onStop={asking.stop} />
        )}
      </div>
    </div>
  )
}

const FromWhere = ({ agentId, origin: { sessionId, answers } }: { agentId: string; origin: Origin }) => (
  <>
    {answers === null ? ' · continues ' : ' · answers a message of '}
    <Link to={`/playground/${agentId}/${sessionId}`}>this session</Link>, which stays as it is
  </>
)
