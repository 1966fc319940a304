import { useQuery } from '@tanstack/react-query'
import { ListPage } from '../blocks/pages/list-page.tsx'
import { providerResource } from '../providers/resource.ts'
import classes from './agents.module.css'
import { type Agent, agentResource } from './resource.ts'

export function Component() {
  const { data: providers } = useQuery(providerResource.all)
  const provider = ({ providerId }: Agent) => providers?.find(({ id }) => id === providerId)?.name ?? ''
  return (
    <ListPage
      resource={agentResource}
      description="A model, a prompt and tools, behind one address that programs call."
      columns={[
        {
          header: 'Model',
          width: '40%',
          cell: ({ model }) => (
            <span className={classes.model} title={model}>
              {model}
            </span>
          ),
          text: ({ model }) => model,
        },
        {
          header: 'Provider',
          width: '20%',
          minor: true,
          cell: provider,
          text: provider,
        },
      ]}
      create="New agent"
      createFirst="Create the first one"
    >
      An agent is what you talk to in the playground and what your programs call.
    </ListPage>
  )
}
