import { Button } from '@mantine/core'
import { IconFileText } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { allAgents } from '../agents/queries.ts'
import { EmptyState } from '../blocks/empty-state.tsx'
import { type Column, ListPage } from '../blocks/list-page.tsx'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { type Prompt, promptList } from './queries.ts'
import { textSize } from './text-size.ts'

const plural = (count: number, noun: string) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`

export function Component() {
  const { data: agents } = useQuery(allAgents)
  const columns: Column<Prompt>[] = [
    {
      header: 'Used by',
      width: '9rem',
      cell: ({ id }) => agents && plural(agents.filter(({ promptId }) => promptId === id).length, 'agent'),
    },
    {
      header: 'Length',
      width: '9rem',
      minor: true,
      cell: ({ content }) => `≈ ${plural(textSize(content).tokens, 'token')}`,
    },
    { header: 'Changed', width: '10rem', minor: true, cell: ({ updatedAt }) => <RelativeTime iso={updatedAt} /> },
  ]
  return (
    <ListPage
      title="Prompts"
      description="What an agent is told before every conversation. One prompt can serve many agents."
      list={promptList}
      name={({ name }) => name}
      linkTo={({ id }) => `/prompts/${id}`}
      columns={columns}
      create={{ label: 'New prompt', to: '/prompts/new' }}
      empty={
        <EmptyState
          icon={IconFileText}
          title="No prompts yet"
          action={
            <Button component={Link} to="/prompts/new">
              Write the first one
            </Button>
          }
        >
          A prompt tells an agent who it is and how it should answer. Agents work without one, too.
        </EmptyState>
      }
    />
  )
}
