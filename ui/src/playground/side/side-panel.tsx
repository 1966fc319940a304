/** The right side of the workbench: the agent's draft, and what the last reply did. */
import { ActionIcon, Group, Tabs } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useState } from 'react'
import type { Agent } from '../../agents/resource.ts'
import { useNewest } from '../../blocks/editing/use-newest.ts'
import { ReadFailure } from '../../blocks/messages/when-read.tsx'
import { draftOf } from '../../versions/draft.ts'
import { DraftFields } from './draft-fields.tsx'
import { LastReply } from './last-reply.tsx'
import classes from './side-panel.module.css'

interface SidePanelProps {
  agent: Agent
  sessionId: string | undefined
  onClose: () => void
}

const tabs = ['Prompt', 'Settings', 'Tools', 'Trace', 'Request'] as const
type Tab = (typeof tabs)[number]
const shownKey = 'workbench-tab'

/** Give it the agent's id as its key: its state belongs to the agent. */
export default function SidePanel({ agent, sessionId, onClose }: SidePanelProps) {
  const [shown, setShown] = useState<Tab>(() => tabs.find((one) => one === localStorage.getItem(shownKey)) ?? 'Prompt')
  const [turn, setTurn] = useState(1)
  const draft = useNewest(draftOf(agent.id))
  const show = (value: string | null) => {
    const tab = tabs.find((one) => one === value) ?? 'Prompt'
    localStorage.setItem(shownKey, tab)
    setShown(tab)
  }
  const onRequest = (of: number) => {
    setTurn(of)
    show('Request')
  }
  const lastReply = { agentId: agent.id, sessionId, turn, onTurn: setTurn, onRequest }
  return (
    <Tabs value={shown} onChange={show} keepMounted={false} className={classes.panel ?? ''} variant="default">
      <Group wrap="nowrap" gap={4} className={classes.head ?? ''}>
        <Tabs.List aria-label="Workbench" className={classes.tabs ?? ''}>
          {tabs.map((tab) => (
            <Tabs.Tab key={tab} value={tab}>
              {tab}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <ActionIcon variant="subtle" color="gray" aria-label="Close the workbench’s side" onClick={onClose}>
          <IconX size={16} stroke={1.7} />
        </ActionIcon>
      </Group>
      {draft.data ? (
        <DraftFields agent={agent} draft={draft.data} />
      ) : (
        <ReadFailure error={draft.error} query={draft} />
      )}
      <Tabs.Panel value="Trace" className={classes.content ?? ''}>
        <LastReply {...lastReply} show="trace" />
      </Tabs.Panel>
      <Tabs.Panel value="Request" className={classes.content ?? ''}>
        <LastReply {...lastReply} show="request" />
      </Tabs.Panel>
    </Tabs>
  )
}
