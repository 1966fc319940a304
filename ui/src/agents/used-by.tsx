import { Anchor, List, ScrollArea, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { once } from '../blocks/once.ts'
import { NameSearch } from '../blocks/pages/name-search.tsx'
import { Panel } from '../blocks/panel.tsx'
import { plural, wholeNumber } from '../blocks/words.ts'
import classes from './agents.module.css'
import { type Agent, allAgents } from './resource.ts'

/** Names of agents that a sentence has room for. */
const NAMED = 3

/** Says which agents keep a record from being deleted. Null where none uses it. */
export function useKeptBy(noun: string): (uses: (agent: Agent) => boolean) => string | null {
  const { data: agents = [] } = useQuery(allAgents)
  return (uses) => {
    const names = agents.filter(uses).map(({ name }) => `“${name}”`)
    if (names.length === 0) return null
    const others = names.length - NAMED
    const listed = others > 0 ? [...names.slice(0, NAMED), plural(others, 'other agent')] : names
    return `This ${noun} is used by ${words().format(listed)}. Give ${names.length === 1 ? 'it' : 'them'} another ${noun} before you delete this one.`
  }
}

const words = once(() => new Intl.ListFormat('en'))

/** The agents that use a record. `noun`: "prompt". */
export function UsedBy({ noun, uses }: { noun: string; uses: (agent: Agent) => boolean }) {
  const agents = useQuery(allAgents).data?.filter(uses)
  return (
    <Panel title={agents && agents.length > 0 ? `Used by ${wholeNumber(agents.length)}` : 'Used by'}>
      {agents?.length === 0 ? (
        <Text c="dimmed" fz="sm">
          No agent uses this {noun} yet.
        </Text>
      ) : (
        <NameSearch items={agents ?? []} name={({ name }) => name} nouns="agents">
          {(found) => (
            <ScrollArea.Autosize mah={320} type="auto" viewportProps={{ tabIndex: 0, 'aria-label': 'Agents' }}>
              <List spacing={4} fz="sm" className={classes.users ?? ''}>
                {found.map(({ id, name }) => (
                  <List.Item key={id}>
                    <Anchor component={Link} to={`/agents/${id}`} inherit>
                      <bdi>{name}</bdi>
                    </Anchor>
                  </List.Item>
                ))}
              </List>
            </ScrollArea.Autosize>
          )}
        </NameSearch>
      )}
    </Panel>
  )
}
