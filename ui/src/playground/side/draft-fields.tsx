/** The agent's draft, to be changed where it is tried: its bar, and its fields under the workbench's tabs. */
import { Box, Stack, Tabs } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { Agent } from '../../agents/resource.ts'
import { ApiError } from '../../api.ts'
import { ChangedElsewhere } from '../../blocks/editing/changed-elsewhere.tsx'
import { useUnloadGuard } from '../../blocks/forms/unload-guard.ts'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { reliable } from '../../shell/reliable-import.ts'
import type { Draft } from '../../versions/draft.ts'
import { DraftBar } from '../../versions/draft-bar.tsx'
import { useDraftForm } from '../../versions/use-draft-form.ts'
import { PromptTab } from './prompt-tab.tsx'
import classes from './side-panel.module.css'

const SettingsTab = lazy(reliable(() => import('./settings-tab.tsx')))
const ToolsTab = lazy(reliable(() => import('./tools-tab.tsx')))

interface DraftFieldsProps {
  agent: Agent
  draft: Draft
}

/** Give it the agent's id as its key. */
export function DraftFields({ agent, draft }: DraftFieldsProps) {
  const { form, edits, error, reload, overwrite } = useDraftForm(agent.id, draft)
  // Leaving for another page stores what is typed; closing the window could not.
  useUnloadGuard(form.isDirty())
  const isChangedElsewhere = error instanceof ApiError && error.status === 412
  return (
    <>
      {agent.hasDraft && (
        <Box px="md" pt="sm">
          <DraftBar agentId={agent.id} draft={draft} edits={edits} isTyped={form.isDirty()} />
        </Box>
      )}
      {error !== null && (
        <Box px="md" pt="sm">
          {isChangedElsewhere ? (
            <ChangedElsewhere error={error} onReload={reload} onOverwrite={overwrite} />
          ) : (
            <ErrorAlert error={error} />
          )}
        </Box>
      )}
      <Tabs.Panel value="Prompt" className={classes.tall ?? ''}>
        <PromptTab agent={agent} form={form} />
      </Tabs.Panel>
      <Tabs.Panel value="Settings" className={classes.content ?? ''}>
        <Suspense>
          <Stack gap="md">
            <SettingsTab form={form} />
          </Stack>
        </Suspense>
      </Tabs.Panel>
      <Tabs.Panel value="Tools" className={classes.content ?? ''}>
        <Suspense>
          <Stack gap="md">
            <ToolsTab form={form} agentId={agent.id} />
          </Stack>
        </Suspense>
      </Tabs.Panel>
    </>
  )
}
