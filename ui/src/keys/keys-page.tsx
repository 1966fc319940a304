import { useQuery } from '@tanstack/react-query'
import { allAgents } from '../agents/resource.ts'
import { ListPage } from '../blocks/pages/list-page.tsx'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { plural } from '../blocks/words.ts'
import { KeyLimit } from './key-limit.tsx'
import { type Key, keyResource } from './resource.ts'

export function Component() {
  const { data: agents = [] } = useQuery(allAgents)
  const permitted = ({ agentIds, scopes }: Key) => {
    if (!scopes.includes('deploy')) return 'Management'
    if (agentIds === null) return 'All agents'
    const [only] = agentIds
    return agentIds.length === 1
      ? (agents.find(({ id }) => id === only)?.name ?? '1 agent')
      : plural(agentIds.length, 'agent')
  }
  return (
    <ListPage
      resource={keyResource}
      description="Keys for tenants, programs and CI, each with permissions and limits of its own."
      columns={[
        { header: 'Permissions', width: '9rem', cell: permitted },
        { header: 'Key ending', width: '7rem', minor: 'first', cell: ({ hint }) => `…${hint}` },
        { header: 'Limits', width: '14rem', minor: true, cell: (key) => <KeyLimit of={key} /> },
        {
          header: 'Last used',
          width: '8rem',
          cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <RelativeTime iso={lastUsedAt} />),
        },
        {
          header: 'Expires',
          width: '7.5rem',
          minor: true,
          cell: ({ expiresAt }) => expiresAt?.slice(0, 10) ?? 'Never',
        },
      ]}
      create="New key"
      createFirst="Create the first one"
    >
      PUBLIC_API_KEY opens every agent. A named key opens what you choose, and says who called.
    </ListPage>
  )
}
