import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { AwaitedFields } from '../../blocks/awaited/awaited.tsx'
import { OpenedModal } from '../../blocks/late/opened-modal.tsx'
import { WhenRead } from '../../blocks/messages/when-read.tsx'
import { fieldsOf, ProviderForm } from '../../providers/provider-form.tsx'
import { createProvider, type Provider, providerTypes } from '../../providers/resource.ts'
import { TypePicker } from '../../providers/type-picker.tsx'
import type { AgentValues } from '../agent-values.ts'

export interface NewProviderDialogProps {
  /** The form of the agent, which gets the provider. */
  form: UseFormReturnType<AgentValues>
  onClose: () => void
}

/** A provider without leaving the agent. */
const NewProviderDialog = ({ form, onClose }: NewProviderDialogProps) => (
  <OpenedModal onClose={onClose} title="New provider" size="lg">
    <TypeAndForm
      onCreated={({ id }) => {
        form.setFieldValue('providerId', id)
        onClose()
      }}
    />
  </OpenedModal>
)

export default NewProviderDialog

/** The type and the form, for as long as the dialog is open: nothing of a key that was typed stays. */
function TypeAndForm({ onCreated }: { onCreated: (provider: Provider) => void }) {
  const types = useQuery(providerTypes)
  const [typeId, setTypeId] = useState<string | null>(null)
  const type = types.data?.find(({ id }) => id === typeId)
  return (
    <>
      <WhenRead query={types} awaited={<AwaitedFields count={2} />}>
        {(known) => <TypePicker types={known} value={typeId} onChange={setTypeId} isFirst />}
      </WhenRead>
      {type && (
        <ProviderForm
          key={type.id}
          type={type}
          provider={null}
          save={(values) => createProvider(fieldsOf(type, values))}
          onSaved={onCreated}
          isGuarded={false}
        />
      )}
    </>
  )
}
