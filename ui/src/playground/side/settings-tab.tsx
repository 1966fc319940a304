import type { UseFormReturnType } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import type { AgentValues } from '../../agents/agent-values.ts'
import { GenerationFields } from '../../agents/form/generation-fields.tsx'
import { ModelFields } from '../../agents/form/model-field.tsx'
import { ProviderDialog } from '../../agents/form/provider-dialog.tsx'

/** The model and the settings of generation, as in the agent's form. */
export default function SettingsTab({ form }: { form: UseFormReturnType<AgentValues> }) {
  const [isConnecting, { open, close }] = useDisclosure()
  return (
    <>
      <ModelFields form={form} onNewProvider={open} />
      <GenerationFields form={form} />
      <ProviderDialog form={form} opened={isConnecting} onClose={close} />
    </>
  )
}
