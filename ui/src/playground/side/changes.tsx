/** The differences between the next message and the agent: how many, to be saved or discarded. */
import { Badge, Button, Group } from '@mantine/core'
import { useState } from 'react'
import type { Agent } from '../../agents/resource.ts'
import { plural } from '../../blocks/words.ts'
import { changedIn, type OverrideState } from '../overrides/overrides.ts'
import { SaveDialog } from './save-dialog.tsx'
import classes from './side-panel.module.css'

interface ChangesProps {
  agent: Agent
  state: OverrideState
}

export function Changes({ agent, state }: ChangesProps) {
  const [isSaving, setSaving] = useState(false)
  const count = changedIn(state.overrides).length
  if (count === 0) return null
  return (
    <Group gap="xs" className={classes.changes ?? ''} role="group" aria-label="Changes">
      <Badge variant="light" color="gray" tt="none" role="status">
        {plural(count, 'change')}, not saved
      </Badge>
      <Button size="compact-xs" ml="auto" onClick={() => setSaving(true)}>
        Save
      </Button>
      <Button size="compact-xs" variant="default" onClick={state.clear}>
        Discard
      </Button>
      {isSaving && <SaveDialog agent={agent} state={state} onClose={() => setSaving(false)} />}
    </Group>
  )
}
