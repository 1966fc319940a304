/** The right side of the workbench: what the agent is, what the next message has otherwise, and what the last reply did. */
import { ActionIcon, Group, Tabs, Text } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useState } from 'react'
import type { Agent } from '../../agents/resource.ts'
import { WorkbenchDraft } from '../../versions/workbench-draft.tsx'
import { SettingFields, ToolFields } from '../overrides/override-fields.tsx'
import type { OverrideState } from '../overrides/overrides.ts'
import { AskFirst } from './ask-first.tsx'
import { Changes } from './changes.tsx'
import { LastReply } from './last-reply.tsx'
import { PromptTab } from './prompt-tab.tsx'
import classes from './side-panel.module.css'

interface SidePanelProps {
  agent: Agent
  sessionId: string | undefined
  /** The name of the column that the panel is about. Null when there is one conversation only. */
  name: string | null
  /** The overrides of the next message of the conversation, or of the column. */
  state: OverrideState
  onClose: () => void
}

const tabs = ['Prompt', 'Settings', 'Tools', 'Trace', 'Request'] as const
type Tab = (typeof tabs)[number]
const shownKey = 'workbench-tab'

/** Give it the agent's id and the column's name as its key: its state belongs to them. */
export default function SidePanel({ agent, sessionId, name, state, onClose }: SidePanelProps) {
  const [shown, setShown] = useState<Tab>(() => tabs.find((one) => one === localStorage.getItem(shownKey)) ?? 'Prompt')
  const [turn, setTurn] = useState(1)
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
      {name !== null && (
        <Text fz="xs" fw={500} px="md" pt={8}>
          {name}
        </Text>
      )}
      {agent.hasDraft && <WorkbenchDraft agentId={agent.id} />}
      <Changes agent={agent} state={state} />
      <Tabs.Panel value="Prompt" className={classes.tall ?? ''}>
        <PromptTab agent={agent} state={state} />
      </Tabs.Panel>
      <Tabs.Panel value="Settings" className={classes.content ?? ''}>
        <SettingFields agent={agent} state={state} />
      </Tabs.Panel>
      <Tabs.Panel value="Tools" className={classes.content ?? ''}>
        <ToolFields state={state} />
        <AskFirst agentId={agent.id} />
      </Tabs.Panel>
      <Tabs.Panel value="Trace" className={classes.content ?? ''}>
        <LastReply {...lastReply} show="trace" />
      </Tabs.Panel>
      <Tabs.Panel value="Request" className={classes.content ?? ''}>
        <LastReply {...lastReply} show="request" />
      </Tabs.Panel>
    </Tabs>
  )
}
