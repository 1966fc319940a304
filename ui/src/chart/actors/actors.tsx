/** The live actors, on every instance. */
import { Group, Select, Switch, Text } from '@mantine/core'
import { IconUsers } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { allAgents } from '../../agents/resource.ts'
import { AwaitedLines } from '../../blocks/awaited/awaited.tsx'
import { EmptyState } from '../../blocks/messages/empty-state.tsx'
import { ReadFailure } from '../../blocks/messages/when-read.tsx'
import { useSearchParams, withParams } from '../../blocks/search-params.ts'
import { plural } from '../../blocks/words.ts'
import { allSessions } from '../../sessions/queries.ts'
import { shortId } from '../../sessions/words.ts'
import { useSilences } from '../../traces/silence/use-silence.ts'
import { type Actor, actorsQuery } from '../queries.ts'
import { stateName } from '../reading/words.ts'
import { StartOne } from '../sessions/start-one.tsx'
import { ActorsTable } from './actors-table.tsx'

const everyMs = 2_000

const filters = ['state', 'instance', 'agent'] as const
type Filter = (typeof filters)[number]
const filterNames: Record<Filter, string> = { state: 'state', instance: 'server', agent: 'agent' }
const read: Record<Filter, (actor: Actor) => string> = {
  state: ({ state }) => state,
  instance: ({ instanceId }) => instanceId,
  agent: ({ agentId }) => agentId,
}

export function Actors() {
  const [paused, setPaused] = useState(false)
  const query = useQuery(actorsQuery(paused ? false : everyMs))
  const { data: live, error } = query
  const data = live?.actors
  const silences = useSilences(!paused)
  const { data: agents = [] } = useQuery(allAgents)
  const [search, setSearch] = useSearchParams()
  const titles = useTitles()
  const agentNames = new Map(agents.map(({ id, name }) => [id, name]))
  const chosen = (filter: Filter) => search.get(filter)
  const shown = data?.filter((actor) => filters.every((name) => [null, read[name](actor)].includes(chosen(name))))
  const words = {
    state: stateName,
    instance: shortId,
    agent: (id: string) => agentNames.get(id) ?? shortId(id),
  }
  const choose = (name: Filter, value: string | null) => setSearch((before) => withParams(before, { [name]: value }))
  return (
    <>
      <Group mb="md" gap="sm">
        {filters.map((name) => (
          <Select
            key={name}
            aria-label={`Filter by ${filterNames[name]}`}
            placeholder={`Any ${filterNames[name]}`}
            clearable
            clearButtonProps={{ 'aria-label': `Any ${filterNames[name]}` }}
            w={{ base: '100%', xs: 190 }}
            size="sm"
            data={optionsOf(data ?? [], name, chosen(name)).map((value) => ({ value, label: words[name](value) }))}
            value={chosen(name)}
            onChange={(value) => choose(name, value)}
          />
        ))}
        <Switch
          ml="auto"
          label="Refresh every 2 s"
          checked={!paused}
          onChange={({ currentTarget: { checked } }) => setPaused(!checked)}
        />
      </Group>
      <ReadFailure error={error} query={query} mb="md" />
      {!data && !error && <AwaitedLines />}
      {data?.length === 0 && (
        <EmptyState icon={IconUsers} title="No session runs right now" action={<StartOne />}>
          A session runs from a message to the end of its reply, and is shown for five seconds more. What it did is
          stored.
        </EmptyState>
      )}
      {shown && data && data.length > 0 && (
        <>
          <ActorsTable actors={shown} agentNames={agentNames} titles={titles} silences={silences} />
          <Text fz="sm" c="dimmed" mt="sm" role="status">
            {shown.length === data.length
              ? plural(data.length, 'session')
              : `${shown.length} of ${plural(data.length, 'session')}`}
          </Text>
        </>
      )}
    </>
  )
}

const optionsOf = (actors: readonly Actor[], name: Filter, chosen: string | null): string[] =>
  [...new Set([...actors.map(read[name]), ...(chosen === null ? [] : [chosen])])].sort()

/** Returns the titles of the hundred sessions that were updated last; live ones are among them. */
function useTitles(): ReadonlyMap<string, string | null> {
  const { data } = useQuery({ ...allSessions({ limit: 100 }), refetchInterval: 10_000 })
  return new Map(data?.sessions.map(({ id, title }) => [id, title] as const))
}
