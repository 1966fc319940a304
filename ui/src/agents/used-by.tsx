import { Anchor, List, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { Panel } from '../blocks/panel.tsx'
import { type Agent, allAgents } from './resource.ts'

/** The agents that use a record. `noun`: "prompt". */
export function UsedBy({ noun, uses }: { noun: string; uses: (agent: Agent) => boolean }) {
  const agents = useQuery(allAgents).data?.filter(uses)
  return (
    <Panel title="Used by">
      {agents?.length === 0 ? (
        <Text c="dimmed" fz="sm">
          No agent uses this {noun} yet.
        </Text>
      ) : (
        <List spacing={4} fz="sm">
          {agents?.map(({ id, name }) => (
            <List.Item key={id}>
              <Anchor component={Link} to={`/agents/${id}`} inherit>
                {name}
              </Anchor>
            </List.Item>
          ))}
        </List>
      )}
    </Panel>
  )
}
