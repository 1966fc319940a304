import { Modal } from '@mantine/core'
import { PromptForm } from '../../prompts/prompt-form.tsx'
import { createPrompt, type Prompt } from '../../prompts/resource.ts'

interface NewPromptDialogProps {
  opened: boolean
  onClose: () => void
  onCreated: (prompt: Prompt) => void
}

/** A prompt without leaving the agent. */
export function NewPromptDialog({ opened, onClose, onCreated }: NewPromptDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="New prompt" size="lg">
      <PromptForm prompt={null} save={createPrompt} onSaved={onCreated} isGuarded={false} />
    </Modal>
  )
}
