import { useQuery } from '@tanstack/react-query'
import { ListPage } from '../blocks/pages/list-page.tsx'
import { wholeNumber } from '../blocks/words.ts'
import { providerResource } from '../providers/resource.ts'
import { firstHour } from '../usage/last-day/hours.ts'
import { figuresQuery } from '../usage/queries.ts'
import classes from './agents.module.css'
import { type Agent, agentResource } from './resource.ts'

/** Returns what is known of an agent's replies of the last 24 hours. Undefined until it is read. */
function useDay() {
  const { data } = useQuery(figuresQuery('agent', { from: new Date(firstHour(Date.now())).toISOString() }))
  const byId = new Map(data?.rows.map((row) => [row.key, row]))
  return (
    data && ((id: string) => ({ replies: wholeNumber(byId.get(id)?.replies ?? 0), failures: byId.get(id)?.failures }))
  )
}

export function Component() {
  const { data: providers } = useQuery(providerResource.all)
  const ofDay = useDay()
  const provider = ({ providerId }: Agent) => providers?.find(({ id }) => id === providerId)?.name ?? ''
  return (
    <ListPage
      resource={agentResource}
      description="A model, a prompt and tools, behind one address that programs call."
      columns={[
        {
          header: 'Model',
          width: 'clamp(8rem, 16vw, 14rem)',
          cell: ({ model }) => (
            <span className={classes.model} title={model}>
              {model}
            </span>
          ),
          text: ({ model }) => model,
        },
        {
          header: 'Provider',
          width: '16%',
          minor: true,
          cell: provider,
          text: provider,
        },
        {
          header: 'Replies in 24 h',
          width: '8rem',
          minor: true,
          cell: ({ id }) => ofDay?.(id).replies ?? '',
        },
        {
          header: 'Failed',
          width: '5rem',
          minor: true,
          cell: ({ id }) => {
            const failures = ofDay?.(id).failures ?? 0
            return failures === 0 ? '' : <span className={classes.failed}>{wholeNumber(failures)}</span>
          },
        },
      ]}
      create="New agent"
      createFirst="Create the first one"
    >
      An agent is what you talk to in the playground and what your programs call.
    </ListPage>
  )
}
