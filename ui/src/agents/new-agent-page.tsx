import { Button, Loader } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconPlugConnected } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { EmptyState } from '../blocks/empty-state.tsx'
import { Page } from '../blocks/page.tsx'
import { allProviders } from '../providers/queries.ts'
import { AgentForm } from './agent-form.tsx'
import { valuesOf } from './agent-values.ts'
import { saveAgent } from './queries.ts'

/** `?provider=&model=` fill the form in. A provider that is the only one is picked already. */
export function Component() {
  const navigate = useNavigate()
  const [search] = useSearchParams()
  const { data: providers } = useQuery(allProviders)
  const made = useRef<string | null>(null)
  const only = providers?.length === 1 ? providers[0]?.id : undefined
  return (
    <Page
      title="New agent"
      description="A model, a prompt and tools, behind one address."
      back={{ to: '/agents', label: 'Agents' }}
      width="reading"
    >
      {!providers && <Loader aria-label="Loading" />}
      {providers?.length === 0 && (
        <EmptyState
          icon={IconPlugConnected}
          title="First a provider"
          action={
            <Button component={Link} to="/providers/new">
              Connect a provider
            </Button>
          }
        >
          An agent needs a model, and models are at a provider: a vendor, your own server, or the built-in demo.
        </EmptyState>
      )}
      {providers && providers.length > 0 && (
        <AgentForm
          initial={valuesOf({ providerId: search.get('provider') ?? only ?? '', model: search.get('model') ?? '' })}
          save={(fields) =>
            saveAgent(made.current, fields, (id) => {
              made.current = id
            })
          }
          submitLabel="Create agent"
          onSaved={({ id, name }) => {
            notifications.show({ message: `Created the agent “${name}”.` })
            void navigate(`/agents/${id}`, { state: { saved: true, isNew: true }, replace: true })
          }}
        />
      )}
    </Page>
  )
}
