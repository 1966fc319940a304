import { Alert, Button, Tabs } from '@mantine/core'
import { IconMessageCircle, IconPlugConnected } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'react-router'
import { AwaitedFields } from '../blocks/awaited/awaited.tsx'
import { type Edits, useEdits } from '../blocks/editing/edits.ts'
import { useNewest } from '../blocks/editing/use-newest.ts'
import { EmptyState } from '../blocks/messages/empty-state.tsx'
import { WhenRead } from '../blocks/messages/when-read.tsx'
import { NewPage } from '../blocks/pages/new-page.tsx'
import { InHead } from '../blocks/pages/page.tsx'
import { RecordPage } from '../blocks/pages/record-page.tsx'
import { ButtonTo } from '../login/button-to.tsx'
import { providerResource } from '../providers/resource.ts'
import { replaysPath } from '../replays/queries.ts'
import { draftOf, holdDraft, saveDraft } from '../versions/draft.ts'
import { DraftBar } from '../versions/draft-bar.tsx'
import { versionsPath } from '../versions/queries.ts'
import { valuesOf } from './agent-values.ts'
import { AgentForm } from './form/agent-form.tsx'
import { type Agent, agentResource, agentTools, playgroundPath, saveAgent, toolsPath } from './resource.ts'
import { UseIt } from './use-it/use-it.tsx'

/** `?from=` names an agent whose form is copied; `?provider=&model=` fill the form in. */
export function New() {
  const [search] = useSearchParams()
  const from = search.get('from')
  return (
    <NewPage
      resource={agentResource}
      title="New agent"
      description="A model, a prompt and tools, behind one address."
      width="wide"
    >
      {(onCreated) => (from === null ? <Fresh onCreated={onCreated} /> : <Copied from={from} onCreated={onCreated} />)}
    </NewPage>
  )
}

interface FreshProps {
  onCreated: (agent: Agent) => void
}

/** The form, filled in as another agent is, but for its name. */
function Copied({ from, onCreated }: FreshProps & { from: string }) {
  const agent = useQuery(agentResource.one(from))
  const tools = useQuery(agentTools(from))
  return (
    <WhenRead query={agent} awaited={<AwaitedFields />}>
      {(copied) => (
        <WhenRead query={tools} awaited={<AwaitedFields />}>
          {(read) => (
            <NewForm initial={valuesOf({ ...copied, name: `Copy of ${copied.name}` }, read)} onCreated={onCreated} />
          )}
        </WhenRead>
      )}
    </WhenRead>
  )
}

function NewForm({ initial, onCreated }: FreshProps & { initial: ReturnType<typeof valuesOf> }) {
  const created = useRef<string | null>(null)
  const edits = useEdits()
  return (
    <AgentForm
      initial={initial}
      save={(fields) =>
        saveAgent(created.current, fields, edits, (id) => {
          created.current = id
        })
      }
      submitLabel="Create agent"
      onSaved={onCreated}
    />
  )
}

/** A provider that is the only one is picked already. */
function Fresh({ onCreated }: FreshProps) {
  const [search] = useSearchParams()
  const providers = useQuery(providerResource.all)
  const only = providers.data?.length === 1 ? providers.data[0]?.id : undefined
  return (
    <WhenRead query={providers} awaited={<AwaitedFields />}>
      {({ length }) =>
        length === 0 ? (
          <EmptyState
            icon={IconPlugConnected}
            title="Connect a provider first"
            leadTo={{ path: '/providers/new', label: 'Connect a provider' }}
          >
            An agent needs a model, and models come from a provider: a vendor, your own server, or the built-in demo.
          </EmptyState>
        ) : (
          <NewForm
            initial={valuesOf({
              providerId: search.get('provider') ?? only ?? '',
              model: search.get('model') ?? '',
            })}
            onCreated={onCreated}
          />
        )
      }
    </WhenRead>
  )
}

export const Existing = () => (
  <RecordPage
    resource={agentResource}
    width="wide"
    about={({ model }) => model}
    actions={({ id, version }) => (
      <>
        <Button component={Link} to={versionsPath(id)} variant="default">
          Version {version}
        </Button>
        <ButtonTo to={replaysPath(id)} variant="default">
          Replays
        </ButtonTo>
        <ButtonTo to={`/agents/new?from=${id}`} variant="default">
          Duplicate
        </ButtonTo>
        <ButtonTo
          to={playgroundPath(id)}
          variant="default"
          leftSection={<IconMessageCircle size={16} stroke={1.7} aria-hidden />}
        >
          Try it
        </ButtonTo>
      </>
    )}
    deletion="All its sessions and messages are deleted permanently, running replies are cut off, and programs that call it get an error. Its prompt, provider and tools stay."
  >
    {(agent, onSaved, edits) => <AgentTabs agent={agent} onSaved={onSaved} edits={edits} />}
  </RecordPage>
)

interface AgentTabsProps {
  agent: Agent
  onSaved: () => void
  edits: Edits
}

function AgentTabs({ agent, onSaved, edits }: AgentTabsProps) {
  const { state } = useLocation()
  const [search, setSearch] = useSearchParams()
  const tab = search.get('tab') === 'use' ? 'use' : 'settings'
  // What the form reads is read once the form is shown.
  const [hasForm, setHasForm] = useState(tab === 'settings')
  if (tab === 'settings' && !hasForm) setHasForm(true)
  return (
    <>
      {state?.isNew === true && (
        <Alert color="accent" role="status" mb="lg" title="The agent is ready">
          Try it in the playground, or copy the code under “API”.
        </Alert>
      )}
      <Tabs
        value={tab}
        // React's own hiding would unmount the guard of unsaved work, and mount it twice.
        keepMountedMode="display-none"
        onChange={(value) => setSearch(value === 'use' ? { tab: 'use' } : {}, { state, preventScrollReset: true })}
      >
        <InHead>
          <Tabs.List>
            <Tabs.Tab value="settings">Settings</Tabs.Tab>
            <Tabs.Tab value="use">API</Tabs.Tab>
          </Tabs.List>
        </InHead>
        {/* Kept while the other tab is shown: what was typed stays. */}
        <Tabs.Panel value="settings" keepMounted>
          {hasForm &&
            (agent.hasDraft ? (
              <DraftSettings agent={agent} onSaved={onSaved} edits={edits} />
            ) : (
              <Settings agent={agent} onSaved={onSaved} edits={edits} />
            ))}
        </Tabs.Panel>
        <Tabs.Panel value="use">{tab === 'use' && <UseIt agent={agent} />}</Tabs.Panel>
      </Tabs>
    </>
  )
}

function Settings({ agent, onSaved, edits }: AgentTabsProps) {
  const tools = useNewest(agentTools(agent.id))
  const isRead = tools.data !== undefined
  useEffect(() => {
    if (isRead) edits.hold(toolsPath(agent.id))
  }, [isRead, edits, agent.id])
  return (
    <WhenRead query={tools} awaited={<AwaitedFields />}>
      {(read) => (
        <AgentForm
          initial={valuesOf(agent, read)}
          save={(fields) => saveAgent(agent.id, fields, edits)}
          submitLabel="Save"
          second={{ label: 'Save as draft', save: (fields) => saveDraft(agent.id, fields, edits) }}
          onSaved={onSaved}
          agentId={agent.id}
        />
      )}
    </WhenRead>
  )
}

/** The draft in the agent's form: what is saved changes the draft alone, until it is published. */
function DraftSettings({ agent, onSaved, edits }: AgentTabsProps) {
  const draft = useNewest(draftOf(agent.id))
  const isRead = draft.data !== undefined
  useEffect(() => {
    if (isRead) holdDraft(agent.id, edits)
  }, [isRead, edits, agent.id])
  return (
    <WhenRead query={draft} awaited={<AwaitedFields />}>
      {(read) => (
        <AgentForm
          initial={valuesOf(read.agent, read.tools)}
          save={(fields) => saveDraft(agent.id, fields, edits)}
          submitLabel="Save as draft"
          onSaved={onSaved}
          bar={(isTyped) => <DraftBar agentId={agent.id} draft={read} edits={edits} isTyped={isTyped} />}
          agentId={agent.id}
        />
      )}
    </WhenRead>
  )
}
