import { notifications } from '@mantine/notifications'
import { useNavigate } from 'react-router'
import { Page } from '../blocks/page.tsx'
import { saved } from '../blocks/unsaved-guard.tsx'
import { PromptForm } from './prompt-form.tsx'
import { createPrompt } from './queries.ts'

export function Component() {
  const navigate = useNavigate()
  return (
    <Page title="New prompt" back={{ to: '/prompts', label: 'Prompts' }} width="reading">
      <PromptForm
        initial={{ name: '', content: '' }}
        save={createPrompt}
        submitLabel="Create prompt"
        onSaved={({ id, name }) => {
          notifications.show({ message: `Created the prompt “${name}”.` })
          void navigate(`/prompts/${id}`, { ...saved, replace: true })
        }}
      />
    </Page>
  )
}
