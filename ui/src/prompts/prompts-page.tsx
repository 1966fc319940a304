import { useQuery } from '@tanstack/react-query'
import { allAgents } from '../agents/resource.ts'
import { ListPage } from '../blocks/pages/list-page.tsx'
import { plural } from '../blocks/words.ts'
import { promptResource } from './resource.ts'
import { textSize } from './text-size.ts'

export function Component() {
  const { data: agents } = useQuery(allAgents)
  return (
    <ListPage
      resource={promptResource}
      description="Instructions that an agent gets before every conversation. One prompt can serve many agents."
      columns={[
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
      ]}
      create="New prompt"
      createFirst="Write the first one"
    >
      A prompt tells an agent who it is and how it should answer. Agents work without one, too.
    </ListPage>
  )
}
