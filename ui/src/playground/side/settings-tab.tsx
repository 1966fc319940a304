import type { UseFormReturnType } from '@mantine/form'
import type { AgentValues } from '../../agents/agent-values.ts'
import { GenerationFields } from '../../agents/form/generation-fields.tsx'
import { ModelFields } from '../../agents/form/model-field.tsx'

/** The model and the settings of generation, as in the agent's form. */
export default function SettingsTab({ form }: { form: UseFormReturnType<AgentValues> }) {
  return (
    <>
      <ModelFields form={form} />
      <GenerationFields form={form} />
    </>
  )
}
