/** The names of rows of usage. */
import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { allAgents } from '../../agents/resource.ts'

export interface RowNames {
  /** "Agent" */
  noun: string
  text: (key: string) => string
  /** The name as it is shown, such as a link. */
  node: (key: string) => ReactNode
}

export const modelNames: RowNames = { noun: 'Model', text: (model) => model, node: (model) => model }

/** Returns agents' names, as links to their pages. */
export function useAgentNames(): RowNames {
  const { data: agents } = useQuery(allAgents)
  const names = new Map(agents?.map(({ id, name }) => [id, name]))
  const text = (id: string) => names.get(id) ?? (agents ? `Deleted agent ${id.slice(0, 8)}` : id.slice(0, 8))
  const node = (id: string) =>
    names.has(id) ? (
      <Anchor component={Link} to={`/agents/${id}`} inherit>
        {text(id)}
      </Anchor>
    ) : (
      text(id)
    )
  return { noun: 'Agent', text, node }
}
