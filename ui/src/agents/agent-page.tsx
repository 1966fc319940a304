import { Alert, Button, Loader, Tabs } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconMessageCircle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation, useNavigate, useParams, useSearchParams } from 'react-router'
import { wordsOf } from '../api.ts'
import { DeleteButton } from '../blocks/delete-button.tsx'
import { Page } from '../blocks/page.tsx'
import { Record } from '../blocks/record.tsx'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { saved } from '../blocks/unsaved-guard.tsx'
import { AgentForm } from './agent-form.tsx'
import { valuesOf } from './agent-values.ts'
import { type Agent, agentById, agentTools, deleteAgent, playgroundPath, saveAgent } from './queries.ts'
import { UseIt } from './use-it.tsx'

const back = { to: '/agents', label: 'Agents' }

export function Component() {
  const { id = '' } = useParams()
  return (
    <Record query={useQuery(agentById(id))} title="Agent" back={back}>
      {(agent) => <AgentPage key={agent.id} agent={agent} />}
    </Record>
  )
}

function AgentPage({ agent }: { agent: Agent }) {
  const navigate = useNavigate()
  const { state } = useLocation()
  const [search, setSearch] = useSearchParams()
  const { id, name, model, updatedAt } = agent
  const tab = search.get('tab') === 'use' ? 'use' : 'settings'
  return (
    <Page
      title={name}
      description={
        <>
          {model} · changed <RelativeTime iso={updatedAt} />
        </>
      }
      back={back}
      width="reading"
      actions={
        <>
          <Button
            component={Link}
            to={playgroundPath(id)}
            leftSection={<IconMessageCircle size={16} stroke={1.7} aria-hidden />}
          >
            Try it
          </Button>
          <DeleteButton
            kind="agent"
            name={name}
            remove={() => deleteAgent(id)}
            onDeleted={() => navigate('/agents', saved)}
          >
            All its sessions and their messages are lost for good, replies that run now are cut off, and programs that
            call its address get an error. Its prompt, provider and tools stay.
          </DeleteButton>
        </>
      }
    >
      {state?.isNew === true && (
        <Alert color="accent" role="status" mb="lg" title="It is ready">
          Try it in the playground, or take the code from “Use it”.
        </Alert>
      )}
      <Tabs
        value={tab}
        // React's own hiding would take the guard of unsaved work away, and put it back twice.
        keepMountedMode="display-none"
        onChange={(value) => setSearch(value === 'use' ? { tab: 'use' } : {}, { state, preventScrollReset: true })}
      >
        <Tabs.List mb="xl">
          <Tabs.Tab value="settings">Settings</Tabs.Tab>
          <Tabs.Tab value="use">Use it</Tabs.Tab>
        </Tabs.List>
        {/* Kept while the other tab is shown: what was typed stays. */}
        <Tabs.Panel value="settings" keepMounted>
          <Settings agent={agent} />
        </Tabs.Panel>
        <Tabs.Panel value="use">{tab === 'use' && <UseIt agent={agent} />}</Tabs.Panel>
      </Tabs>
    </Page>
  )
}

function Settings({ agent }: { agent: Agent }) {
  const { data: tools, error } = useQuery(agentTools(agent.id))
  if (!tools) return error ? <Alert color="red">{wordsOf(error)}</Alert> : <Loader aria-label="Loading" />
  return (
    <AgentForm
      initial={valuesOf(agent, tools)}
      save={(fields) => saveAgent(agent.id, fields)}
      submitLabel="Save"
      onSaved={() => notifications.show({ message: 'Saved.' })}
    />
  )
}
