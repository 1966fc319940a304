/** The settings in which columns mostly differ; the drawer has the rest. */
import { NumberInput } from '@mantine/core'
import type { Agent } from '../../agents/resource.ts'
import { OverrideChips } from '../overrides/override-chips.tsx'
import { ModelInput, PromptSelect } from '../overrides/override-inputs.tsx'
import type { OverrideState } from '../overrides/overrides.ts'
import classes from './columns.module.css'

const here = ['model', 'temperature', 'prompt'] as const

export function ColumnSettings({ agent, state }: { agent: Agent; state: OverrideState }) {
  const { overrides, set } = state
  return (
    <>
      <div className={classes.fields}>
        <ModelInput agent={agent} state={state} size="xs" />
        <NumberInput
          size="xs"
          label="Temperature"
          placeholder={String(agent.generationConfig.temperature ?? 'Provider default')}
          step={0.1}
          min={0}
          max={2}
          value={overrides.temperature ?? ''}
          onChange={(value) => set({ temperature: value === '' ? null : String(value) })}
        />
        <PromptSelect agent={agent} state={state} size="xs" />
      </div>
      <OverrideChips state={state} without={here} />
    </>
  )
}
