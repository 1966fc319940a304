import { UsedBy, useKeptBy } from '../agents/used-by.tsx'
import { History } from '../audit/history.tsx'
import { NewPage } from '../blocks/pages/new-page.tsx'
import { RecordPage } from '../blocks/pages/record-page.tsx'
import { PromptForm } from './prompt-form.tsx'
import { createPrompt, promptResource, updatePrompt } from './resource.ts'

export const New = () => (
  <NewPage resource={promptResource} title="New prompt">
    {(onCreated) => <PromptForm prompt={null} save={createPrompt} onSaved={onCreated} />}
  </NewPage>
)

export function Existing() {
  const keptBy = useKeptBy('prompt')
  return (
    <RecordPage
      resource={promptResource}
      actions={({ name }) => <History kind="prompt" name={name} />}
      deletion="Its text is deleted permanently."
      kept={({ id }) => keptBy(({ promptId }) => promptId === id)}
    >
      {(prompt, onSaved, edits) => (
        <>
          <PromptForm prompt={prompt} save={(fields) => updatePrompt(prompt.id, fields, edits)} onSaved={onSaved} />
          <UsedBy noun="prompt" uses={({ promptId }) => promptId === prompt.id} />
        </>
      )}
    </RecordPage>
  )
}
