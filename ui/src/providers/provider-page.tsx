import { Anchor, List, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation, useNavigate, useParams } from 'react-router'
import { allAgents } from '../agents/queries.ts'
import { DeleteButton } from '../blocks/delete-button.tsx'
import { Page } from '../blocks/page.tsx'
import { Panel } from '../blocks/panel.tsx'
import { Record } from '../blocks/record.tsx'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { SideBySide } from '../blocks/side-by-side.tsx'
import { saved } from '../blocks/unsaved-guard.tsx'
import { ConnectionTest } from './connection-test.tsx'
import { ProviderForm, type ProviderValues } from './provider-form.tsx'
import { deleteProvider, type Provider, providerById, providerTypes, updateProvider } from './queries.ts'

const back = { to: '/providers', label: 'Providers' }

export function Component() {
  const { id = '' } = useParams()
  return (
    <Record query={useQuery(providerById(id))} title="Provider" back={back}>
      {(provider) => <ProviderPage key={provider.id} provider={provider} />}
    </Record>
  )
}

/** An empty key field keeps the stored key. */
const update = (id: string, { name, baseUrl, apiKey, removeKey }: ProviderValues) =>
  updateProvider(id, {
    name,
    baseUrl: baseUrl.trim() || null,
    ...(apiKey !== '' ? { apiKey } : removeKey && { apiKey: null }),
  })

function ProviderPage({ provider }: { provider: Provider }) {
  const navigate = useNavigate()
  const { state } = useLocation()
  const { id, name, providerType, updatedAt } = provider
  const type = useQuery(providerTypes).data?.find((one) => one.id === providerType)
  return (
    <Page
      title={name}
      description={
        <>
          {type?.name ?? providerType} · changed <RelativeTime iso={updatedAt} />
        </>
      }
      back={back}
      actions={
        <DeleteButton
          kind="provider"
          name={name}
          remove={() => deleteProvider(id)}
          onDeleted={() => navigate('/providers', saved)}
        >
          Its address and its key are lost for good. A provider that agents use cannot be deleted.
        </DeleteButton>
      }
    >
      <SideBySide
        side={
          <>
            <ConnectionTest providerId={id} atOnce={state?.isNew === true} />
            <UsedBy providerId={id} />
          </>
        }
      >
        {type && (
          <ProviderForm
            type={type}
            provider={provider}
            save={(values) => update(id, values)}
            onSaved={() => notifications.show({ message: 'Saved.' })}
          />
        )}
      </SideBySide>
    </Page>
  )
}

function UsedBy({ providerId }: { providerId: string }) {
  const { data } = useQuery(allAgents)
  const agents = data?.filter((agent) => agent.providerId === providerId)
  return (
    <Panel title="Used by">
      {agents?.length === 0 && (
        <Text c="dimmed" fz="sm">
          No agent uses this provider yet.
        </Text>
      )}
      <List spacing={4} fz="sm">
        {agents?.map((agent) => (
          <List.Item key={agent.id}>
            <Anchor component={Link} to={`/agents/${agent.id}`} inherit>
              {agent.name}
            </Anchor>
          </List.Item>
        ))}
      </List>
    </Panel>
  )
}
